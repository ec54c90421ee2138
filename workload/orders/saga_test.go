package orders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/hop"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload"
)

// faults are drawn from a seed, until they are mended.
type faults struct {
	mu     sync.Mutex
	random *rand.Rand
	mended bool
	late   sync.WaitGroup // calls that arrive after their caller gave them up
}

// draw gives a number below n; 0 once faults are mended.
func (f *faults) draw(n int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mended {
		return 0
	}
	return f.random.IntN(n)
}

// later does something once its caller has gone, unless faults are mended by now.
func (f *faults) later(delay time.Duration, do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mended {
		return
	}
	f.late.Go(func() {
		time.Sleep(delay)
		do()
	})
}

func (f *faults) mend() {
	f.mu.Lock()
	f.mended = true
	f.mu.Unlock()
	f.late.Wait()
}

// faulty is the way to a service: it loses calls before they arrive, loses
// answers, delays, hangs, and delivers calls long after their caller has gone.
type faulty struct {
	*faults
	within rpc.Handler
}

func (f faulty) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	lost := &rpc.Error{Code: rpc.Unavailable, Message: "lost", Transport: rpc.Reset}
	switch f.draw(12) {
	case 1:
		return lost
	case 2, 3:
		if err := f.within.Handle(ctx, m, s); err != nil {
			return err
		}
		return lost
	case 4:
		<-ctx.Done()
		return ctx.Err()
	case 5:
		if err := f.within.Handle(ctx, m, s); err != nil {
			return err
		}
		<-ctx.Done()
		return ctx.Err()
	case 6:
		in, err := s.Recv()
		if err != nil {
			return err
		}
		delay := time.Duration(f.draw(30_000)) * time.Millisecond
		f.later(delay, func() { _, _ = rpc.Invoke(context.WithoutCancel(ctx), f.within, m, in) })
		return lost
	case 7:
		return &rpc.Error{Code: rpc.ResourceExhausted, Message: "full", RetryAfter: 100 * time.Millisecond}
	case 8:
		return rpc.Errorf(rpc.Internal, "broken")
	case 9:
		time.Sleep(time.Duration(f.draw(3000)) * time.Millisecond)
	}
	return f.within.Handle(ctx, m, s)
}

// faultyStore fails before or after it has kept something: to a service, as if
// it had been killed at that step.
type faultyStore struct {
	*memory.Store
	*faults
}

var errKilled = fmt.Errorf("killed: %w", store.ErrUnavailable)

func (s faultyStore) AddOrder(ctx context.Context, o store.Order) (store.Order, error) {
	return kill(s.faults, func() (store.Order, error) { return s.Store.AddOrder(ctx, o) })
}

func (s faultyStore) SettleOrder(ctx context.Context, id string, end store.Settlement) (store.Order, error) {
	return kill(s.faults, func() (store.Order, error) { return s.Store.SettleOrder(ctx, id, end) })
}

func (s faultyStore) Charge(ctx context.Context, p store.Payment, opening int64) (int64, error) {
	return kill(s.faults, func() (int64, error) { return s.Store.Charge(ctx, p, opening) })
}

func (s faultyStore) Refund(ctx context.Context, r store.Refund) (store.Refunded, error) {
	return kill(s.faults, func() (store.Refunded, error) { return s.Store.Refund(ctx, r) })
}

func kill[T any](f *faults, keep func() (T, error)) (kept T, err error) {
	switch f.draw(15) {
	case 1:
		return kept, errKilled
	case 2:
		if _, err := keep(); err != nil {
			return kept, err
		}
		return kept, errKilled
	}
	return keep()
}

// shop is both services with faults at every step, and what its customers know.
type shop struct {
	*faults
	orders, payments *memory.Store
	order, payment   rpc.Handler
	ended            func()

	mu    sync.Mutex
	known map[string]rpc.Code // of each order: OK, or FAILED_PRECONDITION, where a customer was told so
	asked map[string]*CreateOrderRequest
	back  map[string]bool // payments that customers had given back
}

func openShop(t *testing.T, seed uint64) *shop {
	s := &shop{
		faults: &faults{random: rand.New(rand.NewPCG(seed, 1))}, orders: memory.New(), payments: memory.New(),
		known: map[string]rpc.Code{}, asked: map[string]*CreateOrderRequest{}, back: map[string]bool{},
	}
	quiet := slog.New(slog.DiscardHandler)
	var err error
	s.payment, err = Workload{}.Handler(t.Context(), workload.Env{Tier: paymentTier, Store: faultyStore{s.payments, s.faults}, Log: quiet})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	way := faulty{s.faults, s.payment}
	s.order, err = Workload{}.Handler(ctx, workload.Env{
		Tier: orderTier, Store: faultyStore{s.orders, s.faults}, Log: quiet,
		Next: hop.New(way, hop.Default), Background: hop.New(way, hop.Default),
	})
	if err != nil {
		t.Fatal(err)
	}
	s.ended = func() {
		cancel()
		if err := s.order.(io.Closer).Close(); err != nil {
			t.Error(err)
		}
	}
	return s
}

