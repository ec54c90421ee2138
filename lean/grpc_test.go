package lean_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"
	"github.com/tare-bench/tare/lean"
	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// payments is a real server of gRPC: it charges, refuses "nobody", and has the
// call of "sleeper" wait for its end.
type payments struct {
	paymentsv1.UnimplementedPaymentServiceServer
}

func (payments) MakePayment(ctx context.Context, r *paymentsv1.MakePaymentRequest) (*paymentsv1.MakePaymentResponse, error) {
	switch r.UserName {
	case "nobody":
		return nil, status.Errorf(codes.NotFound, "no account of %q", r.UserName)
	case "sleeper":
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &paymentsv1.MakePaymentResponse{PaymentId: r.PaymentId, Charged: r.Amount, Message: strings.Repeat("é", 100)}, nil
}

func servePayments(tb testing.TB, options ...grpc.ServerOption) (addr string, s *grpc.Server) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s = grpc.NewServer(options...)
	paymentsv1.RegisterPaymentServiceServer(s, payments{})
	var running sync.WaitGroup
	running.Go(func() { _ = s.Serve(l) })
	tb.Cleanup(func() {
		s.Stop()
		running.Wait()
	})
	return l.Addr().String(), s
}

func payment(tb testing.TB, user string) protocol.Frame {
	id := "order-" + user
	body, err := proto.Marshal(&paymentsv1.MakePaymentRequest{
		PaymentId: id, UserName: user, Amount: &paymentsv1.Money{CurrencyCode: "EUR", MinorUnits: 9900},
	})
	if err != nil {
		tb.Fatal(err)
	}
	message := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body)))
	return protocol.Frame{
		Verb: http.MethodPost, Path: paymentsv1.PaymentService_MakePayment_FullMethodName,
		Header: []protocol.Field{
			{Name: "content-type", Value: "application/grpc"},
			{Name: "user-agent", Value: "grpc-go/" + grpc.Version},
			{Name: "te", Value: "trailers"},
		},
		Body: append(message, body...),
		Check: func(a protocol.Answer) error {
			code, err := strconv.Atoi(a.Field("grpc-status"))
			if err != nil || code != 0 {
				return rpc.Errorf(rpc.Code(code), "%s", a.Field("grpc-message"))
			}
			var out paymentsv1.MakePaymentResponse
			if err := proto.Unmarshal(a.Body[5:], &out); err != nil || out.PaymentId != id {
				return rpc.ErrWrongAnswer
			}
			return nil
		},
	}
}

func overGRPC(conns int) protocol.Carriage {
	return protocol.Carriage{HTTP2: true, Conns: conns, KeepAlive: true}
}

func TestGRPC(t *testing.T) {
	addr, _ := servePayments(t)
	client, got := dial(t, addr, overGRPC(3)), new(tape)
	next := calls(t, client, payment(t, "ada"), payment(t, "nobody"), payment(t, "grace"))
	if _, err := client.Drive(t.Context(), inFlight, exactly(3000), next, got); err != nil {
		t.Fatal(err)
	}
	for _, o := range got.all {
		if want := o.N%3 == 1; (rpc.Class(o.Err) == "not_found") != want || (o.Err == nil) == want {
			t.Fatalf("call %d ended with %v", o.N, o.Err)
		}
	}
}

func TestGRPCStreamsBeyondWhatTheServerAllowsWait(t *testing.T) {
	addr, _ := servePayments(t, grpc.MaxConcurrentStreams(10))
	client, got := dial(t, addr, overGRPC(1), func(c *lean.Config) { c.InFlight = 100 }), new(tape)
	totals, err := client.Drive(t.Context(), 100, exactly(3000), calls(t, client, payment(t, "ada")), got)
	if err != nil || totals.Queued < 90 {
		t.Fatalf("%+v, %v; want at least 90 to have waited", totals, err)
	}
	got.only(t, "ok", 3000)
}

func TestGRPCDeadlineEndsTheStreamAlone(t *testing.T) {
	addr, _ := servePayments(t)
	client, got := dial(t, addr, overGRPC(1), deadline(2*time.Second)), new(tape) // for the others, on a busy machine
	next := calls(t, client, payment(t, "sleeper"), payment(t, "ada"), payment(t, "grace"))
	if _, err := client.Drive(t.Context(), inFlight, exactly(30), next, got); err != nil {
		t.Fatal(err)
	}
	if got := got.classes(); got["deadline_exceeded"] != 10 || got["ok"] != 20 {
		t.Errorf("calls ended so: %v; want ten that came too late and the others right", got)
	}
	if wire := client.Wire(); wire.Conns != 1 {
		t.Errorf("%d connections were opened, want 1", wire.Conns)
	}
}

// A server that is told to age its connections says GOAWAY, and answers what
// it had taken.
func TestGRPCServerThatGoesAway(t *testing.T) {
	addr, _ := servePayments(t, grpc.KeepaliveParams(keepalive.ServerParameters{
		MaxConnectionAge: 50 * time.Millisecond, MaxConnectionAgeGrace: time.Minute,
	}))
	client, got := dial(t, addr, overGRPC(2)), new(tape)
	next := calls(t, client, payment(t, "ada"))
	totals, err := client.Drive(t.Context(), inFlight, load.ClosedPace(load.Extent{For: 500 * time.Millisecond}), next, got)
	if err != nil {
		t.Fatal(err)
	}
	got.only(t, "ok", totals.Started)
	if wire := client.Wire(); wire.Conns <= 2 {
		t.Errorf("%d connections were opened, want more than 2", wire.Conns)
	}
}
