package load_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tare-bench/tare/load"
)

func TestMonotonicNeverWakesEarly(t *testing.T) {
	clock := load.Monotonic()
	for _, wait := range []time.Duration{-time.Second, 0, time.Nanosecond, time.Millisecond, 12 * time.Millisecond} {
		until := clock.Now() + wait
		clock.WaitUntil(t.Context(), until)
		if now := clock.Now(); now < until {
			t.Errorf("woke %v early of a wait of %v", until-now, wait)
		}
	}
}

func TestMonotonicHeedsItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	load.Monotonic().WaitUntil(ctx, 24*time.Hour) // or the test times out
}

// BenchmarkWaitUntil says how late the clock wakes, and what a wait costs:
//
//	go test ./load -bench WaitUntil -benchtime 2000x
func BenchmarkWaitUntil(b *testing.B) {
	for _, gap := range []time.Duration{200 * time.Microsecond, time.Millisecond, 2 * time.Millisecond} {
		b.Run(gap.String(), func(b *testing.B) {
			benchmarkWait(b, gap)
		})
	}
}

func benchmarkWait(b *testing.B, gap time.Duration) {
	clock := load.Monotonic()
	late := make([]time.Duration, b.N)
	used, began := processorTime(b), clock.Now()
	for n := range late {
		due := began + time.Duration(n+1)*gap
		clock.WaitUntil(b.Context(), due)
		late[n] = clock.Now() - due
	}
	b.ReportMetric(float64(processorTime(b)-used)/float64(b.N)/1e3, "cpu-µs/op")
	slices.Sort(late)
	b.ReportMetric(float64(quantile(late, 0.50))/1e3, "late-p50-µs")
	b.ReportMetric(float64(quantile(late, 0.99))/1e3, "late-p99-µs")
}

func processorTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
