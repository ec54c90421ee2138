// Package admission bounds the work that a service has taken on. What is beyond
// the bound is refused at once, and is told when to come again, so that those
// who are admitted still get their answers in time; without it overload would
// end in time-outs for all. It knows only package rpc; whatever composes a
// service puts it around all else, so that a refusal costs nothing.
package admission

import (
	"container/list"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tare-bench/tare/rpc"
)

// Limits say how much is taken on.
type Limits struct {
	AtWork  int           // unary calls worked for at once; at least 1
	Waiting int           // unary calls that may wait for others to end
	Wait    time.Duration // that none waits longer than
	Streams int           // calls open at once of methods that stream, which are counted apart
}

// Default is for a service whose calls wait for others more than they work, as
// those do that pay over a network or keep things on a disk: beyond a thousand
// more callers get no more done. A closed loop of a thousand is never refused.
var Default = Limits{AtWork: 1024, Waiting: 1024, Wait: time.Second, Streams: 1024}

// Admitting is Default with so many calls at work, and as many that wait; 0 leaves
// it as it is.
func Admitting(calls int) Limits {
	l := Default
	if calls > 0 {
		l.AtWork, l.Waiting = calls, calls
	}
	return l
}

// Bounds of what a refusal says of when to come again.
const (
	soonest = 50 * time.Millisecond
	latest  = 5 * time.Second
)

// Gate is a handler that admits calls to another. A call must not pass one gate
// twice: those that wait within could be waited for by those before it.
type Gate struct {
	limits  Limits
	within  rpc.Handler
	streams atomic.Int64

	mu      sync.Mutex
	working int
	queue   list.List     // of *waiter
	mean    time.Duration // that a call is at work, over the last few dozen; 0 before the first
	last    *rpc.Error    // that full gave
}

// waiter is a call that waits. The gate's lock guards all but turn.
type waiter struct {
	turn    chan struct{} // closed when hasTurn is set
	hasTurn bool
	place   *list.Element // in the queue, until hasTurn
}

// New gives a gate to h.
func New(h rpc.Handler, l Limits) (*Gate, error) {
	if l.AtWork < 1 || l.Waiting < 0 || l.Wait < 0 || l.Streams < 0 {
		return nil, fmt.Errorf("admission limits %+v: at least one call must be admitted, and none is below zero", l)
	}
	return &Gate{limits: l, within: h}, nil
}

// Handle has the call answered within, or refuses it with RESOURCE_EXHAUSTED and
// RetryAfter. It receives nothing of a call that it refuses.
func (g *Gate) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	if m.Kind != rpc.Unary {
		return g.stream(ctx, m, s)
	}
	if err := g.enter(ctx); err != nil {
		return err
	}
	began := time.Now()
	defer func() { g.leave(time.Since(began)) }()
	return g.within.Handle(ctx, m, s)
}

// Refuse implements rpc.Refuser: while all places are taken, a unary call is
// refused before anything of it is read.
func (g *Gate) Refuse(m *rpc.Method) error {
	if m.Kind != rpc.Unary {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.working < g.limits.AtWork || g.queue.Len() < g.limits.Waiting {
		return nil
	}
	return g.full()
}

// stream admits a call that may stay open as long as its caller likes: one
// that waited for a place would wait for as long, and one that took a unary
// call's would keep it.
func (g *Gate) stream(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	defer g.streams.Add(-1)
	if g.streams.Add(1) > int64(g.limits.Streams) {
		return refusal(fmt.Sprintf("too many streams: %d are open", g.limits.Streams), latest)
	}
	return g.within.Handle(ctx, m, s)
}

// enter takes a place at work, and waits for one where it must.
func (g *Gate) enter(ctx context.Context) error {
	g.mu.Lock()
	if g.working < g.limits.AtWork { // then nobody waits
		g.working++
		g.mu.Unlock()
		return nil
	}
	waiting := g.queue.Len()
	wait := g.estimate(waiting + 1)
	due, hurried := ctx.Deadline()
	var err error
	switch {
	case waiting >= g.limits.Waiting:
		err = g.full()
	case hurried && wait > time.Until(due):
		err = refusal("too many calls: the deadline passes before this one's turn", wait)
	default:
		w := &waiter{turn: make(chan struct{})}
		w.place = g.queue.PushBack(w)
		g.mu.Unlock()
		return g.await(ctx, w)
	}
	g.mu.Unlock()
	return err
}

// full is why a call is refused while all places are taken. It is the same error
// for as long as it says the same, so that a server need not encode it anew.
func (g *Gate) full() *rpc.Error {
	const step = 10 * time.Millisecond // finer than any caller waits
	wait := g.estimate(g.queue.Len() + 1)
	e := refusal("too many calls: all places are taken, at work and waiting", (wait+step-1).Truncate(step))
	if g.last == nil || g.last.RetryAfter != e.RetryAfter {
		g.last = e
	}
	return g.last
}

// await waits for w's turn. Turns are in the order of arrival: as no call waits
// long, each still has a caller when its turn comes. To take the newest first
// would serve no more of them, and let the unlucky ones wait in vain.
func (g *Gate) await(ctx context.Context, w *waiter) error {
	patience := time.NewTimer(g.limits.Wait)
	defer patience.Stop()
	select {
	case <-w.turn:
	case <-ctx.Done():
	case <-patience.C:
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.hasTurn {
		if err := ctx.Err(); err != nil { // nobody is left to work for
			g.handOver()
			return rpc.ErrorOf(err)
		}
		return nil
	}
	g.queue.Remove(w.place)
	if err := ctx.Err(); err != nil {
		return rpc.ErrorOf(err)
	}
	return refusal("too many calls: this one waited for as long as any may", g.estimate(g.queue.Len()+1))
}

// leave gives up a place after a time at work.
func (g *Gate) leave(took time.Duration) {
	const few = 32 // calls that the mean looks back on, about
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.mean == 0 {
		g.mean = took
	} else {
		g.mean += (took - g.mean) / few
	}
	g.handOver()
}

// handOver gives a place to the first who waits.
func (g *Gate) handOver() {
	first := g.queue.Front()
	if first == nil {
		g.working--
		return
	}
	w := g.queue.Remove(first).(*waiter)
	w.hasTurn = true
	close(w.turn)
}

// estimate is how long it takes until so many calls have ended, all places at
// work being taken: they end at the rate of places over mean time at work.
func (g *Gate) estimate(calls int) time.Duration {
	return time.Duration(float64(calls) * float64(g.mean) / float64(g.limits.AtWork))
}

func refusal(why string, after time.Duration) *rpc.Error {
	return &rpc.Error{Code: rpc.ResourceExhausted, Message: why, RetryAfter: min(max(after, soonest), latest)}
}
