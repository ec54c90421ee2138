package clients_test

import (
	"strings"
	"testing"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
)

// grpcurl knows nothing but the address: it asks the server for its schema.
type grpcurl string // its path

// buildGRPCurl compiles it where that has not been done.
func buildGRPCurl(t *testing.T) grpcurl {
	t.Helper()
	return grpcurl(strings.TrimSpace(run(t, "", "go", "tool", "-modfile=../tools/grpcurl/go.mod", "-n", "grpcurl")))
}

func (g grpcurl) run(t *testing.T, in string, args ...string) string {
	t.Helper()
	return run(t, in, string(g), append([]string{"-plaintext"}, args...)...)
}

func withGRPCurl(g grpcurl, addr string) caller {
	const service = "tare.orders.v1.OrderService/"
	return caller{
		name: "grpcurl",
		order: func(t *testing.T, o *ordersv1.CreateOrderRequest) string {
			return read(t, g.run(t, written(t, o), "-d", "@", addr, service+"CreateOrder"), new(ordersv1.CreateOrderResponse)).OrderId
		},
		read: func(t *testing.T, user, id string) *ordersv1.Order {
			one := g.run(t, written(t, &ordersv1.GetOrderRequest{OrderId: id}), "-d", "@", addr, service+"GetOrder")
			return read(t, one, new(ordersv1.GetOrderResponse)).Order
		},
	}
}

func reflect(t *testing.T, g grpcurl, addr string) {
	listed := strings.Fields(g.run(t, "", addr, "list"))
	for _, want := range []string{"tare.orders.v1.OrderService", "tare.payments.v1.PaymentService", "grpc.health.v1.Health"} {
		if !strings.Contains(strings.Join(listed, " "), want) {
			t.Errorf("%s is not listed among %v", want, listed)
		}
	}
	described := g.run(t, "", addr, "describe", "tare.orders.v1.CreateOrderRequest")
	if !strings.Contains(described, "string order_id = 1") {
		t.Errorf("an order is described as\n%s", described)
	}
}
