package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tare-bench/tare/clients"
	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
)

const (
	users     = 8
	poorUsers = 2 // whose money does not last

	attemptIn    = 3 * time.Second // after which a client no longer waits
	firstPause   = 5 * time.Millisecond
	longestPause = 250 * time.Millisecond

	// One order in so many.
	abandoned = 10 // is not posted again once an attempt brought no answer
	twice     = 16 // is posted by two clients at once
	again     = 4  // has an older one posted again after it
	looked    = 4  // is read as soon as it is acknowledged
)

// load is clients that post orders, over every protocol in turn.
type load struct {
	clients []clients.Client
	journal *journal
	seed    uint64
	posted  atomic.Int64

	crashes atomic.Int64 // odd while a service is away

	full   atomic.Bool // no further orders
	hungUp atomic.Bool // and none is posted again either
}

// run posts orders from so many goroutines until the load is full.
func (l *load) run(ctx context.Context, atOnce int) {
	var working sync.WaitGroup
	for range atOnce {
		working.Go(func() {
			for ctx.Err() == nil && !l.full.Load() {
				l.one(ctx, l.posted.Add(1))
			}
		})
	}
	working.Wait()
}

// one posts order n, and perhaps an older one again.
func (l *load) one(ctx context.Context, n int64) {
	r := rand.New(rand.NewPCG(l.seed, uint64(n)))
	e := l.journal.open(order(r, l.seed, n))
	abandon := r.IntN(abandoned) == 0
	var posting sync.WaitGroup
	if r.IntN(twice) == 0 {
		other := rand.New(rand.NewPCG(l.seed+1, uint64(n)))
		posting.Go(func() { l.post(ctx, other, e, abandon) })
	}
	l.post(ctx, r, e, abandon)
	posting.Wait()
	if r.IntN(looked) == 0 && e.acknowledged() {
		_ = look(ctx, l.clients[r.IntN(len(l.clients))], e) // where there is no answer, nothing is learnt
	}
	if r.IntN(again) == 0 {
		all := l.journal.all()
		l.post(ctx, r, all[r.IntN(len(all))], true)
	}
}

// order makes order n.
func order(r *rand.Rand, seed uint64, n int64) *ordersv1.CreateOrderRequest {
	user := r.IntN(users)
	price := int64(1_000)
	if user < poorUsers {
		price = 1_000_000_000
	}
	o := &ordersv1.CreateOrderRequest{
		OrderId: fmt.Sprintf("crash-%d-%06d", seed, n), UserName: userName(user), CurrencyCode: currency,
	}
	for i := range 1 + r.IntN(3) {
		quantity := 1 + r.Int32N(100)
		if user < poorUsers {
			quantity *= 3_000
		}
		o.Lines = append(o.Lines, &ordersv1.OrderLine{
			Sku: fmt.Sprintf("sku-%d", i), Title: "Grüner Tee 🍵", Quantity: quantity, UnitPriceMinor: 1 + r.Int64N(price),
		})
	}
	return o
}

const (
	currency = "EUR"
	opening  = 1_000_000_000_000_000 // what each account holds at first
)

func userName(n int) string { return fmt.Sprintf("user-%d", n) }

// post posts an order until it is answered, or is abandoned for want of an
// answer.
func (l *load) post(ctx context.Context, r *rand.Rand, e *entry, abandon bool) {
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, longestPause) {
		c := l.clients[r.IntN(len(l.clients))]
		crashes := l.crashes.Load()
		attempt, end := context.WithTimeout(ctx, attemptIn)
		answer, err := c.CreateOrder(attempt, e.order)
		end()
		switch code := status.Code(err); code {
		case codes.OK:
			l.journal.acknowledge(e, answer)
			return
		case codes.FailedPrecondition:
			e.refuse()
			return
		case codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted,
			codes.Canceled: // as connect-go has it where the server resets the connection
			e.note(1)
		case codes.Internal, codes.Unknown: // as some clients have it where an answer is cut off
			if crashes%2 == 0 && crashes == l.crashes.Load() {
				e.note(1, fmt.Sprintf("%s: %v, though nothing was killed", c.Name, err))
				return
			}
			e.note(1)
		default:
			e.note(1, fmt.Sprintf("%s: %v", c.Name, err))
			return
		}
		if abandon || l.hungUp.Load() {
			return
		}
		wait(ctx, time.Duration(r.Int64N(int64(pause))))
	}
}

// readAll reads orders that were acknowledged, all at once.
func (l *load) readAll(ctx context.Context, all []*entry) error {
	reading, ctx := errgroup.WithContext(ctx)
	for i, e := range all {
		c := l.clients[i%len(l.clients)]
		reading.Go(func() error { return read(ctx, c, e) })
	}
	return reading.Wait()
}

func read(ctx context.Context, c clients.Client, e *entry) error {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := look(ctx, c, e)
		if err == nil {
			e.foundAgain()
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: read order %s: %w", c.Name, e.order.OrderId, err)
		}
		wait(ctx, pause) // until the client has connected again
	}
}

// look reads once an order that was acknowledged. An error is of an attempt
// without an answer.
func look(ctx context.Context, c clients.Client, e *entry) error {
	answer, err := c.GetOrder(ctx, &ordersv1.GetOrderRequest{OrderId: e.order.OrderId})
	switch status.Code(err) {
	case codes.OK:
		e.compare(answer.Order)
		return nil
	case codes.NotFound:
		e.note(0, "not found, and it had been acknowledged")
		return nil
	}
	return err
}

// wait lets time pass.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
