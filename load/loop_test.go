package load_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tare-bench/tare/load"
)

// tape keeps every observation.
type tape struct {
	mu  sync.Mutex
	all []load.Observation
}

func (t *tape) Record(_ int, o load.Observation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, o)
}

// latencies gives time from the intended start, in order.
func (t *tape) latencies() []time.Duration {
	var all []time.Duration
	for _, o := range t.all {
		all = append(all, o.End-o.Intended)
	}
	slices.Sort(all)
	return all
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(math.Ceil(q*float64(len(sorted))))-1]
}

func mean(all []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(len(all))
}

func takes(d time.Duration) load.Op {
	return func(context.Context, int, int) error {
		time.Sleep(d)
		return nil
	}
}

// stall is a server that answers at once, but not from 2 s to 3 s.
func stall(clock load.Clock) load.Op {
	return func(ctx context.Context, _, _ int) error {
		if now := clock.Now(); now >= 2*time.Second && now < 3*time.Second {
			clock.WaitUntil(ctx, 3*time.Second)
		}
		return nil
	}
}

func TestOpenLoopChargesAStallToEveryCallDueDuringIt(t *testing.T) {
	for _, slots := range []int{1, 10, 1000} {
		synctest.Test(t, func(t *testing.T) {
			clock, got := load.Timers(), new(tape)
			totals, err := load.Open(t.Context(), clock, load.Constant(500), 8*time.Second, slots, stall(clock), got)
			if err != nil || totals.Started != 4000 || totals.NotStarted != 0 {
				t.Fatalf("%d slots: %+v, %v; want 4000 calls", slots, totals, err)
			}
			sorted := got.latencies()
			// A call waits longer than x for a share (1 s - x) / 8 s; arrivals
			// are 2 ms apart.
			for q, want := range map[float64]time.Duration{
				0.50: 0, 0.90: 200 * time.Millisecond, 0.95: 600 * time.Millisecond, 0.99: 920 * time.Millisecond, 1: time.Second,
			} {
				if l := quantile(sorted, q); (l - want).Abs() > 2*time.Millisecond {
					t.Errorf("%d slots: quantile %v is %v, want %v", slots, q, l, want)
				}
			}
		})
	}
}

func TestClosedLoopHidesAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots = 10
		clock, got := load.Timers(), new(tape)
		op := func(ctx context.Context, slot, n int) error {
			time.Sleep(2 * time.Millisecond)
			return stall(clock)(ctx, slot, n)
		}
		if _, err := load.Closed(t.Context(), clock, slots, load.Extent{For: 8 * time.Second}, op, got); err != nil {
			t.Fatal(err)
		}
		long := 0
		for _, l := range got.latencies() {
			if l > 2*time.Millisecond {
				long++
			}
		}
		if long != slots {
			t.Errorf("%d calls were long, want as many as are in flight, %d", long, slots)
		}
	})
}

// queue is one server, first come first served.
type queue struct {
	mu    sync.Mutex
	clock load.Clock
	free  time.Duration
}

func (q *queue) serve(ctx context.Context, d time.Duration) {
	q.mu.Lock()
	q.free = max(q.free, q.clock.Now()) + d
	done := q.free
	q.mu.Unlock()
	q.clock.WaitUntil(ctx, done)
}

// Mean wait of M/D/1: rho d / (2 (1 - rho)), Pollaczek and Khinchine.
func TestPoissonArrivalsQueueAsTheoryHasIt(t *testing.T) {
	const d = time.Millisecond
	for _, rho := range []float64{0.3, 0.5, 0.7, 0.8} {
		for _, slots := range []int{1, 500} { // the queue is before the loop's slot, or in the server
			synctest.Test(t, func(t *testing.T) {
				clock, got := load.Timers(), new(tape)
				server := queue{clock: clock}
				op := func(ctx context.Context, _, _ int) error {
					server.serve(ctx, d)
					return nil
				}
				arrivals := load.Poisson(rho/d.Seconds(), 1)
				if _, err := load.Open(t.Context(), clock, arrivals, 100*time.Second, slots, op, got); err != nil {
					t.Fatal(err)
				}
				wait := (mean(got.latencies()) - d).Seconds()
				want := rho * d.Seconds() / (2 * (1 - rho))
				if math.Abs(wait/want-1) > 0.1 {
					t.Errorf("load %v, %d slots: mean wait %v s, want %v s", rho, slots, wait, want)
				}
			})
		}
	}
}

func TestLittlesLaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots = 16
		clock, got := load.Timers(), new(tape)
		op := func(_ context.Context, slot, n int) error {
			time.Sleep(time.Duration(1+(slot*7+n*13)%11) * time.Millisecond)
			return nil
		}
		totals, err := load.Closed(t.Context(), clock, slots, load.Extent{For: 20 * time.Second}, op, got)
		if err != nil {
			t.Fatal(err)
		}
		inFlight := float64(totals.Started) / totals.Elapsed.Seconds() * mean(got.latencies()).Seconds()
		if math.Abs(inFlight/slots-1) > 0.01 {
			t.Errorf("throughput times mean latency is %v, want %d in flight", inFlight, slots)
		}
	})
}

