package orders

import (
	"math"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

func probePayment(id string, change func(*MakePaymentRequest)) MakePaymentRequest {
	r := MakePaymentRequest{PaymentID: id, UserName: "Probe Ångström", Amount: Money{CurrencyCode: "EUR", MinorUnits: 2587}}
	change(&r)
	return r
}

func paymentProbes() []workload.Call {
	same := func(*MakePaymentRequest) {}
	minor := func(n int64) func(*MakePaymentRequest) {
		return func(r *MakePaymentRequest) { r.Amount.MinorUnits = n }
	}
	currency := func(code string) func(*MakePaymentRequest) {
		return func(r *MakePaymentRequest) { r.Amount.CurrencyCode = code }
	}
	user := func(name string) func(*MakePaymentRequest) {
		return func(r *MakePaymentRequest) { r.UserName = name }
	}
	probes := []struct {
		want    rpc.Code
		left    int64
		request MakePaymentRequest
	}{
		{rpc.OK, openingBalance - 2587, probePayment("probe-1", same)},
		{rpc.OK, openingBalance - 2587, probePayment("probe-1", same)}, // again: charged once
		{rpc.AlreadyExists, 0, probePayment("probe-1", minor(2588))},
		{rpc.AlreadyExists, 0, probePayment("probe-1", currency("USD"))},
		{rpc.AlreadyExists, 0, probePayment("probe-1", user("Probe Angstrom"))},
		{rpc.OK, openingBalance - 2*2587, probePayment("probe-2", same)},
		{rpc.InvalidArgument, 0, probePayment("", same)},
		{rpc.InvalidArgument, 0, probePayment("probe/3", same)},
		{rpc.InvalidArgument, 0, probePayment("probe-3", user(""))},
		{rpc.InvalidArgument, 0, probePayment("probe-3", currency("€"))},
		{rpc.InvalidArgument, 0, probePayment("probe-3", func(r *MakePaymentRequest) { r.Amount = Money{} })},
		{rpc.InvalidArgument, 0, probePayment("probe-3", minor(0))},
		{rpc.InvalidArgument, 0, probePayment("probe-3", minor(math.MinInt64))},
		{rpc.FailedPrecondition, 0, probePayment("probe-3", minor(beyondDouble))},
		{rpc.FailedPrecondition, 0, probePayment("probe-3", minor(math.MaxInt64))},
		{rpc.OK, openingBalance - 3*2587, probePayment("probe-3", same)}, // nothing refused was charged
		{rpc.OK, openingBalance - 2587, probePayment("probe-4", currency("JPY"))},
		{rpc.OK, openingBalance - 2587, probePayment("probe-5._:-", user(awkward))},
		{rpc.OK, openingBalance - 1, probePayment("probe-6", func(r *MakePaymentRequest) { *r = MakePaymentRequest{r.PaymentID, "Probe Penny", Money{"EUR", 1}} })},
		{rpc.OK, 0, probePayment("probe-7", func(r *MakePaymentRequest) { r.UserName, r.Amount = "Probe Last Dinar", Money{"KWD", openingBalance} })},
		{rpc.FailedPrecondition, 0, probePayment("probe-8", func(r *MakePaymentRequest) { r.UserName, r.Amount = "Probe Last Dinar", Money{"KWD", 1} })},
	}
	calls := make([]workload.Call, len(probes))
	for i, p := range probes {
		c := &paymentCall{request: p.request}
		calls[i] = probe(c.call(), p.want, p.left, func(out any) int64 { return out.(*MakePaymentResponse).Balance.MinorUnits })
	}
	return append(calls, refundProbes()...)
}

// refundProbes give back in two parts what the first probe charged, and look.
func refundProbes() []workload.Call {
	euros := func(minor int64) *Money { return &Money{CurrencyCode: "EUR", MinorUnits: minor} }
	refund := func(id string, amount *Money, given int64, status PaymentStatus, left int64, message string) workload.Call {
		want := &RefundPaymentResponse{
			PaymentID: "probe-1", RefundID: id, Status: status, Refunded: *euros(given), Balance: *euros(left), Message: message,
		}
		in := &RefundPaymentRequest{PaymentID: "probe-1", RefundID: id, Amount: amount}
		return workload.Reading(RefundPayment, in, want, func(out any) any { return out })
	}
	refuse := func(code rpc.Code, payment, id string, amount *Money) workload.Call {
		return workload.Failing(RefundPayment, code, &RefundPaymentRequest{PaymentID: payment, RefundID: id, Amount: amount})
	}
	get := func(refunded int64, status PaymentStatus) workload.Call {
		want := &Payment{PaymentID: "probe-1", UserName: "Probe Ångström", Charged: *euros(2587), Refunded: *euros(refunded), Status: status}
		return workload.Reading(GetPayment, &GetPaymentRequest{PaymentID: "probe-1"}, &GetPaymentResponse{Payment: want}, timelessPayment)
	}
	const left = openingBalance - 3*2587 // before any refund
	const part, remainder = "Probe Ångström got 5.87 EUR back and has 9999999999928.26 EUR left.", "Probe Ångström got 20.00 EUR back and has 9999999999948.26 EUR left."
	return []workload.Call{
		get(0, PaymentCharged),
		refuse(rpc.InvalidArgument, "probe-1", "part", &Money{CurrencyCode: "USD", MinorUnits: 587}),
		refuse(rpc.InvalidArgument, "probe-1", "part", euros(0)),
		refund("part", euros(587), 587, PaymentPartlyRefunded, left+587, part),
		refund("part", euros(587), 587, PaymentPartlyRefunded, left+587, part), // again: given once
		refuse(rpc.AlreadyExists, "probe-1", "part", euros(588)),
		refuse(rpc.AlreadyExists, "probe-1", "part", nil),
		refuse(rpc.FailedPrecondition, "probe-1", "more", euros(2001)),
		get(587, PaymentPartlyRefunded),
		refund("remainder", nil, 2000, PaymentRefunded, left+2587, remainder),
		refuse(rpc.FailedPrecondition, "probe-1", "more", nil),
		get(2587, PaymentRefunded),
		refuse(rpc.NotFound, "probe-0", "remainder", nil),
		workload.Failing(GetPayment, rpc.NotFound, &GetPaymentRequest{PaymentID: "probe-0"}),
	}
}

func timelessPayment(out any) any {
	r := *out.(*GetPaymentResponse)
	if r.Payment != nil {
		p := *r.Payment
		p.CreateTime = time.Time{}
		r.Payment = &p
	}
	return &r
}
