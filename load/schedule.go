package load

import (
	"iter"
	"math/rand/v2"
	"time"
)

// Schedule gives when calls are due, in time since the trial began, in order.
// It may be without end.
type Schedule = iter.Seq[time.Duration]

// Constant has calls due evenly, rate in a second, the first at once. Each is
// computed from its number, so that no rounding adds up.
func Constant(rate float64) Schedule {
	return func(yield func(time.Duration) bool) {
		for n := 0; ; n++ {
			if !yield(seconds(float64(n) / rate)) {
				return
			}
		}
	}
}

// Poisson has calls due at random and independently of one another, rate in a
// second in the mean: gaps are exponential. Equal seeds give equal arrivals,
// and different rates of one seed the same arrivals at another scale. Time is
// summed in mean gaps, and rounded to nanoseconds only where it is given out.
func Poisson(rate float64, seed uint64) Schedule {
	return func(yield func(time.Duration) bool) {
		random := rand.New(rand.NewPCG(seed, 0))
		for gaps := random.ExpFloat64(); ; gaps += random.ExpFloat64() {
			if !yield(seconds(gaps / rate)) {
				return
			}
		}
	}
}

func seconds(s float64) time.Duration { return time.Duration(s*float64(time.Second) + 0.5) }
