package orders

import (
	"fmt"
	"math"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// beyondDouble is the least whole number that a float64 cannot hold: a stack
// that carries money as a double, or as a JSON number, alters it.
const beyondDouble = 1<<53 + 1

// awkward is text that codecs get wrong: what JSON and HTML escape, letters of
// one to four bytes, combining, joining and right-to-left ones, line ends.
const awkward = "Zo\u00eb e\u0301 \"<b>&'</b>\" \\ / \t\n\u2028 \U0001F469\u200D\U0001F680 עברית \u202e𠮷 ﷽ %s {}"

func probeOrder(id string, change func(*CreateOrderRequest)) CreateOrderRequest {
	r := CreateOrderRequest{
		OrderID: id, UserName: "Probe Ångström", CurrencyCode: "EUR",
		Lines: []OrderLine{
			{SKU: "TEA-SEN-100", Title: "煎茶 Sencha, 100 g", Quantity: 2, UnitPriceMinor: 1290},
			{SKU: "MUG-RIM-25", Title: "Becher »Früh am Morgen«, 0,25 l", Quantity: 1, UnitPriceMinor: 7},
		},
	}
	change(&r)
	return r
}

func same(*CreateOrderRequest) {}

// orderProbes gives the calls in order; left is what is right for the user's
// balance after a call that succeeds.
func orderProbes() []workload.Call {
	probes := []struct {
		want    rpc.Code
		left    int64
		request CreateOrderRequest
	}{
		{rpc.OK, openingBalance - 2587, probeOrder("probe-1", same)},
		{rpc.OK, openingBalance - 2587, probeOrder("probe-1", same)}, // again: charged once
		{rpc.AlreadyExists, 0, probeOrder("probe-1", func(r *CreateOrderRequest) { r.Lines[0].Quantity++ })},
		{rpc.AlreadyExists, 0, probeOrder("probe-1", func(r *CreateOrderRequest) { r.Lines[0].Title += "." })}, // of equal cost
		{rpc.AlreadyExists, 0, probeOrder("probe-1", func(r *CreateOrderRequest) { r.UserName = "Probe Angstrom" })},
		{rpc.OK, openingBalance - 2*2587, probeOrder("probe-2", same)},
		{rpc.InvalidArgument, 0, probeOrder("", same)},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.UserName = "" })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.CurrencyCode = "eur" })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines = nil })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[1].SKU = "" })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[1].Quantity = 0 })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[0].Quantity = math.MinInt32 })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[1].UnitPriceMinor = math.MinInt64 })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[0].UnitPriceMinor, r.Lines[1].UnitPriceMinor = 0, 0 })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[0].UnitPriceMinor = math.MaxInt64 })}, // a product overflows
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[1].UnitPriceMinor = math.MaxInt64 })}, // a sum does
		{rpc.FailedPrecondition, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[1].UnitPriceMinor = beyondDouble })},
		{rpc.OK, openingBalance - 3*2587, probeOrder("probe-3", same)}, // nothing refused was charged
		{rpc.OK, openingBalance - 2587, probeOrder("probe-4", func(r *CreateOrderRequest) { r.CurrencyCode = "JPY" })},
		{rpc.OK, openingBalance - 2580, probeOrder("probe-5 "+awkward, func(r *CreateOrderRequest) {
			r.UserName = awkward
			r.Lines[1] = OrderLine{SKU: awkward, Title: awkward, Quantity: math.MaxInt32}
		})},
		{rpc.OK, openingBalance - maxLines*(maxLines+1)/2, largestOrder()},
		{rpc.OK, 0, probeOrder("probe-7", func(r *CreateOrderRequest) {
			r.UserName, r.CurrencyCode = "Probe Last Dinar", "KWD"
			r.Lines = []OrderLine{{SKU: "ALL", Quantity: 1, UnitPriceMinor: openingBalance}}
		})},
	}
	calls := make([]workload.Call, len(probes))
	for i, p := range probes {
		c := &orderCall{request: p.request}
		if p.want == rpc.OK {
			c.total, _ = p.request.validate()
			c.items = items(p.request.order(c.total))
		}
		calls[i] = probe(c.call(), p.want, p.left, func(out any) int64 { return out.(*CreateOrderResponse).Balance.MinorUnits })
	}
	return calls
}

func largestOrder() CreateOrderRequest {
	return probeOrder("probe-6", func(r *CreateOrderRequest) {
		r.UserName = "Probe Great Eater"
		r.Lines = make([]OrderLine, maxLines)
		for i := range r.Lines {
			r.Lines[i] = OrderLine{SKU: fmt.Sprint("SKU-", i), Title: catalogue[i%len(catalogue)].title, Quantity: 1, UnitPriceMinor: int64(i + 1)}
		}
	})
}

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
		{rpc.InvalidArgument, 0, probePayment("probe-3", user(""))},
		{rpc.InvalidArgument, 0, probePayment("probe-3", currency("€"))},
		{rpc.InvalidArgument, 0, probePayment("probe-3", func(r *MakePaymentRequest) { r.Amount = Money{} })},
		{rpc.InvalidArgument, 0, probePayment("probe-3", minor(0))},
		{rpc.InvalidArgument, 0, probePayment("probe-3", minor(math.MinInt64))},
		{rpc.FailedPrecondition, 0, probePayment("probe-3", minor(beyondDouble))},
		{rpc.FailedPrecondition, 0, probePayment("probe-3", minor(math.MaxInt64))},
		{rpc.OK, openingBalance - 3*2587, probePayment("probe-3", same)}, // nothing refused was charged
		{rpc.OK, openingBalance - 2587, probePayment("probe-4", currency("JPY"))},
		{rpc.OK, openingBalance - 2587, probePayment("probe-5 "+awkward, user(awkward))},
		{rpc.OK, openingBalance - 1, probePayment("probe-6", func(r *MakePaymentRequest) { *r = MakePaymentRequest{r.PaymentID, "Probe Penny", Money{"EUR", 1}} })},
		{rpc.OK, 0, probePayment("probe-7", func(r *MakePaymentRequest) { r.UserName, r.Amount = "Probe Last Dinar", Money{"KWD", openingBalance} })},
		{rpc.FailedPrecondition, 0, probePayment("probe-8", func(r *MakePaymentRequest) { r.UserName, r.Amount = "Probe Last Dinar", Money{"KWD", 1} })},
	}
	calls := make([]workload.Call, len(probes))
	for i, p := range probes {
		c := &paymentCall{request: p.request}
		calls[i] = probe(c.call(), p.want, p.left, func(out any) int64 { return out.(*MakePaymentResponse).Balance.MinorUnits })
	}
	return calls
}

// probe is a call of which more is known: its failure, or the balance left.
func probe(c workload.Call, want rpc.Code, left int64, balance func(out any) int64) workload.Call {
	c.Want = want
	if want != rpc.OK {
		c.Replies = 0
		return c
	}
	check := c.Check
	c.Check = func(i int, out any) error {
		if err := check(i, out); err != nil {
			return err
		}
		if got := balance(out); got != left {
			return wrong("balance is %d, not %d", got, left)
		}
		return nil
	}
	return c
}
