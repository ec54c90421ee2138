package load_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/tare-bench/tare/load"
)

type nothing struct{}

func (nothing) Record(int, load.Observation) {}

func null(context.Context, int, int) error { return nil }

// The cost of the loops themselves: a call that does nothing.
func BenchmarkClosed(b *testing.B) {
	for _, slots := range []int{1, 50} {
		b.Run(fmt.Sprintf("slots=%d", slots), func(b *testing.B) {
			b.ReportAllocs()
			_, err := load.Closed(b.Context(), load.Monotonic(), slots, load.Extent{Exactly: b.N}, null, nothing{})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

// Arrivals that are all due at once: no waiting, the hand-over alone.
func BenchmarkOpen(b *testing.B) {
	for _, slots := range []int{1, 50} {
		b.Run(fmt.Sprintf("slots=%d", slots), func(b *testing.B) {
			at0 := func(yield func(time.Duration) bool) {
				for range b.N {
					if !yield(0) {
						return
					}
				}
			}
			pace := load.OpenPace(at0, time.Hour)
			b.ReportAllocs()
			b.ResetTimer()
			if _, err := load.Run(b.Context(), load.Monotonic(), slots, pace, null, nothing{}); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func TestCallsAllocateNothing(t *testing.T) {
	const calls = 2000
	clock := load.Monotonic()
	for name, pace := range map[string]func() *load.Pace{
		"closed": func() *load.Pace { return load.ClosedPace(load.Extent{Exactly: calls}) },
		"open":   func() *load.Pace { return load.OpenPace(load.Constant(1e6), calls*time.Microsecond) },
	} {
		perTrial := testing.AllocsPerRun(5, func() {
			if _, err := load.Run(t.Context(), clock, 4, pace(), null, nothing{}); err != nil {
				t.Fatal(err)
			}
		})
		// What a trial allocates as a whole: goroutines, the arrivals' slice.
		if perTrial > 60 {
			t.Errorf("%s: %v allocations in a trial of %d calls", name, perTrial, calls)
		}
	}
}
