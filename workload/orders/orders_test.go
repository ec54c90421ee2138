package orders

import (
	"context"
	"encoding/json"
	"math"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/workloadtest"
)

func TestContract(t *testing.T) {
	workloadtest.Run(t, workloadtest.Contract{
		Workload: Workload{},
		Store:    func(testing.TB) store.Store { return memory.New() },
		Params: []map[string]string{
			{"lines": "1", "users": "1"},
			{"lines": "100", "users": "3000000"},
		},
		ID: func(in any) string {
			if o, ok := in.(*CreateOrderRequest); ok {
				return o.OrderID
			}
			return in.(*MakePaymentRequest).PaymentID
		},
	})
}

func resolve(t testing.TB, given map[string]string) setting.Values {
	t.Helper()
	v, err := setting.Resolve(Workload{}.Spec().Params, given)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func take(t testing.TB, leg string, given map[string]string, n int) []workload.Call {
	t.Helper()
	var calls []workload.Call
	for c := range (Workload{}).Calls(leg, resolve(t, given), 42) {
		if calls = append(calls, c); len(calls) == n {
			break
		}
	}
	return calls
}

func handler(t testing.TB, tier string, s store.Store, next rpc.Handler) rpc.Handler {
	t.Helper()
	h, err := Workload{}.Handler(t.Context(), workload.Env{Tier: tier, Store: s, Next: next})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Plain JSON and ProtoJSON must be one format, or two codecs could not share a
// route.
func TestJSONIsProtoJSON(t *testing.T) {
	var messages []struct {
		typ   *rpc.Type
		plain any
	}
	add := func(typ *rpc.Type, plain any) {
		messages = append(messages, struct {
			typ   *rpc.Type
			plain any
		}{typ, plain})
	}
	payment := handler(t, paymentTier, memory.New(), nil)
	tops := map[string]rpc.Handler{paymentTier: payment, orderTier: handler(t, orderTier, memory.New(), payment)}
	for leg, h := range tops {
		for _, c := range append((Workload{}).Probes(leg, nil), take(t, leg, nil, 50)...) {
			add(c.Method.In, c.In[0])
			if out, err := rpc.Invoke(t.Context(), h, c.Method, c.In[0]); err == nil {
				add(c.Method.Out, out)
			}
		}
	}
	for _, m := range []*rpc.Method{CreateOrder, MakePayment} {
		add(m.In, m.In.New())
		add(m.Out, m.Out.New())
	}
	for _, m := range messages {
		agree(t, m.typ, m.plain)
	}
}

func agree(t *testing.T, typ *rpc.Type, plain any) {
	t.Helper()
	text, err := json.Marshal(plain)
	if err != nil {
		t.Fatalf("marshal %s: %v", typ.Name, err)
	}
	asProto := typ.NewProto()
	if err := protojson.Unmarshal(text, asProto); err != nil {
		t.Fatalf("protojson does not take %s: %v", text, err)
	}
	if d := cmp.Diff(typ.ToProto(plain), asProto, protocmp.Transform()); d != "" {
		t.Errorf("%s differs as ProtoJSON reads it:\n%s", text, d)
	}
	for _, unpopulated := range []bool{false, true} {
		text, err = protojson.MarshalOptions{EmitUnpopulated: unpopulated}.Marshal(typ.ToProto(plain))
		if err != nil {
			t.Fatal(err)
		}
		back := typ.New()
		if err := json.Unmarshal(text, back); err != nil {
			t.Fatalf("encoding/json does not take %s: %v", text, err)
		}
		if d := cmp.Diff(plain, back, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s differs as encoding/json reads it:\n%s", text, d)
		}
	}
}

func TestStatusNames(t *testing.T) {
	for status, want := range map[OrderStatus]string{OrderUnspecified: "ORDER_STATUS_UNSPECIFIED", OrderPaid: "ORDER_STATUS_PAID"} {
		if text, err := status.MarshalText(); err != nil || string(text) != want {
			t.Errorf("status %d is %q, %v; want %q", status, text, err, want)
		}
	}
	for _, unknown := range []OrderStatus{-1, 2, math.MaxInt32} {
		if text, err := unknown.MarshalText(); err == nil {
			t.Errorf("status %d is %q; want an error", unknown, text)
		}
	}
	var s PaymentStatus
	if err := s.UnmarshalText([]byte("PAYMENT_STATUS_CHARGED")); err != nil || s != PaymentCharged {
		t.Errorf("got %d, %v; want %d", s, err, PaymentCharged)
	}
	if err := s.UnmarshalText([]byte("ORDER_STATUS_PAID")); err == nil {
		t.Error("a status took another enum's name")
	}
}

func TestAppendMoney(t *testing.T) {
	for _, c := range []struct {
		currency string
		minor    int64
		want     string
	}{
		{"EUR", 0, "0.00 EUR"},
		{"EUR", 7, "0.07 EUR"},
		{"EUR", -7, "-0.07 EUR"},
		{"EUR", 12, "0.12 EUR"},
		{"EUR", 100, "1.00 EUR"},
		{"EUR", 123456, "1234.56 EUR"},
		{"JPY", 0, "0 JPY"},
		{"JPY", 120, "120 JPY"},
		{"KWD", 5, "0.005 KWD"},
		{"KWD", 50, "0.050 KWD"},
		{"KWD", 12345, "12.345 KWD"},
		{"EUR", math.MaxInt64, "92233720368547758.07 EUR"},
		{"EUR", math.MinInt64, "-92233720368547758.08 EUR"},
	} {
		if got := string(appendMoney(nil, c.currency, c.minor)); got != c.want {
			t.Errorf("%d %s is %q; want %q", c.minor, c.currency, got, c.want)
		}
	}
}

func TestAddProduct(t *testing.T) {
	for _, c := range []struct {
		sum, quantity, price, want int64
		fits                       bool
	}{
		{0, 3, 4, 12, true},
		{5, 0, math.MaxInt64, 5, true},
		{0, 1, math.MaxInt64, math.MaxInt64, true},
		{1, 1, math.MaxInt64, 0, false},
		{0, 2, math.MaxInt64/2 + 1, 0, false},
		{1, 2, math.MaxInt64 / 2, math.MaxInt64, true},
		{2, 2, math.MaxInt64 / 2, 0, false},
		{math.MaxInt64, 1, 0, math.MaxInt64, true},
		{math.MaxInt64, 1, 1, 0, false},
	} {
		if got, fits := addProduct(c.sum, c.quantity, c.price); got != c.want || fits != c.fits {
			t.Errorf("%d + %d × %d = %d, %v; want %d, %v", c.sum, c.quantity, c.price, got, fits, c.want, c.fits)
		}
	}
}

func TestIDIsAUUID(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	for _, seed := range []uint64{0, 1, 1 << 63, math.MaxUint64} {
		for _, n := range []uint64{0, 1, 1 << 40} {
			if id := newID(seed, n); !form.MatchString(id) {
				t.Errorf("ID of seed %d, call %d is %q", seed, n, id)
			}
		}
	}
	if got, want := newID(1, 2), newID(1, 2); got != want {
		t.Errorf("equal seeds gave %q and %q", got, want)
	}
}

// Calls must look like a shop's: few lines mostly, many sometimes, prices of
// many lengths, letters of many scripts.
func TestCallsAreRealistic(t *testing.T) {
	const n = 20_000
	lines, currencies, digits, wide := map[int]int{}, map[string]int{}, map[int]int{}, 0
	total := 0
	for _, c := range take(t, orderTier, nil, n) {
		r := c.In[0].(*CreateOrderRequest)
		lines[len(r.Lines)]++
		total += len(r.Lines)
		currencies[r.CurrencyCode]++
		if len(r.UserName) > len([]rune(r.UserName)) {
			wide++
		}
		for _, l := range r.Lines {
			if l.Quantity < 1 || l.Quantity > 12 {
				t.Fatalf("quantity %d", l.Quantity)
			}
			d := 0
			for p := l.UnitPriceMinor; p > 0; p /= 10 {
				d++
			}
			digits[d]++
		}
	}
	if mean := float64(total) / n; mean < 3.8 || mean > 4.2 {
		t.Errorf("orders have %.2f lines on average; want 4", mean)
	}
	if lines[1] < n/5 || lines[0] > 0 || lines[maxMixed+1] > 0 {
		t.Errorf("orders of 1 line: %d, of none: %d, of %d: %d", lines[1], lines[0], maxMixed+1, lines[maxMixed+1])
	}
	if len(currencies) < 8 || len(digits) < 6 {
		t.Errorf("currencies %v, digits of prices %v", currencies, digits)
	}
	if wide < n/4 || wide > 3*n/4 {
		t.Errorf("%d of %d names have letters beyond ASCII", wide, n)
	}
}

func TestNoTwoUsersShareAName(t *testing.T) {
	seen := map[customer]int{}
	for n := range 10 * len(roster()) {
		c := customerOf(n)
		if before, ok := seen[c]; ok {
			t.Fatalf("users %d and %d are both %v", before, n, c)
		}
		seen[c] = n
	}
}

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, it := range catalogue {
		if it.sku == "" || it.title == "" || it.price <= 0 || seen[it.sku] {
			t.Errorf("item %+v lacks something, or comes twice", it)
		}
		seen[it.sku] = true
	}
	for _, place := range people {
		if rates[place.currency] == 0 {
			t.Errorf("no rate for %s", place.currency)
		}
	}
}

func TestMessages(t *testing.T) {
	payment := handler(t, paymentTier, memory.New(), nil)
	order := handler(t, orderTier, memory.New(), payment)
	for _, c := range []struct {
		id     string
		change func(*CreateOrderRequest)
		want   string // the message, or the error's text
	}{
		{"1", same, "Probe Ångström paid 25.87 EUR for 3 items and has 9999999999974.13 EUR left."},
		{"2", func(r *CreateOrderRequest) { r.Lines = r.Lines[1:] }, "Probe Ångström paid 0.07 EUR for 1 item and has 9999999999974.06 EUR left."},
		{"1", func(r *CreateOrderRequest) { r.Lines = r.Lines[1:] }, `ALREADY_EXISTS: order_id "1" exists with other content`},
		{"", same, "INVALID_ARGUMENT: order_id must not be empty"},
		{"3", func(r *CreateOrderRequest) { r.UserName = "" }, "INVALID_ARGUMENT: user_name must not be empty"},
		{"3", func(r *CreateOrderRequest) { r.CurrencyCode = "EURO" }, `INVALID_ARGUMENT: currency_code must be three upper-case letters, is "EURO"`},
		{"3", func(r *CreateOrderRequest) { r.Lines = nil }, "INVALID_ARGUMENT: lines must not be empty"},
		{"3", func(r *CreateOrderRequest) { r.Lines[1].SKU = "" }, "INVALID_ARGUMENT: lines[1].sku must not be empty"},
		{"3", func(r *CreateOrderRequest) { r.Lines[1].Quantity = 0 }, "INVALID_ARGUMENT: lines[1].quantity must be greater than 0, is 0"},
		{"3", func(r *CreateOrderRequest) { r.Lines[0].UnitPriceMinor = -1 }, "INVALID_ARGUMENT: lines[0].unit_price_minor must not be negative, is -1"},
		{"3", func(r *CreateOrderRequest) { r.Lines[0].UnitPriceMinor, r.Lines[1].UnitPriceMinor = 0, 0 }, "INVALID_ARGUMENT: lines must cost more than 0 together"},
		{"3", func(r *CreateOrderRequest) { r.Lines[1].UnitPriceMinor = math.MaxInt64 }, "INVALID_ARGUMENT: lines[1].unit_price_minor takes the total beyond 64 bits"},
		{"3", func(r *CreateOrderRequest) { r.Lines[0].UnitPriceMinor = beyondDouble }, "FAILED_PRECONDITION: payment: insufficient funds: Probe Ångström has not got 180143985094819.93 EUR"},
	} {
		r := probeOrder(c.id, c.change)
		out, err := rpc.Invoke(t.Context(), order, CreateOrder, &r)
		var got string
		if err != nil {
			got = err.Error()
		} else {
			got = out.(*CreateOrderResponse).Message
		}
		if got != c.want {
			t.Errorf("order %q: %s; want %s", c.id, got, c.want)
		}
	}
}

// What goes wrong between the two services reaches the client with its code.
func TestInnerErrorsPassOn(t *testing.T) {
	for _, c := range []struct {
		inner error
		want  rpc.Error
	}{
		{&rpc.Error{Code: rpc.Unavailable, Message: "gone", Transport: rpc.Refused}, rpc.Error{Code: rpc.Unavailable, Message: "payment: gone"}},
		{rpc.Errorf(rpc.FailedPrecondition, "no"), rpc.Error{Code: rpc.FailedPrecondition, Message: "payment: no"}},
		{context.DeadlineExceeded, rpc.Error{Code: rpc.DeadlineExceeded, Message: "payment: deadline exceeded"}},
	} {
		s := memory.New()
		order := handler(t, orderTier, s, rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { return c.inner }))
		r := probeOrder("1", same)
		_, err := rpc.Invoke(t.Context(), order, CreateOrder, &r)
		if got := rpc.ErrorOf(err); got == nil || *got != c.want {
			t.Errorf("inner %v gave %+v; want %+v", c.inner, got, c.want)
		}
		if o, err := s.OrderByID(t.Context(), "1"); err == nil {
			t.Errorf("an order that was not paid was kept: %+v", o)
		}
	}
}

