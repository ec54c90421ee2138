package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is an estimate. Where nothing bounds it, Low is 0 and High infinite;
// where there is no estimate at all, all three are NaN.
type Interval struct{ Low, Value, High float64 }

var unknown = Interval{math.NaN(), math.NaN(), math.NaN()}

// Known says whether there is an estimate.
func (i Interval) Known() bool { return !math.IsNaN(i.Value) }

// Bounded says whether there is an interval around it.
func (i Interval) Bounded() bool { return i.Known() && i.Low > 0 && !math.IsInf(i.High, 1) }

// exactly is what needs no estimating.
func exactly(v float64) Interval { return Interval{v, v, v} }

// sample is what the blocks say of one quantity, one logarithm each.
type sample []float64

// mean and its standard error. The error is NaN for fewer than two blocks.
func (s sample) mean() (mean, standardError float64) {
	mean, sd := stat.MeanStdDev(s, nil)
	return mean, sd / math.Sqrt(float64(len(s)))
}

// halfWidth is half the t interval of the mean, on the log scale.
func (s sample) halfWidth(confidence float64) float64 {
	_, e := s.mean()
	if len(s) < 2 {
		return math.Inf(1)
	}
	return student(len(s)).Quantile(0.5+confidence/2) * e
}

// interval is the geometric mean with its t interval over blocks (Student):
// what varies from restart to restart is in it, as is all that varies faster.
func (s sample) interval(confidence float64) Interval {
	if len(s) == 0 {
		return unknown
	}
	mean, _ := s.mean()
	half := s.halfWidth(confidence)
	return Interval{math.Exp(mean - half), math.Exp(mean), math.Exp(mean + half)}
}

// p is the probability of so great a mean, either side, if the truth were 0. It
// is 1 for fewer than two blocks.
func (s sample) p() float64 {
	if len(s) < 2 {
		return 1
	}
	mean, e := s.mean()
	if e == 0 {
		if mean == 0 {
			return 1
		}
		return 0
	}
	return 2 * student(len(s)).Survival(math.Abs(mean/e))
}

func student(n int) distuv.StudentsT {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}
}
