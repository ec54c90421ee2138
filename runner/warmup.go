package runner

import (
	"context"
	"math"
	"time"

	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// A warm-up loads slices until the rate of the last few has stopped rising. Across
// a link they are longer, so that each holds calls begun and ended in it.
const (
	warmUpAtMost = 3 * time.Second
	warmUpSlices = 20 // that there is time for, however long they are
	warmUpSlice  = 100 * time.Millisecond
	warmUpTrips  = 4    // round trips of the link that a slice lasts, at least
	levelOver    = 3    // slices, or as long as they are to last, against as much before them
	levelWithin  = 0.05 // relative; a fall is not a sign of warming up, but of a busy machine
)

// warmUp loads until the contender's rate is level, and reads what that used,
// so that the first trial is not charged with it. Its calls enter no result.
func (c *contender) warmUp(ctx context.Context, p *plan.Plan, block int) (record.Warmup, error) {
	slice, atMost := warmUpTimes(p.RoundTrip())
	var w record.Warmup
	var rates []float64
	for n := 0; !w.Level && w.Seconds < atMost.Seconds(); n++ {
		t := ask(p, plan.Trial{Duration: slice}, warmUpSeed(block, n))
		if t.Rate > 0 { // in a closed loop, whose rate tells how warm the processes are
			t.Rate, t.InFlight = 0, plan.Saturation(t.InFlight, p.Admit)
		}
		observed, err := c.load(ctx, t)
		if !c.goOn(err) {
			return w, err
		}
		if err != nil {
			continue
		}
		w.Calls += observed.Calls
		w.Seconds += observed.Seconds
		rates = append(rates, float64(observed.Calls)/observed.Seconds)
		w.Level = level(rates, judged(slice, w.Seconds/float64(len(rates))))
	}
	_, err := c.used(ctx)
	return w, err
}

// warmUpTimes are how long a slice is, and how long the warm-up may last.
func warmUpTimes(roundTrip time.Duration) (slice, atMost time.Duration) {
	slice = max(warmUpSlice, warmUpTrips*roundTrip)
	return slice, max(warmUpAtMost, warmUpSlices*slice)
}

// judged is how many slices a rate is judged over, which last so many seconds each:
// fewer where calls are longer than a slice, and draw it out to their length.
func judged(slice time.Duration, lasted float64) int {
	return min(levelOver, max(1, int(math.Ceil(levelOver*slice.Seconds()/lasted))))
}

// level says whether the mean of the last slices, over so many, is no longer above
// that of those before them.
// The very first slice opens the connections and is left out.
func level(rates []float64, over int) bool {
	n := len(rates)
	if n < 1+2*over {
		return false
	}
	before, last := mean(rates[n-2*over:n-over]), mean(rates[n-over:])
	return last <= (1+levelWithin)*before
}

func mean(xs []float64) float64 {
	var sum float64
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// warmUpSeed gives seeds that no trial has: small numbers, where a plan's are
// drawn from all that JSON carries exactly.
func warmUpSeed(block, n int) uint64 { return uint64(block)<<16 | uint64(n) }

// ask turns a planned trial into what a driver is asked.
func ask(p *plan.Plan, t plan.Trial, seed uint64) peer.Trial {
	return peer.Trial{
		Seed: seed, InFlight: p.InFlight,
		DurationS: t.Duration.Seconds(), AtLeast: t.AtLeast, Calls: t.Calls,
		Rate: p.Rate, Arrivals: p.Arrivals,
	}
}
