package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

// New says what an analysis means.
func New(a *stats.Analysis) *Document {
	h := a.Run.Header
	d := &Document{
		Format: Format, Workload: h.Workload, Leg: h.Leg, Path: orEmpty(h.Path), Baseline: h.Baseline,
		Conditions: conditions(a), Metrics: metrics(a), LeftOut: orEmpty(h.LeftOut), Libraries: named(h.Libraries),
		Comparisons: []Comparison{}, Factorial: []Factorial{}, Bounds: []Bound{},
		Warnings: findings(a.Warnings), Notes: findings(a.Notes),
	}
	for _, s := range a.Scenarios {
		d.Scenarios = append(d.Scenarios, scenario(s, h))
	}
	for _, c := range a.Comparisons {
		d.Comparisons = append(d.Comparisons, comparison(c, a))
	}
	for _, f := range a.Factorials {
		d.Factorial = append(d.Factorial, factorial(f, a))
	}
	d.Summary = summary(a, d)
	return d
}

// Find gives the comparison of a stack's metric, or nil.
func (d *Document) Find(stack, metric string) *Comparison {
	for i := range d.Comparisons {
		if c := &d.Comparisons[i]; c.Stack == stack && c.Metric == metric {
			return c
		}
	}
	return nil
}

// summary gives the sentences that a reader takes away: the headline verdicts
// of each stack, then what makes the difference; of a stack alone its levels.
func summary(a *stats.Analysis, d *Document) []string {
	if len(d.Scenarios) == 1 {
		return append(d.alone(), d.divisions()...)
	}
	out := []string{}
	for i, c := range a.Comparisons {
		if c.Metric.Headline(a.Run.Header) {
			out = append(out, d.Comparisons[i].Sentence)
		}
	}
	for _, f := range d.Factorial {
		out = append(out, f.Sentence)
	}
	return append(out, d.divisions()...)
}

func conditions(a *stats.Analysis) Conditions {
	h := a.Run.Header
	c := Conditions{
		Version: h.Version, Started: h.Started, Command: orEmpty(h.Command), Params: named(h.Params),
		Store: h.Store, Link: h.Link, Driver: h.Driver, InFlight: h.InFlight, Rate: h.Rate, Arrivals: h.Arrivals,
		TimeoutS: h.TimeoutS, SliceS: h.SliceS, Calls: h.Calls, Precision: h.Precision, Margin: h.Margin,
		Seed: h.Seed, Blocks: a.Blocks, BlocksShort: a.ShortBlocks, BlocksPlanned: h.Blocks, Rounds: a.Rounds,
		UnderLoadS: a.UnderLoadS, Confidence: a.Confidence, End: "cut short", Environment: named(h.Environment),
	}
	c.RateShare, c.Pilot, c.Sweep = h.RateShare, h.Pilot, h.Sweep
	c.Item, c.Streams, c.Workers = h.Item, h.Streams, h.Workers
	for _, s := range a.Scenarios {
		if s.Name == h.Baseline && h.Item != "" {
			c.ItemsPerCall = s.Tally.PerCall()
		}
	}
	if e := a.Run.End; e != nil {
		c.End, c.Error, c.Machine, c.LinkUsed = e.Reason, e.Error, e.Machine, e.Link
	}
	c.Load, c.Design = load(h)+c.bulk()+c.servers(), design(a)
	c.Holds = holding("This", h.Workload, named(h.Params), h.Store, c.Load, named(h.Environment))
	return c
}

// metrics lists those that some scenario tells.
func metrics(a *stats.Analysis) []Metric {
	out := []Metric{}
	for i := range stats.Metrics {
		m := &stats.Metrics[i]
		told := slices.ContainsFunc(a.Scenarios, func(s stats.Scenario) bool {
			return slices.ContainsFunc(s.Levels, func(l stats.Level) bool { return l.Metric == m })
		})
		if told {
			told := m.In(a.Run.Header)
			out = append(out, Metric{m.Name, told.Unit, m.Label, told.Per, m.HigherBetter, m.Headline(a.Run.Header), m.ByCall})
		}
	}
	return out
}

