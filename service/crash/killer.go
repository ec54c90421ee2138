package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"
)

// killer kills while orders are acknowledged.
type killer struct {
	system *system
	load   *load
	random *rand.Rand
	every  int   // acknowledgements from kill to kill, on average
	round  []int // victims that have yet to be killed before any is again
}

const (
	// stuckAfter is how long nothing may be acknowledged while all run.
	stuckAfter = time.Minute
	// reread is how many orders are read again after a kill: those that were
	// acknowledged last.
	reread = 32
	// atOnce: one time in so many, all are killed together.
	atOnce = 8
)

// next awaits a random number of acknowledgements and then a moment more, so
// that the kill falls anywhere in the calls that are under way.
func (k *killer) next(ctx context.Context) error {
	if err := k.await(ctx, int64(1+k.random.IntN(2*k.every-1))); err != nil {
		return err
	}
	wait(ctx, time.Duration(k.random.Int64N(int64(5*time.Millisecond))))
	all := k.system.victims
	if k.random.IntN(atOnce) > 0 {
		if len(k.round) == 0 {
			k.round = k.random.Perm(len(all))
		}
		i := k.round[0]
		all, k.round = all[i:i+1], k.round[1:]
	}
	return k.crash(ctx, all, func() {})
}

// last kills all, and no client asks again: what was under way then only the
// order service can settle.
func (k *killer) last(ctx context.Context, loaded <-chan struct{}) error {
	if err := k.await(ctx, int64(k.every)); err != nil {
		return err
	}
	k.load.full.Store(true)
	k.load.hungUp.Store(true)
	return k.crash(ctx, k.system.victims, func() { <-loaded })
}

// crash kills, and starts again after what is done between. What had been
// acknowledged is there as soon as all are back.
func (k *killer) crash(ctx context.Context, victims []*victim, between func()) error {
	latest := k.load.journal.latest(reread)
	k.load.crashes.Add(1)
	for _, i := range k.random.Perm(len(victims)) {
		if err := victims[i].die(); err != nil {
			return err
		}
	}
	between()
	for _, v := range victims {
		if err := v.rise(ctx); err != nil {
			return err
		}
	}
	k.load.crashes.Add(1)
	return k.load.readAll(ctx, latest)
}

// await awaits n more acknowledgements.
func (k *killer) await(ctx context.Context, n int64) error {
	order, payment := k.system.order, k.system.payment
	late := time.NewTimer(stuckAfter)
	defer late.Stop()
	for until := k.load.journal.acks.Load() + n; k.load.journal.acks.Load() < until; {
		select {
		case <-k.load.journal.moved:
			late.Reset(stuckAfter)
		case <-order.run.Ended():
			return order.kill() // which tells how it ended by itself
		case <-payment.run.Ended():
			return payment.kill()
		case <-late.C:
			return fmt.Errorf("no order was acknowledged for %v; the order service said:\n%s\nand the payment service:\n%s",
				stuckAfter, order.run.Said(), payment.run.Said())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
