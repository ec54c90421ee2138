package load

import (
	"context"
	"sync"
	"time"
)

// Totals is what a loop did. A trial lasts until the last call begun in it has
// ended.
type Totals struct {
	Started    int
	NotStarted int           // arrivals of an open loop that found no slot before its end
	LastStart  time.Duration // since the loop began
	Elapsed    time.Duration // from the loop's begin to the last call's end
}

// Closed keeps inFlight calls going until extent is filled: each slot starts a
// call as soon as its last one has ended. When ctx ends it starts no more,
// waits for those in flight, and returns ctx's cause.
func Closed(ctx context.Context, clock Clock, inFlight int, extent Extent, op Op, rec Recorder) (Totals, error) {
	return Run(ctx, clock, inFlight, ClosedPace(extent), op, rec)
}

// Open starts calls when s says, for the time d, with at most limit in flight.
// An arrival that finds no free slot keeps its intended start and waits for
// one; none is skipped. When ctx ends it starts no more, waits for those in
// flight, and returns ctx's cause.
func Open(ctx context.Context, clock Clock, s Schedule, d time.Duration, limit int, op Op, rec Recorder) (Totals, error) {
	return Run(ctx, clock, limit, OpenPace(s, d), op, rec)
}

// Run makes the calls of pace in so many slots. Closed and Open say how.
func Run(ctx context.Context, clock Clock, slots int, pace *Pace, op Op, rec Recorder) (Totals, error) {
	l := loop{
		clock: clock, pace: pace, op: op, rec: rec,
		lead:  make(chan struct{}, 1),
		began: clock.Now(),
	}
	l.lead <- struct{}{}
	bySlot := make([]Totals, slots)
	var running sync.WaitGroup
	for slot := range slots {
		running.Go(func() { bySlot[slot] = l.run(ctx, slot) })
	}
	running.Wait()

	var t Totals
	for _, s := range bySlot {
		t.Started += s.Started
		t.LastStart = max(t.LastStart, s.LastStart)
		t.Elapsed = max(t.Elapsed, s.Elapsed)
	}
	t.NotStarted = pace.NotStarted(t.Started)
	return t, context.Cause(ctx)
}

type loop struct {
	clock Clock
	pace  *Pace
	op    Op
	rec   Recorder
	// lead holds a token for the one free slot that waits for the next arrival
	// of an open loop. When it is due that slot lets the next one lead, and
	// makes the call itself: no call is handed from one goroutine to another.
	// A channel serves those who wait in the order of their coming, so that
	// the slot that takes an arrival is the one that has been free longest.
	lead  chan struct{}
	began time.Duration
}

func (l *loop) now() time.Duration { return l.clock.Now() - l.began }

// run makes one slot's calls.
func (l *loop) run(ctx context.Context, slot int) Totals {
	var t Totals
	var free time.Duration // since when the slot is
	for {
		o, ok := l.take(ctx)
		if !ok {
			return t
		}
		o.Waited = free <= o.Intended
		o.Err = l.op(ctx, slot, o.N)
		o.End = l.now()
		l.rec.Record(slot, o)
		free = o.End
		t.Started++
		t.LastStart, t.Elapsed = o.Start, o.End
	}
}

// take returns when the slot is to start the call of the observation.
func (l *loop) take(ctx context.Context) (o Observation, ok bool) {
	if !l.pace.Open() {
		if ctx.Err() != nil {
			return o, false
		}
		o.N, o.Start, ok = l.pace.Take(l.now())
		o.Intended = o.Start
		return o, ok
	}
	<-l.lead
	o.N, o.Intended, ok = l.pace.Take(l.now())
	if ok {
		l.clock.WaitUntil(ctx, l.began+o.Intended)
		ok = ctx.Err() == nil
	}
	o.Start = l.now()
	l.lead <- struct{}{}
	return o, ok
}
