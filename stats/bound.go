package stats

import (
	"cmp"
	"fmt"
	"slices"
)

// Bound is a condition that a run is to fail on, such as "the 99th percentile of
// a stack is above 20 ms".
type Bound struct {
	Stack   string // a scenario's name
	Over    string // the scenario that a ratio is taken to; "" for a level
	Metric  *Metric
	Compare Comparator
	Limit   float64 // in base units, or a ratio
	Shown   string  // Limit as it was typed, with its unit
	Typed   string  // the whole
}

// Comparator is on which side of its limit a bound is broken.
type Comparator string

// The comparators.
const (
	Below   Comparator = "<"
	AtMost  Comparator = "<="
	Above   Comparator = ">"
	AtLeast Comparator = ">="
)

// Comparators are all of them; a longer one stands before its own beginning.
var Comparators = []Comparator{AtMost, AtLeast, Below, Above}

// hits says whether v lies on the side on which the bound is broken.
func (c Comparator) hits(v, limit float64) bool {
	switch n := cmp.Compare(v, limit); c {
	case Below:
		return n < 0
	case AtMost:
		return n <= 0
	case Above:
		return n > 0
	default:
		return n >= 0
	}
}

// State is what became of a bound.
type State string

// The states of bounds.
const (
	Kept          State = "kept"        // the whole interval lies on the good side
	Broken        State = "broken"      // the whole interval lies on the other
	NotDecided    State = "not decided" // the interval holds the limit
	BoundUnknown  State = "unknown"     // there is no interval
	BoundWithheld State = "withheld"    // too many calls failed
)

// Outcome is a bound, judged.
type Outcome struct {
	Bound
	Interval Interval // that it was judged on
	State    State
	Reason   string // of BoundUnknown and BoundWithheld
}

// Check judges bounds on intervals: those that the analysis holds where it has
// them, so that a bound never disagrees with a table; others are plain ones. What
// is counted is judged on its value over the whole run. A bound on a scenario
// that the run does not have is an error.
func (a *Analysis) Check(bounds []Bound) ([]Outcome, error) {
	all, err := arrange(a.Run)
	if err != nil {
		return nil, err
	}
	var out []Outcome
	for _, b := range bounds {
		o := Outcome{Bound: b, Interval: unknown}
		stack, over := a.scenario(b.Stack), a.scenario(b.Over)
		switch {
		case stack < 0, b.Over != "" && over < 0:
			return nil, fmt.Errorf("judge %s: the run has no such stack", b.Typed)
		case b.Over == "":
			a.checkLevel(&o, all, stack)
		default:
			a.checkRatio(&o, all, stack, over)
		}
		out = append(out, o)
	}
	return out, nil
}

// scenario is the number of a scenario by its name, or -1.
func (a *Analysis) scenario(name string) int {
	return slices.IndexFunc(a.Scenarios, func(s Scenario) bool { return s.Name == name })
}

func (a *Analysis) checkLevel(o *Outcome, all *arranged, scenario int) {
	s := a.Scenarios[scenario]
	if o.Metric.Kind != Count {
		if v, why := all.unfit(o.Metric, scenario, MinBlocks); v == Withheld {
			o.State, o.Reason = BoundWithheld, why
			return
		}
	}
	i := slices.IndexFunc(s.Levels, func(l Level) bool { return l.Metric == o.Metric })
	if i < 0 {
		o.State, o.Reason = BoundUnknown, fmt.Sprintf("this run does not tell the %s of %s", o.Metric.In(a.Run.Header).Noun, s.Name)
		return
	}
	o.Interval = s.Levels[i].Interval
	if o.Metric.Kind == Exact { // its range is of blocks, and no doubt
		o.Interval = exactly(o.Interval.Value)
	}
	o.judge(s.Levels[i].Reason)
}

func (a *Analysis) checkRatio(o *Outcome, all *arranged, stack, over int) {
	c, told := a.told(o.Bound)
	if !told {
		if !all.applies(o.Metric, stack) || !all.applies(o.Metric, over) {
			o.State, o.Reason = BoundUnknown, fmt.Sprintf("this run does not tell the %s of both", o.Metric.In(a.Run.Header).Noun)
			return
		}
		c = all.open(o.Metric, stack, over)
		if c.Reason == "" && o.Metric.Kind != Exact {
			c.Ratio = c.blocks.interval(a.Confidence)
		}
	}
	if c.Verdict == Withheld {
		o.State, o.Reason = BoundWithheld, c.Reason
		return
	}
	o.Interval = c.Ratio
	o.judge(c.Reason)
}

// told finds the comparison that answers a bound, turned about where the bound
// has its baseline first.
func (a *Analysis) told(b Bound) (Comparison, bool) {
	for _, c := range a.Comparisons {
		switch {
		case c.Metric != b.Metric:
		case c.Stack == b.Stack && c.Baseline == b.Over:
			return c, true
		case c.Stack == b.Over && c.Baseline == b.Stack:
			c.Ratio = Interval{1 / c.Ratio.High, 1 / c.Ratio.Value, 1 / c.Ratio.Low}
			return c, true
		}
	}
	return Comparison{}, false
}

// judge holds the interval against the limit.
func (o *Outcome) judge(reason string) {
	i := o.Interval
	sure := i.Known() && (i.Bounded() || i.Low == i.High)
	low, high := o.Compare.hits(i.Low, o.Limit), o.Compare.hits(i.High, o.Limit)
	switch {
	case reason != "":
		o.State, o.Reason = BoundUnknown, reason
	case !sure:
		o.State, o.Reason = BoundUnknown, "too few blocks gave a result for an interval"
	case low && high:
		o.State = Broken
	case !low && !high:
		o.State = Kept
	default:
		o.State = NotDecided
	}
}
