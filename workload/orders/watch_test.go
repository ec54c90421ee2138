package orders

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload"
)

// watcher keeps what one call of WatchOrders gives.
type watcher struct {
	mu    sync.Mutex
	seen  []*Order
	at    []time.Time
	err   error
	ended bool
}

// watch calls until ctx ends; slow is how long each change is looked at.
func watch(ctx context.Context, h rpc.Handler, r *WatchOrdersRequest, slow time.Duration) *watcher {
	w := new(watcher)
	go func() {
		err := rpc.Call(ctx, h, WatchOrders, []any{r}, func(out any) error {
			w.mu.Lock()
			w.seen, w.at = append(w.seen, out.(*WatchOrdersResponse).Order), append(w.at, time.Now())
			w.mu.Unlock()
			if slow > 0 {
				time.Sleep(slow)
			}
			return nil
		})
		w.mu.Lock()
		defer w.mu.Unlock()
		w.err, w.ended = err, true
	}()
	return w
}

func (w *watcher) all() []*Order {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.seen)
}

// whole says what is missing or out of order in what a watcher saw: the last
// state of each order that changed after a revision, revisions rising.
func whole(t *testing.T, who string, s *memory.Store, seen []*Order, after int64) {
	t.Helper()
	last := map[string]*Order{}
	for i, o := range seen {
		if o.Revision <= after || i > 0 && o.Revision <= seen[i-1].Revision {
			t.Errorf("%s: revision %d comes after %d", who, o.Revision, max(after, seen[max(i-1, 0)].Revision))
		}
		last[o.OrderID] = o
	}
	kept, err := s.ChangesAfter(t.Context(), after, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range kept {
		if got := last[o.ID]; got == nil || got.Revision != o.Revision || got.Status != orderStatusOf[o.Status] {
			t.Errorf("%s: %s is at revision %d, and was seen as %+v", who, o.ID, o.Revision, got)
		}
	}
	if len(last) != len(kept) {
		t.Errorf("%s: saw %d orders; %d have changed", who, len(last), len(kept))
	}
}

func settleOrder(t *testing.T, s *memory.Store, id string) {
	t.Helper()
	if _, err := s.SettleOrder(t.Context(), id, store.Settlement{Status: store.OrderPaid, At: now()}); err != nil {
		t.Error(err)
	}
}

// Many watch while many write, here and in other processes; some leave and come
// back where they were, some are slow. None misses a change.
func TestWatchersMissNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		h, end := open(t, s, payments(t), nil)
		defer end()
		var writers sync.WaitGroup
		for n := range 4 {
			writers.Go(func() {
				random := rand.New(rand.NewPCG(uint64(n), 3))
				for i := range 1500 { // more than are kept at hand
					id := fmt.Sprint(n, "-", i)
					if n%2 == 0 {
						r := probeOrder(id, same)
						if _, err := rpc.Invoke(t.Context(), h, CreateOrder, &r); err != nil {
							t.Error(err)
						}
					} else {
						keep(t, s, id, "elsewhere")
						settleOrder(t, s, id)
					}
					time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
				}
			})
		}
		time.Sleep(500 * time.Millisecond)
		steady := watch(t.Context(), h, &WatchOrdersRequest{AfterRevision: new(int64)}, 0)
		slow := watch(t.Context(), h, &WatchOrdersRequest{AfterRevision: new(int64)}, 3*time.Millisecond)
		var pieces []*Order
		for range 20 {
			var after int64
			if len(pieces) > 0 {
				after = pieces[len(pieces)-1].Revision
			}
			ctx, leave := context.WithTimeout(t.Context(), 100*time.Millisecond)
			w := watch(ctx, h, &WatchOrdersRequest{AfterRevision: &after}, 0)
			<-ctx.Done()
			synctest.Wait()
			leave()
			pieces = append(pieces, w.all()...)
		}
		writers.Wait()
		time.Sleep(2 * time.Second)
		whole(t, "steady", s, steady.all(), 0)
		after := pieces[len(pieces)-1].Revision
		w := watch(t.Context(), h, &WatchOrdersRequest{AfterRevision: &after}, 0)
		time.Sleep(2 * time.Second)
		whole(t, "in pieces", s, append(pieces, w.all()...), 0)
		time.Sleep(time.Minute)
		whole(t, "slow", s, slow.all(), 0)
	})
}

// Changes come soon: this process's at once, others' within a second. Without a
// revision they begin at the call, and with a user they are that one's.
func TestWhenChangesCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		h, end := open(t, s, payments(t), nil)
		defer end()
		keep(t, s, "before", "ada")
		all := watch(t.Context(), h, &WatchOrdersRequest{}, 0)
		bobs := watch(t.Context(), h, &WatchOrdersRequest{UserName: "bob"}, 0)
		time.Sleep(10 * time.Second)
		if n := len(all.all()); n != 0 {
			t.Errorf("saw %d changes from before the call", n)
		}
		r := probeOrder("own", func(r *CreateOrderRequest) { r.UserName = "bob" })
		if _, err := rpc.Invoke(t.Context(), h, CreateOrder, &r); err != nil {
			t.Fatal(err)
		}
		own := time.Now()
		time.Sleep(20 * time.Millisecond)
		if seen := bobs.all(); len(seen) == 0 || seen[len(seen)-1].Status != OrderPaid || bobs.at[len(seen)-1].Sub(own) > 20*time.Millisecond {
			t.Errorf("20 ms after an own change: %+v", seen)
		}
		keep(t, s, "other", "ada")
		time.Sleep(1020 * time.Millisecond)
		seen := all.all()
		if last := seen[len(seen)-1]; last.OrderID != "other" || last.Status != OrderPending {
			t.Errorf("a second after another's change: %+v", last)
		}
		for _, o := range bobs.all() {
			if o.UserName != "bob" {
				t.Errorf("who watches bob's orders saw %+v", o)
			}
		}
	})
}

