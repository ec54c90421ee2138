package hop

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/tare-bench/tare/rpc"
)

// attempt is one attempt at a unary call: its context, and its stream as the
// next service's handler sees it, in one allocation.
type attempt struct {
	context.Context
	due    time.Time
	cancel context.CancelFunc // nil where the caller's own deadline is the attempt's
	late   bool               // it was due before it ended; under the watch's lock

	in, out any
	taken   bool
	replies int
}

// attempt has m answered once, and reports the outcome. Where another attempt may
// follow, a caller's deadline is parted between them, so that one that hangs
// leaves room.
func (h *Hop) attempt(ctx context.Context, m *rpc.Method, in any, due time.Time, last bool, report func(error)) (out any, failed *rpc.Error) {
	left := time.Until(due)
	failed = errPanicked
	defer func() { report(h.tells(failed, left)) }()
	a := &attempt{Context: ctx, due: due, in: in}
	if !last && left > h.policy.Shortest {
		a.due = due.Add(max(left/2, h.policy.Shortest) - left)
	}
	if callers, ok := ctx.Deadline(); !ok || a.due.Before(callers) {
		a.Context, a.cancel = context.WithCancel(ctx)
		h.watch.add(a)
		defer h.watch.remove(a)
	}
	failed = rpc.ErrorOf(h.next.Handle(a, m, a))
	switch {
	case failed == nil && a.replies != 1:
		failed = rpc.Errorf(rpc.Internal, "%s gave %d replies to a unary call", m.Path(), a.replies)
	case failed != nil && failed.Code == rpc.Canceled && h.watch.wasLate(a):
		failed = rpc.ErrorOf(context.DeadlineExceeded)
	}
	return a.out, failed
}

// tells gives what an attempt says of the service: nothing, where its caller left
// or gave it too little time.
func (h *Hop) tells(failed *rpc.Error, left time.Duration) error {
	if failed != nil && failed.Code == rpc.DeadlineExceeded && left < h.policy.Shortest {
		return context.Canceled
	}
	return asError(failed)
}

// errPanicked is what became of an attempt that did not return.
var errPanicked = rpc.Errorf(rpc.Internal, "the attempt panicked")

// Deadline crosses to the next service, which stops working for an attempt that
// nobody waits for.
func (a *attempt) Deadline() (time.Time, bool) { return a.due, true }

func (a *attempt) Recv() (any, error) {
	if a.taken {
		return nil, io.EOF
	}
	a.taken = true
	return a.in, nil
}

func (a *attempt) Send(out any) error {
	a.out = out
	a.replies++
	return nil
}

// tick is how much later than due an attempt may end.
const tick = 50 * time.Millisecond

// watch ends attempts that are due. One timer for all, which runs only while there
// are any, spares each call a timer of its own and the allocations for it.
type watch struct {
	mu    sync.Mutex
	open  map[*attempt]struct{}
	armed bool
}

func (w *watch) add(a *attempt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == nil {
		w.open = make(map[*attempt]struct{})
	}
	w.open[a] = struct{}{}
	if !w.armed {
		w.armed = true
		time.AfterFunc(tick, w.look)
	}
}

func (w *watch) remove(a *attempt) {
	w.mu.Lock()
	delete(w.open, a)
	w.mu.Unlock()
	a.cancel()
}

func (w *watch) wasLate(a *attempt) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return a.late
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for a := range w.open {
		if !now.Before(a.due) {
			a.late = true
			delete(w.open, a)
			a.cancel()
		}
	}
	if w.armed = len(w.open) > 0; w.armed {
		time.AfterFunc(tick, w.look)
	}
}
