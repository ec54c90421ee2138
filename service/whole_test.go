package service_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service"
)

// beforePayments runs both services apart, with something to do before each call
// of the payment service, and gives a client of the order service.
func beforePayments(t *testing.T, alter func(*service.Config), do func(context.Context) error) ordersv1.OrderServiceClient {
	t.Helper()
	payment := run(t, func(c *service.Config) {
		c.Service = "payment"
		c.Wrap = func(h rpc.Handler) rpc.Handler {
			return rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
				if err := do(ctx); err != nil {
					return err
				}
				return h.Handle(ctx, m, s)
			})
		}
	})
	addr := run(t, func(c *service.Config) {
		c.Service, c.Next = "order", &service.Next{Addr: payment, Stack: "grpc+proto", InFlight: 4}
		alter(c)
	})
	return ordersv1.NewOrderServiceClient(channel(t, addr, insecure.NewCredentials()))
}

func orderOf(id string) *ordersv1.CreateOrderRequest {
	r := proto.CloneOf(order)
	r.OrderId = id
	return r
}

// TestCallsBeyondWhatIsAdmittedAreRefused while one is at work and one waits.
func TestCallsBeyondWhatIsAdmittedAreRefused(t *testing.T) {
	begun, release := make(chan struct{}, 3), make(chan struct{})
	orders := beforePayments(t, func(c *service.Config) { c.Admit = 1 }, func(context.Context) error {
		begun <- struct{}{}
		<-release
		return nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ended := make(chan error, 3)
	post := func(n int) {
		_, err := orders.CreateOrder(ctx, orderOf(fmt.Sprint(n)))
		ended <- err
	}
	go post(1)
	<-begun
	go post(2)
	go post(3)
	if err := <-ended; status.Code(err) != codes.ResourceExhausted {
		t.Errorf("the first to end gives %v, want RESOURCE_EXHAUSTED", err)
	}
	close(release)
	if err := errors.Join(<-ended, <-ended); err != nil {
		t.Errorf("those that were admitted give %v", err)
	}
}

// TestAHopTriesAgainAndSendsFieldsOn: a payment that fails in passing is no
// failure of the order, and both services know whose call it is.
func TestAHopTriesAgainAndSendsFieldsOn(t *testing.T) {
	const id = "x-request-id"
	var asked atomic.Int32
	orders := beforePayments(t, func(*service.Config) {}, func(ctx context.Context) error {
		if got := rpc.FieldIn(ctx, id); got != "ours" {
			t.Errorf("the payment service is called with %s %q", id, got)
		}
		if asked.Add(1) == 1 {
			return rpc.Errorf(rpc.Unavailable, "not yet")
		}
		return nil
	})
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(t.Context(), id, "ours"), patience)
	defer cancel()
	if _, err := orders.CreateOrder(ctx, orderOf("1")); err != nil || asked.Load() != 2 {
		t.Errorf("%v after %d calls of the payment service, want an order after 2", err, asked.Load())
	}
}

// TestAPortShowsAndDescribesItsServices beside their calls.
func TestAPortShowsAndDescribesItsServices(t *testing.T) {
	addr := run(t)
	create(t, addr)
	for path, want := range map[string]string{
		"/metrics":      `rpc_server_handled_total{code="OK",method="CreateOrder",service="tare.orders.v1.OrderService"} 1`,
		"/openapi.yaml": "/v1/orders/{order_id}:",
		"/openapi.json": `"/v1/payments"`,
		"/docs":         "openapi.json",
	} {
		res, err := http.Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err := errors.Join(err, res.Body.Close()); err != nil || res.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s gives %s, %v, and not %q", path, res.Status, err, want)
		}
	}
}
