package golang

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// Cost is what one call costs a process, all of whose processors are its own.
type Cost struct{ Seconds, Allocations float64 }

// OwnCost is what tare itself costs a call of the native driver, in one slot
// and in this process: of the loop alone, and with the call's deadline and the
// check of its reply. The call is the first of the tier that start names; no
// codec, protocol or socket stands between it and a reply made beforehand.
func OwnCost(ctx context.Context, c catalog.Catalog, start peer.Start, calls int) (loop, whole Cost, err error) {
	call, reply, err := answered(ctx, c, start)
	if err != nil {
		return loop, whole, err
	}
	loop, err = cost(calls, func(p *load.Pace, t *tally) error {
		_, err := load.Run(ctx, load.Monotonic(), 1, p, func(context.Context, int, int) error { return nil }, t)
		return err
	})
	if err != nil {
		return loop, whole, err
	}
	d := &native{conn: null{reply}, timeout: time.Minute}
	whole, err = cost(calls, func(p *load.Pace, t *tally) error {
		_, err := d.run(ctx, 1, p, func(int) *workload.Call { return &call }, t)
		t.each(func(o load.Observation) { err = errors.Join(err, o.Err) })
		return err
	})
	return loop, whole, err
}

// answered gives the first call of a tier, and its reply.
func answered(ctx context.Context, c catalog.Catalog, start peer.Start) (call workload.Call, reply any, err error) {
	w, tier, err := find(c, start)
	if err != nil {
		return call, nil, err
	}
	kind, err := c.Store(start.Store)
	if err != nil {
		return call, nil, err
	}
	kept, err := kind.Open(ctx, start.Store)
	if err != nil {
		return call, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	h, err := w.Handler(ctx, workload.Env{Tier: tier.Name, Params: start.Params, Store: kept})
	defer func() {
		cancel()
		err = errors.Join(err, end(h), kept.Close())
	}()
	if err != nil {
		return call, nil, err
	}
	for call = range w.Calls(start.Leg, start.Params, 1) {
		break
	}
	in, _ := call.Message(0)
	reply, err = rpc.Invoke(ctx, h, call.Method, in)
	return call, reply, err
}

// cost has run make calls, twice, and measures the second time.
func cost(calls int, run func(*load.Pace, *tally) error) (Cost, error) {
	var before, after runtime.MemStats
	var took time.Duration
	for range 2 {
		t, p := newTally(1, calls), load.ClosedPace(load.Extent{Exactly: calls})
		runtime.ReadMemStats(&before)
		began := time.Now()
		if err := run(p, t); err != nil {
			return Cost{}, err
		}
		took = time.Since(began)
		runtime.ReadMemStats(&after)
	}
	n := float64(calls)
	return Cost{took.Seconds() / n, float64(after.Mallocs-before.Mallocs) / n}, nil
}

// null is a connection to nowhere: every call gets the one reply.
type null struct{ reply any }

func (n null) Handle(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
	if _, err := s.Recv(); err != nil {
		return err
	}
	return s.Send(n.reply)
}

func (null) Close() error { return nil }
