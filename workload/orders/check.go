package orders

import (
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// orderCall is an order and what is right for it, in one allocation.
type orderCall struct {
	request      CreateOrderRequest
	in           [1]any
	total, items int64
}

func (c *orderCall) call() workload.Call {
	c.in[0] = &c.request
	return workload.Call{Method: CreateOrder, In: c.in[:], Want: rpc.OK, Replies: 1, Check: c.check}
}

func (c *orderCall) check(i int, out any) error {
	r, ok := out.(*CreateOrderResponse)
	switch {
	case !ok || r == nil:
		return workload.Wrong("reply %d is %T", i, out)
	case r.OrderID != c.request.OrderID:
		return workload.Wrong("order_id is %q, not %q", r.OrderID, c.request.OrderID)
	case r.Status != OrderPaid:
		return workload.Wrong("status is %d, not %d", r.Status, OrderPaid)
	}
	if err := checkMoney("total", r.Total, "balance", r.Balance, Money{c.request.CurrencyCode, c.total}); err != nil {
		return err
	}
	var room [256]byte
	want := appendOrderMessage(room[:0], c.request.UserName, c.items, c.request.CurrencyCode, c.total, r.Balance.MinorUnits)
	return checkMessage(r.Message, want)
}

func (c *orderCall) payment() *paymentCall {
	return &paymentCall{request: MakePaymentRequest{
		PaymentID: c.request.OrderID, UserName: c.request.UserName,
		Amount: Money{CurrencyCode: c.request.CurrencyCode, MinorUnits: c.total},
	}}
}

// paymentCall is a payment, likewise.
type paymentCall struct {
	request MakePaymentRequest
	in      [1]any
}

func (c *paymentCall) call() workload.Call {
	c.in[0] = &c.request
	return workload.Call{Method: MakePayment, In: c.in[:], Want: rpc.OK, Replies: 1, Check: c.check}
}

func (c *paymentCall) check(i int, out any) error {
	r, ok := out.(*MakePaymentResponse)
	switch {
	case !ok || r == nil:
		return workload.Wrong("reply %d is %T", i, out)
	case r.PaymentID != c.request.PaymentID:
		return workload.Wrong("payment_id is %q, not %q", r.PaymentID, c.request.PaymentID)
	case r.Status != PaymentCharged:
		return workload.Wrong("status is %d, not %d", r.Status, PaymentCharged)
	}
	if err := checkMoney("charged", r.Charged, "balance", r.Balance, c.request.Amount); err != nil {
		return err
	}
	var room [256]byte
	want := appendPaymentMessage(room[:0], c.request.UserName, c.request.Amount.CurrencyCode, c.request.Amount.MinorUnits, r.Balance.MinorUnits)
	return checkMessage(r.Message, want)
}

// checkMoney looks at what was charged and at what may be left of an account
// after that.
func checkMoney(chargedField string, charged Money, balanceField string, balance, want Money) error {
	switch {
	case charged != want:
		return workload.Wrong("%s is %+v, not %+v", chargedField, charged, want)
	case balance.CurrencyCode != want.CurrencyCode:
		return workload.Wrong("%s is in %q, not %q", balanceField, balance.CurrencyCode, want.CurrencyCode)
	case balance.MinorUnits < 0 || balance.MinorUnits > openingBalance-want.MinorUnits:
		return workload.Wrong("%s is %+v, which no account can have after a charge of %+v", balanceField, balance, want)
	}
	return nil
}

func checkMessage(got string, want []byte) error {
	if got != string(want) {
		return workload.Wrong("message is %q, not %q", got, string(want)) // a copy, so that want stays on the stack
	}
	return nil
}
