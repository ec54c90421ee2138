package calibrate

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tare-bench/tare/load"
)

// stallQuantile is the latency that a share q of the calls of an open loop does
// not exceed, where the server stands still once for s of the time t: a call due
// u before its end takes u, so that a share (s - x)/t takes longer than x.
func stallQuantile(q, s, t float64) float64 { return max(0, s-(1-q)*t) }

// meanWaitMD1 is the mean wait in line before a server that takes d for each
// call, where calls arrive at random and keep it busy for a share rho of the
// time (Pollaczek and Khinchine).
func meanWaitMD1(rho, d float64) float64 { return rho * d / (2 * (1 - rho)) }

// responseMM1 is the quantile q of wait and service together where service times
// are exponential with mean d: the response is exponential too.
func responseMM1(q, rho, d float64) float64 { return -math.Log(1-q) * d / (1 - rho) }

// lindley is the mean wait in line of just these arrivals before a server that
// takes d for each (Lindley's recursion), of those due from a moment on.
func lindley(due []float64, d, from float64) float64 {
	var free, sum float64
	var n int
	for _, at := range due {
		if at >= from {
			sum += max(0, free-at)
			n++
		}
		free = max(free, at) + d
	}
	return sum / float64(n)
}

// typical looks among so many seeds for those n whose arrivals make the mean
// waits before servers of these utilisations nearest to what they are in the
// long run. A few seconds of arrivals taken at random miss it by a fifth, and
// the fault would be taken for the scale's.
func typical(n, among int, rate, long float64, rhos []float64) []uint64 {
	type candidate struct {
		seed uint64
		off  float64
	}
	all := make([]candidate, among)
	for i := range all {
		all[i].seed = uint64(i + 1)
		due := arrivals(rate, long, all[i].seed)
		from := counted * due[len(due)-1]
		for _, rho := range rhos {
			d := rho / rate
			off := math.Abs(lindley(due, d, from)/meanWaitMD1(rho, d) - 1)
			all[i].off = max(all[i].off, off)
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		switch {
		case a.off < b.off:
			return -1
		case a.off > b.off:
			return 1
		}
		return 0
	})
	var seeds []uint64
	for _, c := range all[:n] {
		seeds = append(seeds, c.seed)
	}
	return seeds
}

// counted is the share of a trial after which its calls count; those before
// fill the pipeline.
const counted = 0.1

func arrivals(rate, long float64, seed uint64) (due []float64) {
	for at := range load.Poisson(rate, seed) {
		if at.Seconds() >= long {
			break
		}
		due = append(due, at.Seconds())
	}
	return due
}

// erring is the share of runs of a stack against itself that end with a clear
// verdict by chance, as simulated: below the 5 % that Holm's procedure allows,
// since a verdict takes more than the margin too. Source: go test ./stats.
const erring = 0.033

// allowed is how many of n runs of a stack against itself may end with a clear
// verdict: so few that a right procedure errs more often in no more than 5 of 100
// calibrations.
func allowed(n int) int {
	k := 0
	for 1-(distuv.Binomial{N: float64(n), P: erring}).CDF(float64(k)) > 0.05 {
		k++
	}
	return k
}

// resolves is the smallest difference, as a share, that could be told from none
// in t seconds, where the half-width of the interval on the log scale was half
// in measured seconds: it falls with the square root of the time.
func resolves(half, measured, t float64) float64 {
	return math.Expm1(half * math.Sqrt(measured/t))
}
