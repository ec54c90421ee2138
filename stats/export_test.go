package stats

import (
	"math"

	"github.com/tare-bench/tare/record"
)

// Judge and Holm are tested by themselves.
var (
	Judge = verdict
	Holm  = holm
)

// Pooled gives the interval of scenario 1 over scenario 0, over blocks as
// Analyze has it, or over rounds, as it must not.
func Pooled(run *record.Run, metric string, confidence float64, blocks bool) (low, high float64) {
	a, err := arrange(run)
	if err != nil {
		panic(err)
	}
	m := Find(metric)
	s := a.ratios(m, 1, 0)
	if !blocks {
		s = nil
		for _, b := range a.blocks {
			for _, r := range b.rounds {
				v, _ := b.rate(r, m, 1)
				w, _ := b.rate(r, m, 0)
				s = append(s, math.Log(v/w))
			}
		}
	}
	i := s.interval(confidence)
	return i.Low, i.High
}

// Over is the interval over blocks' logarithms, and the p of no difference.
func Over(logs []float64, confidence float64) (Interval, float64) {
	return sample(logs).interval(confidence), sample(logs).p()
}

// WouldTake is how many blocks such as these make an interval so narrow.
func WouldTake(logs []float64, wanted, confidence float64) float64 {
	return sample(logs).wouldTake(wanted, confidence)
}

// PairedInterval is a plain interval of one scenario's metric over another's.
func PairedInterval(run *record.Run, metric string, scenario, over int, confidence float64) (low, high float64) {
	a, err := arrange(run)
	if err != nil {
		panic(err)
	}
	i := a.ratios(Find(metric), scenario, over).interval(confidence)
	return i.Low, i.High
}

// OverRuns is the interval of the newer run's blocks over the older's, and the p
// of no difference.
func OverRuns(older, newer []float64, confidence float64) (Interval, float64) {
	both := pair{older, newer}
	return both.interval(confidence), both.p()
}
