package stats

import (
	"cmp"
	"slices"
)

// holm gives, for a family of tests, the level at which each was judged: test i
// is rejected where p[i] <= level[i]. All of them together reject a true
// hypothesis with a probability of at most alpha. The weights say how much of
// alpha each may take at first; what a rejected test leaves goes to the others.
//
// Source: S. Holm, A simple sequentially rejective multiple test procedure,
// Scandinavian Journal of Statistics 6 (1979), section 4: with weights, the
// tests are taken in the order of p/weight, and test i of those that remain, R,
// is held against alpha·weight[i] / Σ(R) weight.
func holm(p, weight []float64, alpha float64) (level []float64) {
	order := make([]int, len(p))
	var remaining float64
	for i := range order {
		order[i] = i
		remaining += weight[i]
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i]/weight[i], p[j]/weight[j]) })
	level = make([]float64, len(p))
	stopped := false
	for _, i := range order {
		level[i] = alpha * weight[i] / remaining
		stopped = stopped || p[i] > level[i]
		if !stopped {
			remaining -= weight[i]
		}
	}
	return level
}

// weights are what each test of a family may take of its error: those of the
// primary metric share one half, all others the other.
func weights(primary []bool) []float64 {
	count := make(map[bool]float64)
	for _, is := range primary {
		count[is]++
	}
	out := make([]float64, len(primary))
	for i, is := range primary {
		out[i] = 0.5 / count[is]
	}
	return out
}
