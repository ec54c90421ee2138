package orders

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
)

// How the reconciler goes about.
const (
	reconcileEvery  = 5 * time.Second  // on average
	unattended      = 15 * time.Second // the age at which an order's own call has ended, whose deadline is 10 s
	reconcileBatch  = 256              // orders looked at in one pass, beside those that stayed pending in the last
	mostStuck       = 10_000
	reconcileAtOnce = 8
	attemptWithin   = 10 * time.Second
	mostTold        = 16 // lines that a pass logs of orders that stay as they are
)

// reconciler settles orders that were left pending: by a call that ended without
// knowing what became of the payment, or by a process that did.
type reconciler struct {
	till
	lists store.OrderLists
	began time.Time // before the first call of this process
	stuck int       // orders that stayed pending in the last pass
	told  atomic.Int64
}

func newReconciler(t till, lists store.OrderLists, payments rpc.Handler) *reconciler {
	t.payments = payments
	return &reconciler{till: t, lists: lists, began: now()}
}

// run settles until ctx ends. Services that share a store keep out of step by
// chance; where two meet at an order, they agree.
func (r *reconciler) run(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		pause.Reset(reconcileEvery/2 + rand.N(reconcileEvery))
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		for r.pass(ctx) {
		}
	}
}

// before is the time by which an order was created that no call is at any more:
// it is old, or from before this process. Another that shares the store may be at
// one of these; then the two agree.
func (r *reconciler) before() time.Time {
	if old := now().Add(-unattended); old.After(r.began) {
		return old
	}
	return r.began
}

// pass looks at the oldest pending orders, and says whether to go on at once:
// that there were many and all were settled.
func (r *reconciler) pass(ctx context.Context) (more bool) {
	r.told.Store(0)
	defer func() {
		if unwritten := r.told.Load() - mostTold; unwritten > 0 {
			r.log.Warn("more orders stay as they are", "unwritten", unwritten)
		}
	}()
	limit := reconcileBatch + min(r.stuck, mostStuck)
	pending, err := r.lists.PendingBefore(ctx, r.before(), limit)
	if err != nil {
		if ctx.Err() == nil {
			r.log.Warn("look for pending orders", "error", err)
		}
		return false
	}
	settled, answered := each(ctx, pending, r.settleOne)
	if !answered {
		return false
	}
	r.stuck = len(pending) - settled
	each(ctx, r.owed.due(now()), r.giveOneBack)
	return len(pending) == limit && r.stuck == 0
}

// each does something for orders, the first first and a few at once, within a
// time for each, and says for how many it was done. It stops where the payment
// service does not answer.
func each(ctx context.Context, orders []store.Order, do func(context.Context, store.Order) error) (done int, answered bool) {
	var next, count atomic.Int64
	var stop atomic.Bool
	var running sync.WaitGroup
	one := func(o store.Order) {
		within, cancel := context.WithTimeout(ctx, attemptWithin)
		defer cancel()
		switch err := do(within, o); {
		case err == nil:
			count.Add(1)
		case unanswered(err):
			stop.Store(true)
		}
	}
	for range min(reconcileAtOnce, len(orders)) {
		running.Go(func() {
			for !stop.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(orders) {
					return
				}
				one(orders[i])
			}
		})
	}
	running.Wait()
	return int(count.Load()), !stop.Load()
}

func (r *reconciler) settleOne(ctx context.Context, o store.Order) error {
	_, err := r.settle(ctx, o)
	if err != nil {
		r.tell(ctx, "a pending order stays pending", o, err)
	}
	return err
}

// tell logs why an order stays as it is, unless the service ends, or a fault that
// is every order's has been told of many.
func (r *reconciler) tell(ctx context.Context, what string, o store.Order, err error) {
	if !errors.Is(ctx.Err(), context.Canceled) && r.told.Add(1) <= mostTold {
		r.log.Warn(what, "order_id", o.ID, "since", o.Created, "error", err)
	}
}

func (r *reconciler) giveOneBack(ctx context.Context, o store.Order) error {
	err := r.giveBack(ctx, o)
	if err == nil {
		r.owed.settled(o.ID)
	} else {
		r.tell(ctx, "the payment of a refused order is still owed", o, err)
	}
	return err
}

// unanswered says of a payment's failure that others would fail likewise.
func unanswered(err error) bool {
	switch rpc.ErrorOf(err).Code {
	case rpc.Unavailable, rpc.DeadlineExceeded, rpc.ResourceExhausted:
		return true
	}
	return false
}
