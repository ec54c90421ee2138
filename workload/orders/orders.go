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

// The legs: on two the payments vary, by way of the order service or without it;
// on the third the orders.
const (
	orderTier   = "order"
	paymentTier = "payment"
	intakeLeg   = "intake"
)

// fixed is the stack of the leg's other tiers.
const fixed = "rest+json"

// Workload is the workload.
type Workload struct{}

// Spec describes the workload.
func (Workload) Spec() workload.Spec {
	order := workload.Tier{Name: orderTier, Service: OrderService, Calls: []*rpc.Method{CreateOrder}}
	payment := workload.Tier{Name: paymentTier, Service: PaymentService, Calls: []*rpc.Method{MakePayment}}
	return workload.Spec{
		Name:  "orders",
		About: "a client posts an order to one service, which has another charge the user's account",
		Legs: []workload.Leg{
			{
				Name:  orderTier,
				About: "the driver posts orders over REST with JSON; the call from order to payment service varies",
				Tiers: []workload.Tier{order.Over(fixed), payment.Over(workload.Varied)},
			},
			{
				Name:  paymentTier,
				About: "the driver calls the payment service itself; that call varies",
				Tiers: []workload.Tier{payment.Over(workload.Varied)},
			},
			{
				Name:  intakeLeg,
				About: "the driver posts orders, and that call varies, as large as their lines make it; the order service has payments made over REST with JSON",
				Tiers: []workload.Tier{order.Over(workload.Varied), payment.Over(fixed)},
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
func (Workload) Handler(ctx context.Context, env workload.Env) (rpc.Handler, error) {
	switch env.Tier {
	case orderTier:
		return newOrderService(ctx, env)
	case paymentTier:
		return newPaymentService(env)
	}
	return nil, fmt.Errorf("no tier %q", env.Tier)
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
