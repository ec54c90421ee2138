package calibrate

import (
	"fmt"
	"math"
	"slices"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
)

// differences are by how much a figure of one scenario exceeds that of another,
// round by round, the least first. A round that lacks either is left out.
func differences(run *record.Run, scenario, than int, of func(*record.Trial) float64) []float64 {
	other := make(map[int]float64)
	for _, t := range trialsOf(run, than) {
		other[t.Round] = of(&t)
	}
	var all []float64
	for _, t := range trialsOf(run, scenario) {
		if v, ok := other[t.Round]; ok {
			all = append(all, of(&t)-v)
		}
	}
	slices.Sort(all)
	return all
}

// middle is the median of what is sorted, which a stall of the machine in a few
// rounds does not move.
func middle(sorted []float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// spread says between which bounds the middle half of sorted times lies, each
// with so much added.
func spread(sorted []float64, add float64) string {
	n := len(sorted)
	if n == 0 {
		return "no round gave a result"
	}
	return fmt.Sprintf("half of the rounds: %s to %s",
		report.Figure(sorted[n/4]+add, "s"), report.Figure(sorted[n-1-n/4]+add, "s"))
}
