package orders

import (
	"context"
	"errors"
	"log/slog"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// till has pending orders paid, and settles them by what comes of it. An order's
// ID is its payment's too: however often it is tried, it is charged once.
type till struct {
	orders   store.Orders
	payments rpc.Handler
	settled  func() // called after an order was
	owed     *owed
	log      *slog.Logger
}

// settle carries a pending order on to its end, and gives it as it is kept then.
// Where it is not known what became of the payment, the order stays pending, and
// the error is the payment's.
func (t till) settle(ctx context.Context, o store.Order) (store.Order, error) {
	balance, err := t.pay(ctx, o)
	end := store.Settlement{Status: store.OrderPaid, Balance: balance, At: now()}
	if failed := rpc.ErrorOf(err); failed != nil {
		if !t.refuses(o, failed) {
			return o, paymentError(failed)
		}
		end = store.Settlement{Status: store.OrderRefused, At: end.At}
		t.owed.maybe(o)
	}
	kept, err := t.orders.SettleOrder(ctx, o.ID, end)
	switch {
	case err == nil:
		t.settled()
		return kept, nil
	case errors.Is(err, store.ErrExists):
		return t.outrun(ctx, o, end)
	}
	return o, workload.StoreError("settle order", err)
}

// paymentError is what a caller is told of a payment that failed. Where the
// payment service is, is for none outside.
func paymentError(failed *rpc.Error) error {
	e := &rpc.Error{Code: failed.Code, Message: "payment: " + failed.Message, RetryAfter: failed.RetryAfter}
	switch {
	case failed.Outside != "":
		e.Outside = "payment: " + failed.Outside
	case failed.Transport != rpc.NoFault:
		e.Outside = "payment: the service did not answer as it should; try again"
	}
	return e
}

// outrun is for an order that another attempt has ended otherwise. What this one
// charged for an order that is refused goes back: between the two, the account
// came to hold enough.
func (t till) outrun(ctx context.Context, o store.Order, end store.Settlement) (store.Order, error) {
	kept, err := t.orders.OrderByID(ctx, o.ID)
	if err != nil {
		t.owed.maybe(o)
		return o, workload.StoreError("look for order", err)
	}
	if kept.Status == store.OrderRefused && end.Status == store.OrderPaid {
		t.owed.now(o)
	}
	return kept, nil
}

// pay has the payment service charge for o, and gives the balance left.
func (t till) pay(ctx context.Context, o store.Order) (int64, error) {
	reply, err := rpc.Invoke(ctx, t.payments, MakePayment,
		&MakePaymentRequest{PaymentID: o.ID, UserName: o.User, Amount: answered(o.Total)})
	if err != nil {
		return 0, err
	}
	paid := reply.(*MakePaymentResponse)
	if paid.PaymentID != o.ID || paid.Status != PaymentCharged || stored(paid.Charged) != o.Total || paid.Balance.CurrencyCode != o.Total.Currency {
		t.log.Error("the payment service answered for another payment", "order_id", o.ID, "payment_id", paid.PaymentID)
		return 0, rpc.Errorf(rpc.Internal, "payment service charged %+v for order %q of %+v", paid.Charged, o.ID, o.Total)
	}
	return paid.Balance.MinorUnits, nil
}

// refuses says whether a payment that failed was refused for good, so that
// nothing was charged and nothing will be.
func (t till) refuses(o store.Order, failed *rpc.Error) bool {
	switch failed.Code {
	case rpc.FailedPrecondition: // the account holds too little
		return true
	case rpc.InvalidArgument, rpc.AlreadyExists: // which no order should come to
		t.log.Error("the payment service does not take the payment of an order; the order is refused",
			"order_id", o.ID, "code", failed.Code.String(), "message", failed.Message)
		return true
	}
	return false
}
