package orders

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload"
)

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
		{"3", func(r *CreateOrderRequest) { r.Lines[1].Quantity = 0 }, "INVALID_ARGUMENT: lines[1].quantity must be greater than 0 and less than or equal to 1000000"},
		{"3", func(r *CreateOrderRequest) { *r = dearOrder("3") }, "FAILED_PRECONDITION: a payment of 100000000000025.87 EUR by Probe Ångström was refused"},
		{"3", func(r *CreateOrderRequest) { *r = dearOrder("3") }, "FAILED_PRECONDITION: a payment of 100000000000025.87 EUR by Probe Ångström was refused"},
		{"3", same, `ALREADY_EXISTS: order_id "3" exists with other content`},
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

// The bounds of the schema are such that the total of an order fits 64 bits, and
// one more of each would still.
func TestTotalsFit(t *testing.T) {
	largest := dearOrder("1")
	largest.Lines = nil
	for range maxLines {
		largest.Lines = append(largest.Lines, OrderLine{SKU: "YACHT", Quantity: dearest, UnitPriceMinor: 1_000_000_000})
	}
	h := handler(t, orderTier, memory.New(), handler(t, paymentTier, memory.New(), nil))
	if _, err := rpc.Invoke(t.Context(), h, CreateOrder, &largest); code(err) != rpc.FailedPrecondition {
		t.Fatalf("the largest order that the schema allows gave %v; want no funds for it", err)
	}
	if got := largest.order(time.Time{}).Total.Minor; got != 1e18 {
		t.Errorf("its total is %d; want 10^18, which 64 bits hold", got)
	}
	for name, change := range map[string]func(r *CreateOrderRequest){
		"lines":    func(r *CreateOrderRequest) { r.Lines = append(r.Lines, r.Lines[0]) },
		"quantity": func(r *CreateOrderRequest) { r.Lines[0].Quantity++ },
		"price":    func(r *CreateOrderRequest) { r.Lines[0].UnitPriceMinor++ },
	} {
		r := largest
		r.Lines = append([]OrderLine(nil), largest.Lines...)
		change(&r)
		if _, err := rpc.Invoke(t.Context(), h, CreateOrder, &r); code(err) != rpc.InvalidArgument {
			t.Errorf("an order with more of %s gave %v", name, err)
		}
	}
}

func code(err error) rpc.Code {
	if e := rpc.ErrorOf(err); e != nil {
		return e.Code
	}
	return rpc.OK
}

// What is not known of a payment leaves the order pending, and reaches the
// client with its code.
func TestInnerErrorsPassOn(t *testing.T) {
	for _, c := range []struct {
		inner error
		want  rpc.Error
	}{
		{&rpc.Error{Code: rpc.Unavailable, Message: "gone", Transport: rpc.Refused}, rpc.Error{Code: rpc.Unavailable, Message: "payment: gone", Outside: "payment: the service did not answer as it should; try again"}},
		{&rpc.Error{Code: rpc.ResourceExhausted, Message: "full", RetryAfter: time.Second}, rpc.Error{Code: rpc.ResourceExhausted, Message: "payment: full", RetryAfter: time.Second}},
		{context.DeadlineExceeded, rpc.Error{Code: rpc.DeadlineExceeded, Message: "payment: deadline exceeded"}},
		{context.Canceled, rpc.Error{Code: rpc.Canceled, Message: "payment: cancelled"}},
		{rpc.Errorf(rpc.Internal, "broken"), rpc.Error{Code: rpc.Internal, Message: "payment: broken"}},
	} {
		s := memory.New()
		order := handler(t, orderTier, s, rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { return c.inner }))
		r := probeOrder("1", same)
		_, err := rpc.Invoke(t.Context(), order, CreateOrder, &r)
		if d := cmp.Diff(rpc.ErrorOf(err), &c.want); d != "" {
			t.Errorf("inner %v gave %s", c.inner, d)
		}
		if o, err := s.OrderByID(t.Context(), "1"); err != nil || o.Status != store.OrderPending {
			t.Errorf("inner %v left the order as %+v, %v; want it pending", c.inner, o, err)
		}
	}
}

// What the payment service refuses is refused for good, and not asked again.
func TestRefusalsAreForGood(t *testing.T) {
	for _, inner := range []rpc.Code{rpc.FailedPrecondition, rpc.InvalidArgument, rpc.AlreadyExists} {
		s, asked := memory.New(), 0
		order := handler(t, orderTier, s, rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
			asked++
			return rpc.Errorf(inner, "no")
		}))
		var first string
		for range 2 {
			r := probeOrder("1", same)
			_, err := rpc.Invoke(t.Context(), order, CreateOrder, &r)
			if code(err) != rpc.FailedPrecondition || first != "" && err.Error() != first {
				t.Errorf("inner %v gave %v, at first %s", inner, err, first)
			}
			first = err.Error()
		}
		if o, err := s.OrderByID(t.Context(), "1"); err != nil || o.Status != store.OrderRefused || asked != 1 {
			t.Errorf("inner %v left the order as %+v, %v, and was asked %d times", inner, o, err, asked)
		}
	}
}

