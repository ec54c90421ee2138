package orders

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload"
)

// leave keeps pending orders as a process leaves them that was killed.
func leave(t *testing.T, s *memory.Store, ids ...string) {
	t.Helper()
	for _, id := range ids {
		r := probeOrder(id, same)
		if _, err := s.AddOrder(t.Context(), r.order(now())); err != nil {
			t.Fatal(err)
		}
	}
}

func status(t *testing.T, s *memory.Store, id string) store.OrderStatus {
	t.Helper()
	o, err := s.OrderByID(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return o.Status
}

// open starts an order service in virtual time; what it gives ends it.
func open(t *testing.T, s store.Store, next, background rpc.Handler) (rpc.Handler, func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	h, err := Workload{}.Handler(ctx, workload.Env{
		Tier: orderTier, Store: s, Next: next, Background: background, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return h, func() {
		cancel()
		if err := h.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	}
}

// asking counts the calls that it hands on, or fails with what fail gives.
type asking struct {
	rpc.Handler
	asked atomic.Int64
	fail  func(id string) error
}

func (a *asking) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	a.asked.Add(1)
	in, err := s.Recv()
	if err != nil {
		return err
	}
	if r, ok := in.(*MakePaymentRequest); ok && a.fail != nil {
		if err := a.fail(r.PaymentID); err != nil {
			return err
		}
	}
	out, err := rpc.Invoke(ctx, a.Handler, m, in)
	if err != nil {
		return err
	}
	return s.Send(out)
}

func payments(t *testing.T) rpc.Handler {
	t.Helper()
	h, err := Workload{}.Handler(t.Context(), workload.Env{Tier: paymentTier, Store: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// What another process left pending is settled, by the way that is for work in
// the background; what a call may still be at is left alone.
func TestPendingOrdersAreSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		leave(t, s, "old")
		time.Sleep(time.Millisecond)
		next, background := &asking{Handler: payments(t)}, &asking{Handler: payments(t)}
		_, end := open(t, s, next, background)
		leave(t, s, "young")
		time.Sleep(8 * time.Second) // a pass or two
		if got := status(t, s, "old"); got != store.OrderPaid {
			t.Errorf("the old order is %d", got)
		}
		if got := status(t, s, "young"); got != store.OrderPending {
			t.Errorf("the young order is %d", got)
		}
		time.Sleep(15 * time.Second)
		if got := status(t, s, "young"); got != store.OrderPaid {
			t.Errorf("the young order is %d, and is young no longer", got)
		}
		end()
		if next.asked.Load() != 0 || background.asked.Load() != 2 {
			t.Errorf("asked %d times in callers' name and %d times in the background", next.asked.Load(), background.asked.Load())
		}
	})
}

// Orders that stay pending hold up none that came after them, however many.
func TestStuckOrdersHoldUpNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		for n := range 2 * reconcileBatch {
			leave(t, s, fmt.Sprint("stuck-", n))
		}
		leave(t, s, "last")
		p := &asking{Handler: payments(t), fail: func(id string) error {
			if strings.HasPrefix(id, "stuck") {
				return rpc.Errorf(rpc.Internal, "broken")
			}
			return nil
		}}
		_, end := open(t, s, p, nil)
		time.Sleep(time.Minute)
		end()
		if got := status(t, s, "last"); got != store.OrderPaid {
			t.Errorf("the last order is %d", got)
		}
	})
}

// A fault of every order's is told of a few in each pass, and the rest counted.
func TestStuckOrdersDoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		for n := range reconcileBatch {
			leave(t, s, fmt.Sprint("stuck-", n))
		}
		time.Sleep(unattended + time.Microsecond)
		broken := &asking{Handler: payments(t), fail: func(string) error { return rpc.Errorf(rpc.Internal, "broken") }}
		var log strings.Builder
		till := till{orders: s, settled: func() {}, owed: newOwed(), log: slog.New(slog.NewTextHandler(&log, nil))}
		r := newReconciler(till, s, broken)
		for range 2 {
			log.Reset()
			r.pass(t.Context())
			if n := strings.Count(log.String(), "\n"); n != mostTold+1 || !strings.Contains(log.String(), fmt.Sprint("unwritten=", reconcileBatch-mostTold)) {
				t.Errorf("a pass logs %d lines, want %d and how many more there are:\n%s", n, mostTold, log.String())
			}
		}
	})
}

