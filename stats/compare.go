package stats

import (
	"fmt"
	"math"
	"sort"
	"strconv"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tare-bench/tare/record"
)

// Verdict is what a comparison comes to.
type Verdict string

// The verdicts.
const (
	Higher   Verdict = "higher"
	Lower    Verdict = "lower"
	Same     Verdict = "same"     // the whole interval lies inside the margin
	Unclear  Verdict = "unclear"  // the interval is too wide to tell
	Withheld Verdict = "withheld" // a ratio would mean nothing: too many calls failed, or the driver or the offered rate was the limit
)

// mostErrors is the share of failed calls above which ratios are withheld.
const mostErrors = 0.001

// Comparison is one metric of one scenario against the baseline's.
type Comparison struct {
	Metric          *Metric
	Stack, Baseline string // scenarios' names
	Ratio           Interval
	// Confidence is that of Ratio by itself: the level at which the family's
	// correction judged it. It is 1 for an Exact metric.
	Confidence float64
	Verdict    Verdict
	Reason     string // of Withheld, or of Unclear without an interval
	Needs      *Needs // of Unclear with one
	blocks     sample
}

// Needs is what a clear verdict would take. Only more blocks make an interval
// narrower for sure: what varies from restart to restart stays, however long the
// blocks are.
type Needs struct {
	Detects float64 // the least difference that this run could tell from none, as a share
	Target  float64 // the margin
	// Blocks is how many blocks such as this run's would tell Target: a whole
	// number, 0 where none is sure to settle it.
	Blocks     float64
	UnderLoadS float64 // how long they would take under load, of all scenarios together
	ForS       float64 // the same as it is planned, profiled trials included; 0 where work ends a trial
	Calls      float64 // of each scenario in that many blocks; 0 where time ends a trial
}

// compare judges every metric of every scenario against the baseline.
func (a *arranged) compare(confidence float64) []Comparison {
	h := a.run.Header
	base := a.baseline()
	var out []Comparison
	for s := range h.Scenarios {
		if s == base {
			continue
		}
		for i := range Metrics {
			if m := &Metrics[i]; m.Judged(h) && a.applies(m, s) && a.applies(m, base) {
				out = append(out, a.open(m, s, base))
			}
		}
	}
	a.judge(out, 1-confidence)
	return out
}

// applies says whether a scenario tells a metric at all.
func (a *arranged) applies(m *Metric, scenario int) bool {
	tells := false
	a.each(scenario, func(t *record.Trial) {
		if m.Of == nil {
			tells = true
			return
		}
		num, den := m.Of(&a.run.Header, t)
		tells = tells || positive(den) && (num > 0 || m.Kind == Count)
	})
	return tells
}

// open gathers what the blocks say, and why they may not be judged.
func (a *arranged) open(m *Metric, scenario, base int) Comparison {
	h := a.run.Header
	c := Comparison{
		Metric: m, Stack: h.Scenarios[scenario].Name, Baseline: h.Scenarios[base].Name,
		Ratio: unknown, Verdict: Unclear,
	}
	for _, s := range []int{scenario, base} {
		if t := a.tally(s); t.share() > mostErrors {
			c.Verdict = Withheld
			c.Reason = tooManyFailed(t, h.Scenarios[s].Name)
			return c
		}
	}
	for _, s := range []int{scenario, base} {
		if c.Reason = a.spoilt(m, s); c.Reason != "" {
			c.Verdict = Withheld
			return c
		}
	}
	if m.Kind == Exact {
		c.Ratio, c.Confidence = exactly(a.whole(m, scenario)/a.whole(m, base)), 1
		return c
	}
	if m.Kind == Quantile {
		if c.Reason = a.tooFew(m, scenario, base); c.Reason != "" {
			return c
		}
	}
	c.blocks = a.ratios(m, scenario, base)
	if n := len(c.blocks); n < MinBlocks {
		c.Ratio = Interval{0, c.blocks.interval(0).Value, math.Inf(1)}
		c.Reason = fmt.Sprintf("a verdict takes %s; %s", Counted(MinBlocks, "block"), thereAre(n))
		if n == 0 {
			c.Ratio = unknown
		}
	}
	return c
}

func tooManyFailed(t Tally, scenario string) string {
	return fmt.Sprintf("%.2g %% of the calls of %s failed", 100*t.share(), scenario)
}