// An order whose store forgot it after its payment was charged is charged once.
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
		"ID":       func(p *MakePaymentResponse) { p.PaymentID += "x" },
		"status":   func(p *MakePaymentResponse) { p.Status = PaymentUnspecified },
		"amount":   func(p *MakePaymentResponse) { p.Charged.MinorUnits-- },
		"currency": func(p *MakePaymentResponse) { p.Balance.CurrencyCode = "USD" },
	} {
		payments := workload.Answers{MakePayment: workload.Unary(func(_ context.Context, r *MakePaymentRequest) (*MakePaymentResponse, error) {
			p := &MakePaymentResponse{PaymentID: r.PaymentID, Status: PaymentCharged, Charged: r.Amount, Balance: r.Amount}
			change(p)
			return p, nil
		})}
		r, s := probeOrder("1", same), memory.New()
		_, err := rpc.Invoke(t.Context(), handler(t, orderTier, s, payments), CreateOrder, &r)
		if code(err) != rpc.Internal {
			t.Errorf("a payment of another %s gave %v; want %v", name, err, rpc.Internal)
		}
		if o, err := s.OrderByID(t.Context(), "1"); err != nil || o.Status != store.OrderPending {
			t.Errorf("a payment of another %s left the order as %+v, %v", name, o, err)
		}
	}
}

// A store's failure reaches the client as what it is.
func TestStoreErrors(t *testing.T) {
	for _, c := range []struct {
		kept error
		want rpc.Code
	}{
		{store.ErrUnavailable, rpc.Unavailable},
		{store.ErrInvalid, rpc.InvalidArgument},
		{errors.New("rotten"), rpc.Internal},
		{context.DeadlineExceeded, rpc.DeadlineExceeded},
	} {
		h := handler(t, orderTier, failingStore{memory.New(), c.kept}, rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
			t.Error("an order that is not kept was paid for")
			return nil
		}))
		r := probeOrder("1", same)
		if _, err := rpc.Invoke(t.Context(), h, CreateOrder, &r); code(err) != c.want {
			t.Errorf("a store with %v gave %v", c.kept, err)
		}
	}
}

type failingStore struct {
	*memory.Store
	err error
}

func (s failingStore) AddOrder(context.Context, store.Order) (store.Order, error) {
	return store.Order{}, s.err
}

func TestStoresThatLackSomethingAreRefused(t *testing.T) {
	for _, tier := range []string{orderTier, paymentTier} {
		env := workload.Env{Tier: tier, Store: struct{ store.Store }{memory.New()}, Next: workload.Answers{}}
		if _, err := (Workload{}).Handler(t.Context(), env); err == nil || !strings.Contains(err.Error(), "keeps no") {
			t.Errorf("%s: %v", tier, err)
		}
	}
	if _, err := (Workload{}).Handler(t.Context(), workload.Env{Tier: orderTier, Store: memory.New()}); err == nil {
		t.Error("an order service without payments was taken")
	}
}

func TestUnknownMethodsAreUnimplemented(t *testing.T) {
	h := handler(t, paymentTier, memory.New(), nil)
	if _, err := rpc.Invoke(t.Context(), h, GetOrder, &GetOrderRequest{OrderID: "1"}); code(err) != rpc.Unimplemented {
		t.Errorf("gave %v", err)
	}
}

// What a store or a connection says of itself is for the log, and not for callers.
func TestWhereThingsAreIsNotToldOutside(t *testing.T) {
	const where = "user app at 10.1.2.3"
	for _, c := range []struct {
		err  error
		code rpc.Code
		want string
	}{
		{workload.StoreError("keep order", fmt.Errorf("%s: %w", where, store.ErrUnavailable)), rpc.Unavailable, "keep order: the store is not available; try again"},
		{workload.StoreError("keep order", errors.New(where)), rpc.Internal, "keep order: the store failed"},
		{paymentError(&rpc.Error{Code: rpc.Unavailable, Message: where, Transport: rpc.Refused}), rpc.Unavailable, "payment: the service did not answer as it should; try again"},
		{paymentError(&rpc.Error{Code: rpc.Internal, Message: where, Outside: "no"}), rpc.Internal, "payment: no"},
	} {
		got := rpc.ErrorOf(c.err)
		if got.Code != c.code || got.Outside != c.want || !strings.Contains(got.Message, where) {
			t.Errorf("the error is %+v, want %v with %s inside, and outside %q", got, c.code, where, c.want)
		}
	}
}
