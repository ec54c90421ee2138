package orders

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/testing/protocmp"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/validate"
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
			switch r := in.(type) {
			case *CreateOrderRequest:
				return r.OrderID
			case *MakePaymentRequest:
				return r.PaymentID
			}
			return ""
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
	return serve(t.Context(), t, workload.Env{Tier: tier, Store: s, Next: next})
}

// serve gives a tier's handler behind the rules of its schema, until ctx ends.
func serve(ctx context.Context, t testing.TB, env workload.Env) rpc.Handler {
	t.Helper()
	env.Log = slog.New(slog.DiscardHandler)
	h, err := Workload{}.Handler(ctx, env)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := h.(io.Closer); ok {
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	rules, err := validate.New(map[string]*rpc.Service{orderTier: OrderService, paymentTier: PaymentService}[env.Tier])
	if err != nil {
		t.Fatal(err)
	}
	return rules.Handler(h)
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
	for _, m := range slices.Concat(OrderService.Methods, PaymentService.Methods) {
		add(m.In, m.In.New())
		add(m.Out, m.Out.New())
	}
	after := int64(beyondDouble)
	add(WatchOrders.In, &WatchOrdersRequest{AfterRevision: &after, UserName: awkward})
	add(WatchOrders.In, &WatchOrdersRequest{AfterRevision: new(int64)})
	at := time.Date(1969, 12, 31, 23, 59, 59, 999_990_000, time.UTC)
	add(WatchOrders.Out, &WatchOrdersResponse{Order: &Order{OrderID: "1", CreateTime: at, UpdateTime: at.Add(time.Second), Revision: math.MaxInt64}})
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
	for number, want := range ordersv1.OrderStatus_name {
		if text, err := OrderStatus(number).MarshalText(); err != nil || string(text) != want {
			t.Errorf("status %d is %q, %v; want %q", number, text, err, want)
		}
	}
	for number, want := range paymentsv1.PaymentStatus_name {
		if text, err := PaymentStatus(number).MarshalText(); err != nil || string(text) != want {
			t.Errorf("status %d is %q, %v; want %q", number, text, err, want)
		}
	}
	for _, unknown := range []OrderStatus{-1, 4, math.MaxInt32} {
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
