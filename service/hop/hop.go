// Package hop is how one service calls another: with a deadline, again where an
// attempt could not be answered, and not at all for a while once the other is
// taken to be down. It repeats unary calls and takes it that they are idempotent,
// as calls are that bear an ID of the caller's choice. It knows only package
// rpc; whatever composes a service puts it around the connection to the next.
package hop

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/tare-bench/tare/rpc"
)

// Policy says how hard to try.
type Policy struct {
	Deadline time.Duration // of a call whose caller has set none
	Attempts int           // at a call, at most
	// Shortest is the least time to give an attempt that another may follow: it
	// gets half of what is left of the deadline, or all where that is shorter.
	Shortest time.Duration
	// Pause bounds the random pause before the second attempt; it doubles with
	// each. A pause longer than LongestPause is the caller's to make, if it likes.
	Pause, LongestPause time.Duration
	// Share is how many repetitions each answered call allows for, beside a few
	// to begin with, so that what is overloaded gets little more than before.
	Share   float64
	Breaker Breaker
}

// Breaker says when the next service is taken to be down.
type Breaker struct {
	Window  time.Duration // that attempts are counted over
	AtLeast int           // attempts must have ended in it,
	Share   float64       // and this share of them have failed
	Open    time.Duration // for which no call is made then
	Probes  int           // attempts that must succeed after that
}

// Default is for services on one network.
var Default = Policy{
	Deadline: 10 * time.Second, Attempts: 4, Shortest: 250 * time.Millisecond,
	Pause: 25 * time.Millisecond, LongestPause: time.Second, Share: 0.1,
	Breaker: Breaker{Window: 10 * time.Second, AtLeast: 20, Share: 0.5, Open: 2 * time.Second, Probes: 3},
}

// Hop is a handler that has calls answered by the next service.
type Hop struct {
	next    rpc.Handler
	policy  Policy
	budget  budget
	breaker *breaker
	watch   watch
}

// New gives a hop to the service that next reaches.
func New(next rpc.Handler, p Policy) *Hop {
	h := &Hop{next: next, policy: p, breaker: newBreaker(p.Breaker)}
	h.budget.begin(p.Share)
	return h
}

// Handle makes a call of the next service. A stream is handed on as it is.
func (h *Hop) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	if m.Kind != rpc.Unary {
		return h.next.Handle(ctx, m, s)
	}
	in, err := s.Recv()
	if err != nil {
		return err
	}
	out, err := h.call(ctx, m, in)
	if err != nil {
		return err
	}
	return s.Send(out)
}

// call makes attempts until one is answered, or none may follow.
func (h *Hop) call(ctx context.Context, m *rpc.Method, in any) (any, error) {
	due, ok := ctx.Deadline()
	if !ok {
		due = time.Now().Add(h.policy.Deadline)
	}
	var failed *rpc.Error
	for n := 1; ; n++ {
		report, err := h.breaker.Allow()
		if err != nil {
			if failed == nil {
				failed = h.breaker.refusal()
			}
			return nil, failed
		}
		last := n >= h.policy.Attempts || !h.budget.has()
		var out any
		if out, failed = h.attempt(ctx, m, in, due, last, report); !repeatable(failed) {
			if failed == nil || failed.Code != rpc.Canceled {
				h.budget.earn()
			}
			return out, asError(failed)
		}
		pause := h.pause(n, failed.RetryAfter)
		if last || pause > h.policy.LongestPause || pause >= time.Until(due) || !h.budget.spend() {
			return nil, failed
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// asError keeps a nil *rpc.Error from becoming an error that is not nil.
func asError(e *rpc.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// repeatable says that an attempt was not answered, or refused for now. Without
// a word on when to come again, RESOURCE_EXHAUSTED is for good: a message that is
// too long, say.
func repeatable(e *rpc.Error) bool {
	switch {
	case e == nil:
		return false
	case e.Code == rpc.Unavailable, e.Code == rpc.DeadlineExceeded:
		return true
	}
	return e.Code == rpc.ResourceExhausted && e.RetryAfter > 0
}

// pause is how long to wait after attempt n: a random time, so that callers who
// failed together do not come back together, and after RetryAfter.
// Source: M. Brooker, Exponential Backoff and Jitter (2015), "full jitter".
func (h *Hop) pause(n int, after time.Duration) time.Duration {
	bound := min(h.policy.Pause<<(n-1), h.policy.LongestPause)
	return after + rand.N(bound)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return rpc.ErrorOf(ctx.Err())
	}
}
