package stats

import (
	"math"

	"github.com/tare-bench/tare/record"
)

// A run that looks at its intervals and stops when they are narrow stops sooner
// where they are narrow by chance; so its intervals are those of 99 %, which
// then still cover the truth in more than 95 % of runs.
const (
	usualConfidence   = 0.95
	stoppedConfidence = 0.99
)

func confidence(h record.Header) float64 {
	if h.Precision > 0 {
		return stoppedConfidence
	}
	return usualConfidence
}

// Precise says whether every headline interval, as Analyze will print it, is
// within ± precision, a share. Ask it at the end of a block. It is false with
// fewer than MinBlocks blocks, and where a headline has no interval.
func Precise(run *record.Run, precision float64) bool {
	a, err := arrange(run)
	if err != nil || len(a.blocks) < MinBlocks {
		return false
	}
	asked := 0
	for _, c := range a.compare(stoppedConfidence) {
		if c.Metric.Headline(run.Header) {
			asked++
			if !within(c.Ratio, precision) {
				return false
			}
		}
	}
	if len(run.Header.Scenarios) > 1 {
		return asked > 0
	}
	for i := range Metrics {
		m := &Metrics[i]
		if m.Headline(run.Header) && a.applies(m, 0) {
			asked++
			if !within(a.levels(m, 0).interval(stoppedConfidence), precision) {
				return false
			}
		}
	}
	return asked > 0
}

func within(i Interval, precision float64) bool {
	return i.Bounded() && math.Log(i.High/i.Value) <= math.Log1p(precision)
}
