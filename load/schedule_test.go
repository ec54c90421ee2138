package load_test

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tare-bench/tare/load"
)

func first(n int, s load.Schedule) []time.Duration {
	var all []time.Duration
	for due := range s {
		if all = append(all, due); len(all) == n {
			break
		}
	}
	return all
}

func TestConstantAddsUpNoError(t *testing.T) {
	const n = 3_000_001
	got := first(n, load.Constant(3))
	for _, i := range []int{0, 1, 2, 3, n - 1} {
		want := time.Duration(math.Round(float64(i) * 1e9 / 3))
		if got[i] != want {
			t.Errorf("arrival %d at %v, want %v", i, got[i], want)
		}
	}
}

func TestPoissonGapsAreExponential(t *testing.T) {
	const n, rate = 200_000, 1000.0
	got := first(n, load.Poisson(rate, 42))
	if !slices.IsSorted(got) {
		t.Fatal("arrivals are not in order")
	}
	var sum, squares float64
	beyond := 0 // of two mean gaps: exp(-2)
	for i := 1; i < n; i++ {
		gap := (got[i] - got[i-1]).Seconds() * rate
		sum, squares = sum+gap, squares+gap*gap
		if gap > 2 {
			beyond++
		}
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"mean gap", sum / n, 1},
		{"mean square", squares / n, 2},
		{"share beyond two gaps", float64(beyond) / n, math.Exp(-2)},
	} {
		if math.Abs(c.got/c.want-1) > 0.02 {
			t.Errorf("%s is %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestPoissonTakesASeed(t *testing.T) {
	if !slices.Equal(first(100, load.Poisson(10, 1)), first(100, load.Poisson(10, 1))) {
		t.Error("equal seeds gave different arrivals")
	}
	if slices.Equal(first(100, load.Poisson(10, 1)), first(100, load.Poisson(10, 2))) {
		t.Error("different seeds gave equal arrivals")
	}
}

func TestPaceHandsOutEachCallOnce(t *testing.T) {
	const calls = 1_000_000
	for name, pace := range map[string]*load.Pace{
		"closed": load.ClosedPace(load.Extent{Exactly: calls}),
		"open":   load.OpenPace(load.Constant(calls), time.Second),
	} {
		var seen [calls]atomic.Int32
		var takers sync.WaitGroup
		for range 4 {
			takers.Go(func() {
				for {
					n, _, ok := pace.Take(0)
					if !ok {
						return
					}
					seen[n].Add(1)
				}
			})
		}
		takers.Wait()
		for n := range seen {
			if times := seen[n].Load(); times != 1 {
				t.Fatalf("%s: call %d was handed out %d times", name, n, times)
			}
		}
	}
}

func TestOpenPaceEnds(t *testing.T) {
	pace := load.OpenPace(load.Constant(10), time.Second)
	if _, _, ok := pace.Take(time.Second); ok {
		t.Error("a call was handed out after the trial's end")
	}
	if n, due, ok := pace.Take(time.Second - 1); n != 0 || due != 0 || !ok {
		t.Errorf("got call %d due %v, %v; want the first", n, due, ok)
	}
	if left := pace.NotStarted(1); left != 9 {
		t.Errorf("%d not started, want 9", left)
	}
}
