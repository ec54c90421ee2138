// Package orders is the first system of ORIGINS.md: a client posts an order to
// the order service, which has the payment service charge the user's account.
//
// Money is a whole number of minor units, both services answer a repeated
// request as they did the first, errors keep their code from tier to tier, and
// the sentence that a person reads is built here, the same for every stack.
package orders

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
)

// The services and their methods.
var (
	CreateOrder = &rpc.Method{
		Service: "tare.orders.v1.OrderService", Name: "CreateOrder", Route: "POST /v1/orders",
		In:  rpc.NewType(orderRequestToProto, orderRequestFromProto),
		Out: rpc.NewType(orderResponseToProto, orderResponseFromProto),
	}
	MakePayment = &rpc.Method{
		Service: "tare.payments.v1.PaymentService", Name: "MakePayment", Route: "POST /v1/payments",
		In:  rpc.NewType(paymentRequestToProto, paymentRequestFromProto),
		Out: rpc.NewType(paymentResponseToProto, paymentResponseFromProto),
	}
	OrderService   = &rpc.Service{Name: CreateOrder.Service, Methods: []*rpc.Method{CreateOrder}}
	PaymentService = &rpc.Service{Name: MakePayment.Service, Methods: []*rpc.Method{MakePayment}}
)

// The legs: on two the payments vary, by way of the order service or without it;
// on the third the orders.
const (
	orderTier   = "order"
	paymentTier = "payment"
	intakeLeg   = "intake"
)

// Workload is the workload.
type Workload struct{}

// Spec describes the workload.
func (Workload) Spec() workload.Spec {
	payment := workload.Tier{Name: paymentTier, Service: PaymentService, Stack: workload.Varied}
	return workload.Spec{
		Name:  "orders",
		About: "a client posts an order to one service, which has another charge the user's account",
		Legs: []workload.Leg{
			{
				Name:  orderTier,
				About: "the driver posts orders over REST with JSON; the call from order to payment service varies",
				Tiers: []workload.Tier{{Name: orderTier, Service: OrderService, Stack: "rest+json"}, payment},
			},
			{
				Name:  paymentTier,
				About: "the driver calls the payment service itself; that call varies",
				Tiers: []workload.Tier{payment},
			},
			{
				Name:  intakeLeg,
				About: "the driver posts orders, and that call varies, as large as their lines make it; the order service has payments made over REST with JSON",
				Tiers: []workload.Tier{
					{Name: orderTier, Service: OrderService, Stack: workload.Varied},
					{Name: paymentTier, Service: PaymentService, Stack: "rest+json"},
				},
			},
		},
		Params: []setting.Setting{
			linesParam(),
			setting.Int(usersParam, "how many users order", 10_000, 1, 10_000_000),
		},
		// The two that the original compared, and the two that tell the
		// protocol's part of the difference from the codec's.
		Stacks: []string{"rest+json", "grpc+proto", "rest+proto", "grpc+json"},
		Slice:  100 * time.Millisecond,
	}
}

// Handler answers the calls of one tier.
func (Workload) Handler(_ context.Context, env workload.Env) (rpc.Handler, error) {
	build, ok := map[string]func(workload.Env) (rpc.Handler, error){
		orderTier:   newOrderService,
		paymentTier: newPaymentService,
	}[env.Tier]
	if !ok {
		return nil, fmt.Errorf("no tier %q", env.Tier)
	}
	return build(env)
}

// Calls gives orders, or on the payment leg the payments that such orders need.
func (Workload) Calls(leg string, params setting.Values, seed uint64) iter.Seq[workload.Call] {
	if leg == paymentTier {
		return newGenerator(params, seed).payments
	}
	return newGenerator(params, seed).orders
}

// Probes gives calls whose answers, balances included, are known beforehand,
// if they are made in turn on empty stores.
func (Workload) Probes(leg string, _ setting.Values) []workload.Call {
	if leg == paymentTier {
		return paymentProbes()
	}
	return orderProbes()
}

// unary makes a handler of a function that answers one method.
func unary[In, Out any](of *rpc.Method, answer func(context.Context, *In) (*Out, error)) rpc.Handler {
	return rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
		if m != of {
			return rpc.Errorf(rpc.Unimplemented, "no method %s", m.Path())
		}
		in, err := s.Recv()
		if err != nil {
			return err
		}
		out, err := answer(ctx, in.(*In))
		if err != nil {
			return err
		}
		return s.Send(out)
	})
}