func scenario(s stats.Scenario, h record.Header) Scenario {
	out := Scenario{
		Stack: s.Name, Factors: s.Factors, Metrics: make(map[string]Value), Phases: phases(s.Phases),
		Calls: s.Tally.Calls, Items: s.Tally.Items, NotStarted: s.Tally.NotStarted, Errors: s.Tally.Errors, FirstError: s.Tally.FirstError,
		Trials: s.Tally.Trials, TrialsFailed: s.Tally.Failed, RoundsLeftOut: s.LeftOut,
	}
	for _, l := range s.Levels {
		v := value(l.Interval, l.Metric.In(h).Unit)
		v.Reason = l.Reason
		v.Exact = slices.Contains([]stats.Kind{stats.Exact, stats.Count, stats.Extreme}, l.Metric.Kind)
		out.Metrics[l.Metric.Name] = v
	}
	for _, p := range s.Tiers {
		tier := Tier{Name: p.Name, CPU: value(p.Interval, "s"), Varied: p.Varied}
		if p.Ratio.Known() {
			ratio := value(p.Ratio, "")
			tier.Ratio = &ratio
		}
		out.Tiers = append(out.Tiers, tier)
	}
	return out
}

func comparison(c stats.Comparison, a *stats.Analysis) Comparison {
	out := Comparison{
		Metric: c.Metric.Name, Stack: c.Stack, Baseline: c.Baseline, Ratio: value(c.Ratio, ""),
		Confidence: c.Confidence, Verdict: string(c.Verdict), Sentence: sentence(c, a),
	}
	out.Ratio.Exact = c.Metric.Kind == stats.Exact
	out.Ratio.Reason = c.Reason
	if !c.Metric.Neutral && (c.Verdict == stats.Higher || c.Verdict == stats.Lower) {
		better := (c.Verdict == stats.Higher) == c.Metric.HigherBetter
		out.Better = &better
	}
	if n := c.Needs; n != nil {
		out.Needs = &Needs{Detects: finite(n.Detects), Target: n.Target}
		if n.Blocks > 0 {
			out.Needs.Blocks, out.Needs.UnderLoadS, out.Needs.Flags = finite(n.Blocks), finite(n.UnderLoadS), flags(n)
		}
	}
	return out
}

func factorial(f stats.Factorial, a *stats.Analysis) Factorial {
	out := Factorial{
		Metric: f.Metric.Name, Stack: f.Stack, Baseline: f.Baseline, Ratio: value(f.Whole, ""),
		Sentence: parts(f, f.Metric.In(a.Run.Header).Noun, a.Run.Header.Margin, a.Confidence),
	}
	for _, e := range f.Effects {
		out.Effects = append(out.Effects, Effect{e.Factor, e.From, e.To, e.With, value(e.Ratio, "")})
	}
	if f.Interaction.Known() {
		v := value(f.Interaction, "")
		out.Interaction = &v
	}
	return out
}

// value leaves out what is not known, so that no NaN and no infinity reaches a
// format that has none.
func value(i stats.Interval, unit string) Value {
	v := Value{Unit: unit, Value: finite(i.Value)}
	if i.Bounded() || i.Low == i.High {
		v.Low, v.High = finite(i.Low), finite(i.High)
	}
	return v
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func findings(all []stats.Finding) []Finding {
	out := []Finding{}
	for _, f := range all {
		out = append(out, Finding(f))
	}
	return out
}

func named(m map[string]string) []NamedString {
	out := []NamedString{}
	for k, v := range m {
		out = append(out, NamedString{k, v})
	}
	slices.SortFunc(out, func(a, b NamedString) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// orEmpty makes an absent list an empty one, for JSON.
func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