// tooFew says how many calls a quantile would take, where there are fewer.
func (a *arranged) tooFew(m *Metric, scenarios ...int) string {
	for _, s := range scenarios {
		// The tolerance is for quantiles that binary fractions do not hold.
		need := int64(math.Ceil(leastBeyond/(1-m.Q) - 1e-6))
		if n := a.fewest(s); n < need {
			return fmt.Sprintf("%s takes %s in each block; %s had %s in one",
				m.Label, Counted(int(need), "call"), a.run.Header.Scenarios[s].Name, Thousands(strconv.FormatInt(n, 10)))
		}
	}
	return ""
}

// whole is an Exact metric over the run.
func (a *arranged) whole(m *Metric, scenario int) float64 {
	var num, den float64
	a.each(scenario, func(t *record.Trial) {
		n, d := m.Of(&a.run.Header, t)
		num, den = num+n, den+d
	})
	return num / den
}

// judge gives every comparison that can have one its interval and its verdict.
// The family is corrected as a whole: the primary metric's comparisons share
// half of alpha, all others the other half.
func (a *arranged) judge(all []Comparison, alpha float64) {
	var family []*Comparison
	var primary []bool
	var p []float64
	for i := range all {
		c := &all[i]
		switch {
		case c.Verdict == Withheld || c.Reason != "":
		case c.Metric.Kind == Exact:
			c.Verdict = verdict(c.Ratio, a.run.Header.Margin)
		default:
			family, primary, p = append(family, c), append(primary, c.Metric.Primary), append(p, c.blocks.p())
		}
	}
	for i, level := range holm(p, weights(primary), alpha) {
		c := family[i]
		c.Confidence = 1 - level
		c.Ratio = c.blocks.interval(c.Confidence)
		c.Verdict = verdict(c.Ratio, a.run.Header.Margin)
		if c.Verdict == Unclear {
			c.Needs = a.needs(c.blocks, c.Confidence)
		}
	}
}

// verdict holds a ratio against the margin. The margin is the same on a log
// scale, so that the verdict does not depend on which stack is the baseline.
func verdict(r Interval, margin float64) Verdict {
	low, high := 1/(1+margin), 1+margin
	switch {
	case r.Low >= low && r.High <= high:
		return Same
	case r.Low > 1 && r.Value > high:
		return Higher
	case r.High < 1 && r.Value < low:
		return Lower
	}
	return Unclear
}

// needs says what would make an interval as narrow as the margin.
func (a *arranged) needs(blocks sample, confidence float64) *Needs {
	h := a.run.Header
	half := blocks.halfWidth(confidence)
	n := &Needs{Detects: math.Expm1(half), Target: h.Margin}
	wanted := math.Log1p(h.Margin)
	if wanted <= 0 || !(half > wanted) || math.IsInf(half, 1) {
		return n
	}
	n.Blocks = blocks.wouldTake(wanted, confidence)
	n.UnderLoadS = n.Blocks * a.underLoad() / float64(len(a.blocks))
	if h.Calls == 0 {
		n.ForS = n.Blocks * float64(len(h.Scenarios)) * (float64(h.Rounds)*h.SliceS + h.PhasesS)
	}
	if h.Blocks > 0 {
		n.Calls = math.Ceil(n.Blocks * float64(h.Calls) / float64(h.Blocks))
	}
	return n
}

// wouldTake is how many blocks that vary as these do would make the half-width
// of the interval no more than wanted: it falls with the square root of their
// number, and with Student's quantile for it.
func (s sample) wouldTake(wanted, confidence float64) float64 {
	_, e := s.mean()
	sd := e * math.Sqrt(float64(len(s)))
	const most = 1000 // from there on Student's quantile is the normal one, within 0.3 %
	n := sort.Search(most, func(n int) bool {
		return n >= len(s) && student(n).Quantile(0.5+confidence/2)*sd/math.Sqrt(float64(n)) <= wanted
	})
	if n < most {
		return float64(n)
	}
	return math.Ceil(math.Pow(distuv.UnitNormal.Quantile(0.5+confidence/2)*sd/wanted, 2))
}

// underLoad is the time of the blocks' trials together, in seconds.
func (a *arranged) underLoad() float64 {
	var sum float64
	for _, b := range a.blocks {
		for _, r := range b.rounds {
			for _, t := range r {
				if t != nil {
					sum += t.Load.Seconds
				}
			}
		}
	}
	return sum
}

func thereAre(n int) string {
	if n == 1 {
		return "there is 1"
	}
	return "there are " + strconv.Itoa(n)
}

// baseline is the number of the scenario that others are compared with.
func (a *arranged) baseline() int {
	for i, s := range a.run.Header.Scenarios {
		if s.Name == a.run.Header.Baseline {
			return i
		}
	}
	return 0 // record.Read lets no other run through
}