// Many orders are settled at once, not one batch each few seconds.
func TestManyPendingOrdersAreSettledInOnePass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		for n := range 5 * reconcileBatch {
			leave(t, s, fmt.Sprint(n))
		}
		time.Sleep(unattended)
		_, end := open(t, s, payments(t), nil)
		time.Sleep(reconcileEvery * 3 / 2)
		end()
		if got := status(t, s, fmt.Sprint(5*reconcileBatch-1)); got != store.OrderPaid {
			t.Errorf("the last order is %d", got)
		}
	})
}

// A payment service that does not answer is not asked for every order.
func TestAServiceThatIsDownIsAskedLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		for n := range 200 {
			leave(t, s, fmt.Sprint(n))
		}
		var back atomic.Bool
		down := &asking{Handler: payments(t), fail: func(string) error {
			if back.Load() {
				return nil
			}
			return rpc.Errorf(rpc.Unavailable, "down")
		}}
		_, end := open(t, s, down, nil)
		time.Sleep(time.Minute)
		if n := down.asked.Load(); n < 5 || n > 200 {
			t.Errorf("in a minute it was asked %d times", n)
		}
		back.Store(true)
		time.Sleep(time.Minute)
		end()
		if got := status(t, s, "199"); got != store.OrderPaid {
			t.Errorf("with the service back the last order is %d", got)
		}
	})
}

// Where another process has refused an order that this one is paying for, what
// was charged goes back.
func TestAPaymentThatIsOutrunGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, till := memory.New(), payments(t)
		slow := rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, stream rpc.Stream) error {
			if m == MakePayment {
				time.Sleep(time.Second)
			}
			return till.Handle(ctx, m, stream)
		})
		h, end := open(t, s, slow, nil)
		time.AfterFunc(500*time.Millisecond, func() {
			if _, err := s.SettleOrder(t.Context(), "1", store.Settlement{Status: store.OrderRefused, At: now()}); err != nil {
				t.Error(err)
			}
		})
		r := probeOrder("1", same)
		if _, err := rpc.Invoke(t.Context(), h, CreateOrder, &r); code(err) != rpc.FailedPrecondition {
			t.Errorf("the customer was told %v", err)
		}
		time.Sleep(2 * reconcileEvery)
		end()
		out, err := rpc.Invoke(t.Context(), till, GetPayment, &GetPaymentRequest{PaymentID: "1"})
		if err != nil || out.(*GetPaymentResponse).Payment.Status != PaymentRefunded {
			t.Errorf("the payment is %+v, %v", out, err)
		}
	})
}

// Another's payment under the ID of a refused order is not the order's to give
// back.
func TestAnothersPaymentStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, till := memory.New(), payments(t)
		other := probePayment("1", func(r *MakePaymentRequest) { r.UserName = "Somebody Else" })
		if _, err := rpc.Invoke(t.Context(), till, MakePayment, &other); err != nil {
			t.Fatal(err)
		}
		h, end := open(t, s, till, nil)
		r := probeOrder("1", same)
		if _, err := rpc.Invoke(t.Context(), h, CreateOrder, &r); code(err) != rpc.FailedPrecondition {
			t.Errorf("the customer was told %v", err)
		}
		time.Sleep(2 * doubt)
		end()
		out, err := rpc.Invoke(t.Context(), till, GetPayment, &GetPaymentRequest{PaymentID: "1"})
		if err != nil || out.(*GetPaymentResponse).Payment.Status != PaymentCharged {
			t.Errorf("the other payment is %+v, %v", out, err)
		}
	})
}

// A paid order that is repeated is answered from what is kept, word for word.
func TestAPaidOrderIsNotPaidAgain(t *testing.T) {
	p := &asking{Handler: handler(t, paymentTier, memory.New(), nil)}
	h := handler(t, orderTier, memory.New(), p)
	var answers []string
	for range 2 {
		r := probeOrder("1", same)
		out, err := rpc.Invoke(t.Context(), h, CreateOrder, &r)
		if err != nil {
			t.Fatal(err)
		}
		answers = append(answers, fmt.Sprintf("%+v", out))
	}
	if answers[0] != answers[1] || p.asked.Load() != 1 {
		t.Errorf("answers %q; the payment service was asked %d times", answers, p.asked.Load())
	}
}