// customer orders under IDs that others use too, for more than all of them can
// pay, asks again where no answer comes, and sends some of it back.
func (s *shop) customer(t *testing.T, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 2))
	for range 25 {
		n := random.IntN(120)
		r := &CreateOrderRequest{
			OrderID: fmt.Sprint("order-", n), UserName: fmt.Sprint("user-", n%3), CurrencyCode: "EUR",
			Lines: []OrderLine{{SKU: "A", Quantity: 1 + int32(n%5)*dearest/10, UnitPriceMinor: 1e9}},
		}
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(1+random.IntN(4000))*time.Millisecond)
			_, err := rpc.Invoke(ctx, s.order, CreateOrder, r)
			cancel()
			s.told(t, r, code(err))
			time.Sleep(time.Duration(random.IntN(5000)) * time.Millisecond)
			if err == nil && random.IntN(4) == 0 {
				s.sendBack(t, r.OrderID)
			}
			if err == nil || random.IntN(2) == 0 {
				break
			}
		}
	}
}

// told keeps what a customer was told; what was said before must still hold.
func (s *shop) told(t *testing.T, r *CreateOrderRequest, c rpc.Code) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[r.OrderID] = r
	switch c {
	case rpc.OK, rpc.FailedPrecondition:
		if before, ok := s.known[r.OrderID]; ok && before != c {
			t.Errorf("%s was told %v and then %v", r.OrderID, before, c)
		}
		s.known[r.OrderID] = c
	case rpc.InvalidArgument, rpc.AlreadyExists, rpc.NotFound, rpc.Unimplemented, rpc.Unknown:
		t.Errorf("%s was told %v", r.OrderID, c)
	}
}

func (s *shop) sendBack(t *testing.T, id string) {
	s.mu.Lock()
	s.back[id] = true
	s.mu.Unlock()
	_, _ = rpc.Invoke(t.Context(), s.payment, RefundPayment, &RefundPaymentRequest{PaymentID: id, RefundID: "sent-back"})
}

// audit compares what is kept with what customers know, and the books with one
// another.
func (s *shop) audit(t *testing.T) (paid, refused, given int) {
	taken := map[string]int64{} // of each account
	for id, r := range s.asked {
		o, err := s.orders.OrderByID(t.Context(), id)
		if errors.Is(err, store.ErrNotFound) {
			if told, ok := s.known[id]; ok {
				t.Errorf("%s is lost, and a customer was told %v", id, told)
			}
			continue
		}
		p, err := s.payments.PaymentByID(t.Context(), id)
		charged := err == nil
		if charged {
			taken[p.User] += p.Amount.Minor - p.Refunded
		}
		told, ok := s.known[id]
		switch o.Status {
		case store.OrderPending:
			t.Errorf("%s is still pending", id)
		case store.OrderPaid:
			paid++
			if !charged || p.Amount != o.Total || p.Refunded != 0 && !s.back[id] || ok && told != rpc.OK {
				t.Errorf("%s is paid; payment %+v, told %v", id, p, told)
			}
		case store.OrderRefused:
			refused++
			if charged {
				given++
			}
			if charged && p.Refunded != p.Amount.Minor || ok && told != rpc.FailedPrecondition {
				t.Errorf("%s is refused; payment %+v, told %v", id, p, told)
			}
		}
		if got := r.order(o.Created).Total; got != o.Total {
			t.Errorf("%s is of %+v and costs %+v", id, got, o.Total)
		}
	}
	for user, sum := range taken { // a charge of 1 tells the balance
		left, err := s.payments.Charge(t.Context(), store.Payment{ID: "audit-" + user, User: user, Amount: store.Money{Currency: "EUR", Minor: 1}}, openingBalance)
		if sum == openingBalance && errors.Is(err, store.ErrInsufficientFunds) {
			continue
		}
		if err != nil || left != openingBalance-sum-1 {
			t.Errorf("%s has %d left, %v, of which %d was taken", user, left+1, err, sum)
		}
	}
	return paid, refused, given
}

// Whatever fails at whatever step: no order is paid twice, none that was
// acknowledged is lost, each is settled in the end, and no money with it.
func TestSagaUnderFaults(t *testing.T) {
	var paid, refused, given int
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			s := openShop(t, seed)
			var customers sync.WaitGroup
			for n := range uint64(10) {
				customers.Go(func() { s.customer(t, seed<<8+n) })
			}
			customers.Wait()
			s.mend()
			time.Sleep(3 * time.Minute) // for what is pending to be settled, and what is owed to go back
			s.ended()
			p, r, g := s.audit(t)
			paid, refused, given = paid+p, refused+r, given+g
		})
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
	t.Logf("%d orders were paid, %d refused, of which %d had been charged and given back", paid, refused, given)
	if paid < 1000 || refused < 100 || given < 1 {
		t.Error("the faults do not reach what they are to test")
	}
}