// A watch ends when its caller leaves, and when the service is to end, even if
// the caller takes nothing.
func TestHowWatchesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := memory.New()
		h, end := open(t, s, payments(t), nil)
		keep(t, s, "1", "ada")
		ctx, leave := context.WithCancel(t.Context())
		left := watch(ctx, h, &WatchOrdersRequest{AfterRevision: new(int64)}, 0)
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		late := watch(hurried, h, &WatchOrdersRequest{}, 0)
		stays := watch(t.Context(), h, &WatchOrdersRequest{}, 0)
		time.Sleep(2 * time.Second)
		leave()
		synctest.Wait()
		end()
		synctest.Wait()
		for name, c := range map[string]struct {
			w    *watcher
			want rpc.Code
		}{"left": {left, rpc.Canceled}, "late": {late, rpc.DeadlineExceeded}, "stays": {stays, rpc.Unavailable}} {
			if !c.w.ended || code(c.w.err) != c.want {
				t.Errorf("%s: ended %v with %v; want %v", name, c.w.ended, c.w.err, c.want)
			}
		}
		if len(left.all()) != 1 {
			t.Errorf("saw %d changes", len(left.all()))
		}
	})
}

// Who watches from now on has nobody read what was before.
func TestTheFirstWatchReadsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &counting{Store: memory.New()}
		for n := range 2000 {
			keep(t, s.Store, fmt.Sprint(n), "ada")
		}
		h, end := open(t, s, payments(t), nil)
		defer end()
		ctx, leave := context.WithTimeout(t.Context(), 5*time.Second)
		defer leave()
		w := watch(ctx, h, &WatchOrdersRequest{}, 0)
		<-ctx.Done()
		synctest.Wait()
		if n := s.read.Load(); n > 100 || len(w.all()) > 0 {
			t.Errorf("%d orders were read of the store, and %d seen", n, len(w.all()))
		}
	})
}

// counting counts the changed orders that it gives.
type counting struct {
	*memory.Store
	read atomic.Int64
}

func (s *counting) ChangesAfter(ctx context.Context, after int64, limit int) ([]store.Order, error) {
	out, err := s.Store.ChangesAfter(ctx, after, limit)
	s.read.Add(int64(len(out)))
	return out, err
}

func TestARevisionOfOtherOrdersIsOutOfRange(t *testing.T) {
	s := memory.New()
	h := handler(t, orderTier, s, workload.Answers{})
	keep(t, s, "1", "ada")
	after := int64(2)
	err := rpc.Call(t.Context(), h, WatchOrders, []any{&WatchOrdersRequest{AfterRevision: &after}}, func(any) error { return nil })
	if code(err) != rpc.OutOfRange {
		t.Errorf("gave %v", err)
	}
}

// sparse is a store of changes at some revisions, that grows at each question.
type sparse struct {
	store.OrderLists
	revisions []int64
	grow      func(last int64) []int64
	asked     int
}

func (s *sparse) ChangesAfter(_ context.Context, after int64, _ int) ([]store.Order, error) {
	s.asked++
	if s.grow != nil {
		s.revisions = append(s.revisions, s.grow(s.revisions[len(s.revisions)-1])...)
	}
	i, found := slices.BinarySearch(s.revisions, after)
	if found {
		i++
	}
	if i == len(s.revisions) {
		return nil, nil
	}
	return []store.Order{{Revision: s.revisions[i]}}, nil
}

func TestLatest(t *testing.T) {
	many := func(n int, step int64) (out []int64) {
		for i := range int64(n) {
			out = append(out, (i+1)*step)
		}
		return out
	}
	for name, c := range map[string]struct {
		revisions  []int64
		from, want int64
		most       int
	}{
		"none":                   {nil, 0, 0, 1},
		"one":                    {many(1, 1), 0, 1, 4},
		"known":                  {many(1000, 1), 1000, 1000, 1},
		"a million":              {many(1_000_000, 1), 0, 1_000_000, 42},
		"few and far between":    {many(10, 1<<40), 0, 10 << 40, 90},
		"as high as they can be": {[]int64{1, math.MaxInt64}, 0, math.MaxInt64, 130},
	} {
		s := &sparse{revisions: c.revisions}
		if got, err := latest(t.Context(), s, c.from); err != nil || got != c.want || s.asked > c.most {
			t.Errorf("%s: %d, %v after %d questions; want %d after %d at most", name, got, err, s.asked, c.want, c.most)
		}
	}
	// While others write fast it ends too, and gives nothing that is later than
	// the last, or long before the first question.
	s := &sparse{revisions: many(1000, 1)}
	s.grow = func(last int64) (out []int64) {
		for i := range int64(100) {
			out = append(out, last+i+1)
		}
		return out
	}
	got, err := latest(t.Context(), s, 0)
	if last := s.revisions[len(s.revisions)-1]; err != nil || got < 1000 || got > last || s.asked > 80 {
		t.Errorf("while others write: %d, %v after %d questions; 1000 was the last before, %d is now", got, err, s.asked, last)
	}
}