// An order whose first attempt was charged and then lost is charged once.
func TestOrderRepeatedAfterChargeIsChargedOnce(t *testing.T) {
	payment := handler(t, paymentTier, memory.New(), nil)
	r := probeOrder("1", same)
	var replies [2]any
	for i := range replies { // each time with an order store that knows nothing
		out, err := rpc.Invoke(t.Context(), handler(t, orderTier, memory.New(), payment), CreateOrder, &r)
		if err != nil {
			t.Fatal(err)
		}
		replies[i] = out
	}
	if d := cmp.Diff(replies[0], replies[1]); d != "" {
		t.Errorf("the second answer differs:\n%s", d)
	}
}

func TestWrongPaymentIsNotTaken(t *testing.T) {
	for name, change := range map[string]func(*MakePaymentResponse){
		"ID":     func(p *MakePaymentResponse) { p.PaymentID += "x" },
		"status": func(p *MakePaymentResponse) { p.Status = PaymentUnspecified },
		"amount": func(p *MakePaymentResponse) { p.Charged.MinorUnits-- },
	} {
		payments := unary(MakePayment, func(_ context.Context, r *MakePaymentRequest) (*MakePaymentResponse, error) {
			p := &MakePaymentResponse{PaymentID: r.PaymentID, Status: PaymentCharged, Charged: r.Amount}
			change(p)
			return p, nil
		})
		r := probeOrder("1", same)
		_, err := rpc.Invoke(t.Context(), handler(t, orderTier, memory.New(), payments), CreateOrder, &r)
		if e := rpc.ErrorOf(err); e == nil || e.Code != rpc.Internal {
			t.Errorf("a payment of another %s gave %v; want %v", name, err, rpc.Internal)
		}
	}
}
