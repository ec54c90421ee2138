package stats

import (
	"math"

	"github.com/tare-bench/tare/record"
)

// Holm is tested by itself.
var Holm = holm

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
				v, _ := r.rate(m, 1)
				w, _ := r.rate(m, 0)
				s = append(s, math.Log(v/w))
			}
		}
	}
	i := s.interval(confidence)
	return i.Low, i.High
}