func TestExtent(t *testing.T) {
	for _, c := range []struct {
		about  string
		extent load.Extent
		calls  int
		lasts  time.Duration
	}{
		{"time alone", load.Extent{For: time.Second}, 300, time.Second},
		{"time, the last call runs over it", load.Extent{For: 995 * time.Millisecond}, 300, time.Second},
		{"more calls than the time has", load.Extent{For: 10 * time.Millisecond, AtLeast: 7}, 7, 30 * time.Millisecond},
		{"fewer calls than the time has", load.Extent{For: time.Second, AtLeast: 7}, 300, time.Second},
		{"exact work", load.Extent{For: time.Second, AtLeast: 50, Exactly: 20}, 20, 70 * time.Millisecond},
	} {
		t.Run(c.about, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				got := new(tape)
				totals, err := load.Closed(t.Context(), load.Timers(), 3, c.extent, takes(10*time.Millisecond), got)
				if err != nil || totals.Started != c.calls || totals.Elapsed != c.lasts || totals.NotStarted != 0 {
					t.Fatalf("got %+v, %v; want %d calls in %v", totals, err, c.calls, c.lasts)
				}
				if want := c.lasts - 10*time.Millisecond; totals.LastStart != want {
					t.Errorf("last start at %v, want %v", totals.LastStart, want)
				}
				seen := make([]int, c.calls)
				for _, o := range got.all {
					seen[o.N]++
				}
				for n, times := range seen {
					if times != 1 {
						t.Errorf("call %d was made %d times", n, times)
					}
				}
			})
		})
	}
}

func TestArrivalsThatFindNoSlotAreNotSkipped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := new(tape)
		// 10 arrivals a second, 4 calls a second: after 10 s 40 have begun.
		totals, err := load.Open(t.Context(), load.Timers(), load.Constant(10), 10*time.Second, 1, takes(250*time.Millisecond), got)
		if err != nil || totals.Started != 40 || totals.NotStarted != 60 {
			t.Fatalf("got %+v, %v; want 40 started and 60 not", totals, err)
		}
		for n, o := range got.all {
			want := load.Observation{
				N: n, Intended: time.Duration(n) * 100 * time.Millisecond,
				Start: time.Duration(n) * 250 * time.Millisecond, End: time.Duration(n+1) * 250 * time.Millisecond,
				Waited: n == 0,
			}
			if o != want {
				t.Fatalf("got %+v, want %+v", o, want)
			}
		}
	})
}

func TestGeneratorsOwnLatenessIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := new(tape)
		clock := lateClock{load.Timers(), 3 * time.Millisecond}
		if _, err := load.Open(t.Context(), clock, load.Constant(100), time.Second, 4, takes(0), got); err != nil {
			t.Fatal(err)
		}
		for _, o := range got.all[1:] {
			if !o.Waited || o.Start-o.Intended != 3*time.Millisecond {
				t.Fatalf("got %+v, want a call whose slot was free and which began 3 ms late", o)
			}
		}
	})
}

// lateClock wakes late.
type lateClock struct {
	load.Clock
	late time.Duration
}

func (c lateClock) WaitUntil(ctx context.Context, t time.Duration) {
	if t > c.Now() {
		c.Clock.WaitUntil(ctx, t+c.late)
	}
}

func TestEndOfContextEndsALoop(t *testing.T) {
	over := errors.New("over")
	loops := map[string]func(context.Context, load.Op, load.Recorder) (load.Totals, error){
		"closed": func(ctx context.Context, op load.Op, rec load.Recorder) (load.Totals, error) {
			return load.Closed(ctx, load.Timers(), 5, load.Extent{For: time.Hour}, op, rec)
		},
		"open": func(ctx context.Context, op load.Op, rec load.Recorder) (load.Totals, error) {
			return load.Open(ctx, load.Timers(), load.Constant(1), time.Hour, 5, op, rec)
		},
	}
	for name, loop := range loops {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(4500*time.Millisecond, func() { cancel(over) })
				running := 0
				var mu sync.Mutex
				op := func(ctx context.Context, _, _ int) error {
					mu.Lock()
					running++
					mu.Unlock()
					<-ctx.Done()
					time.Sleep(time.Second)
					mu.Lock()
					running--
					mu.Unlock()
					return ctx.Err()
				}
				got := new(tape)
				totals, err := loop(ctx, op, got)
				if !errors.Is(err, over) || running != 0 || totals.Started != 5 || len(got.all) != 5 {
					t.Fatalf("got %+v, %v with %d running; want 5 ended calls and the cause", totals, err, running)
				}
			})
		})
	}
}

func TestSlotsAreNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var busy [8]sync.Mutex
		op := func(_ context.Context, slot, _ int) error {
			if !busy[slot].TryLock() {
				t.Error("two calls in one slot")
				return nil
			}
			time.Sleep(7 * time.Millisecond)
			busy[slot].Unlock()
			return nil
		}
		if _, err := load.Open(t.Context(), load.Timers(), load.Poisson(1000, 3), 10*time.Second, len(busy), op, new(tape)); err != nil {
			t.Fatal(err)
		}
	})
}
