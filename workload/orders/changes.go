package orders

import (
	"context"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tare-bench/tare/store"
)

// How changes are followed.
const (
	lookEvery   = time.Second           // for changes that another process made
	gather      = 10 * time.Millisecond // after one look, before the next: changes come together
	changeBatch = 256                   // read from the store at once
	recentMost  = 1024                  // changes that are kept at hand, at least
)

// changes follows a store's orders for all who watch. One goroutine reads what
// is new and keeps the last of it at hand; who is further behind reads the store,
// at its own pace.
type changes struct {
	lists store.OrderLists
	log   *slog.Logger
	wake  chan struct{} // holds one: look now

	watchers atomic.Int64

	mu     sync.Mutex
	floor  int64         // recent holds all changes after this revision,
	recent []store.Order // the lowest first,
	last   int64         // and up to this one
	news   chan struct{} // closed when recent grows
}

func newChanges(lists store.OrderLists, log *slog.Logger) *changes {
	return &changes{lists: lists, log: log, wake: make(chan struct{}, 1), news: make(chan struct{})}
}

// tell says that this process has made a change.
func (c *changes) tell() {
	if c.watchers.Load() == 0 {
		return
	}
	select {
	case c.wake <- struct{}{}:
	default: // somebody has said so, and nobody has looked yet
	}
}

// follow reads what is new until ctx ends. It reads nothing while nobody watches.
func (c *changes) follow(ctx context.Context) {
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		if c.watchers.Load() > 0 {
			if err := c.look(ctx); err != nil && ctx.Err() == nil {
				c.log.Warn("look for changed orders", "error", err)
			}
		}
		pause.Reset(gather)
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		pause.Reset(lookEvery - gather)
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		case <-pause.C:
		}
	}
}

// look reads all that is new.
func (c *changes) look(ctx context.Context) error {
	for {
		c.mu.Lock()
		after := c.last
		c.mu.Unlock()
		batch, err := c.lists.ChangesAfter(ctx, after, changeBatch)
		if err != nil {
			return err
		}
		c.add(batch)
		if len(batch) < changeBatch {
			return nil
		}
	}
}

func (c *changes) add(batch []store.Order) {
	if len(batch) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent = append(c.recent, batch...)
	c.last = batch[len(batch)-1].Revision
	if extra := len(c.recent) - recentMost; extra > recentMost { // so that few are copied for each that comes
		c.floor = c.recent[extra-1].Revision
		c.recent = append(make([]store.Order, 0, 2*recentMost+changeBatch), c.recent[extra:]...)
	}
	close(c.news)
	c.news = make(chan struct{})
}

// since gives the changes after a revision that are at hand, and what tells of
// more; known is false where some are not.
func (c *changes) since(revision int64) (batch []store.Order, news <-chan struct{}, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if revision < c.floor {
		return nil, c.news, false
	}
	first := len(c.recent)
	for first > 0 && c.recent[first-1].Revision > revision {
		first--
	}
	return c.recent[first:], c.news, true
}

// join counts one more who watches, and gives what latest does.
func (c *changes) join(ctx context.Context) (last int64, err error) {
	c.mu.Lock()
	from := c.last
	c.mu.Unlock()
	if last, err = latest(ctx, c.lists, from); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watchers.Add(1) == 1 && last > c.last { // nobody has looked for a while
		c.floor, c.last, c.recent = last, last, nil
	}
	return last, nil
}

// latest gives a revision, from or above: what is above it was changed after
// latest was called, and what is changed after latest returned is above it. It
// asks at most twice for each binary digit, and often once: so stores need answer
// no question that nobody else asks.
func latest(ctx context.Context, lists store.OrderLists, from int64) (int64, error) {
	low, high := from, from // a change was made at low; none was above high
	for step := int64(1); ; step *= 2 {
		found, err := lowestAbove(ctx, lists, high)
		if err != nil {
			return 0, err
		}
		if found == 0 {
			break
		}
		low, high = found, found
		if step < math.MaxInt64-found {
			high += step
		} else {
			high = math.MaxInt64
		}
	}
	for low < high {
		middle := low + (high-low)/2
		found, err := lowestAbove(ctx, lists, middle)
		switch {
		case err != nil:
			return 0, err
		case found == 0:
			high = middle
		default:
			low = found
		}
	}
	return low, nil
}

// lowestAbove gives the lowest revision above one, or 0.
func lowestAbove(ctx context.Context, lists store.OrderLists, revision int64) (int64, error) {
	found, err := lists.ChangesAfter(ctx, revision, 1)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	return found[0].Revision, nil
}
