package golang

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// carrier is one of the two ways of making prepared calls.
type carrier interface {
	// ready prepares calls, off the clock.
	ready(calls []workload.Call) error
	// run makes calls in so many slots until the pace ends. Call n is what was
	// readied as the nth, and beyond those what more gives.
	run(ctx context.Context, slots int, p *load.Pace, more func(n int) *workload.Call, rec load.Recorder) (load.Totals, error)
	// fed counts the messages that the last run made on the clock.
	fed() int
	// wire counts what crossed the carrier's own sockets.
	wire() record.Wire
	close() error
}

func newCarrier(ctx context.Context, c catalog.Catalog, d *driver) (carrier, error) {
	switch d.start.Driver {
	case plan.Native:
		return &native{conn: d.next.conn, timeout: d.timeout}, nil
	case plan.Lean:
		return newPrepared(ctx, c, d)
	}
	return nil, fmt.Errorf("unknown driver %q", d.start.Driver)
}

// native makes calls through the client library that the stack's users have:
// it maps, encodes, decodes, and checks every reply.
type native struct {
	conn     protocol.Conn
	timeout  time.Duration
	sessions []session // one for each slot of the last run
}

func (*native) ready([]workload.Call) error { return nil }

func (d *native) run(ctx context.Context, slots int, p *load.Pace, more func(int) *workload.Call, rec load.Recorder) (load.Totals, error) {
	d.sessions = make([]session, slots)
	op := func(ctx context.Context, slot, n int) error {
		return d.sessions[slot].do(ctx, d.conn, more(n), d.timeout)
	}
	return load.Run(ctx, load.Monotonic(), slots, p, op, rec)
}

func (d *native) fed() (n int) {
	for i := range d.sessions {
		n += d.sessions[i].fed
	}
	return n
}

// wire is nothing: the connection is the upstream's, which counts it.
func (*native) wire() record.Wire { return record.Wire{} }

func (*native) close() error { return nil }

// pace turns what is asked of a trial into the loop's own terms.
func pace(t peer.Trial) *load.Pace {
	d := time.Duration(t.DurationS * float64(time.Second))
	switch {
	case t.Rate > 0 && t.Arrivals == plan.Constant:
		return load.OpenPace(load.Constant(t.Rate), d)
	case t.Rate > 0:
		return load.OpenPace(load.Poisson(t.Rate, t.Seed), d)
	}
	return load.ClosedPace(load.Extent{For: d, AtLeast: t.AtLeast, Exactly: t.Calls})
}

// enough failures in a row at a trial's start tell that nothing will succeed.
const enough = 50

// hopeless ends a trial early in which nothing succeeds: once so many calls
// have failed, or every slot's first has reached its deadline, the rest would
// only take its time.
type hopeless struct {
	load.Recorder
	after, slots int
	stop         context.CancelFunc

	failed, late atomic.Int64
	succeeded    atomic.Bool
}

func (h *hopeless) Record(slot int, o load.Observation) {
	h.Recorder.Record(slot, o)
	switch {
	case h.succeeded.Load():
	case o.Err == nil:
		h.succeeded.Store(true)
	case h.failed.Add(1) == int64(h.after):
		h.stop()
	case rpc.ErrorOf(o.Err).Code == rpc.DeadlineExceeded && h.late.Add(1) == int64(h.slots):
		h.stop()
	}
}
