package stats

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tare-bench/tare/record"
)

// Changes compare two runs of the same question at different times.
type Changes struct {
	Old, New   *Analysis
	Confidence float64 // of all verdicts together
	Margin     float64
	Stacks     []string // in both runs, in the order of the newer
	OnlyOld    []string // in one of them alone
	OnlyNew    []string
	Differs    []Difference // of what the two ran on
	All        []Change     // by stack, then metric
}

// Change is a metric of a stack in the newer run over the older.
type Change struct {
	Metric   *Metric
	Stack    string
	Old, New Interval // levels, as each run's own report has them
	Ratio    Interval
	// Confidence is that of Ratio by itself, as in Comparison.
	Confidence float64
	Verdict    Verdict
	Reason     string // of Withheld, or of Unclear without an interval
	blocks     pair
}

// Difference is something that two runs do not share.
type Difference struct{ Name, Old, New string }

// IncomparableError says that two runs asked different questions.
type IncomparableError struct{ Differs []Difference }

func (e *IncomparableError) Error() string {
	var each []string
	for _, d := range e.Differs {
		each = append(each, fmt.Sprintf("%s (%s and %s)", d.Name, orNone(d.Old), orNone(d.New)))
	}
	return "the two runs differ in " + strings.Join(each, ", ")
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// CompareRuns compares a newer run with an older one, by levels: their rounds are
// not paired, so that an interval holds what varies between blocks of both, and
// not what varies between their times and machines. Runs that asked different
// questions are an *IncomparableError.
func CompareRuns(older, newer *record.Run) (*Changes, error) {
	if unlike := differing(questions(older.Header), questions(newer.Header)); len(unlike) > 0 {
		return nil, &IncomparableError{unlike}
	}
	a, err := arrange(older)
	if err != nil {
		return nil, fmt.Errorf("older run: %w", err)
	}
	b, err := arrange(newer)
	if err != nil {
		return nil, fmt.Errorf("newer run: %w", err)
	}
	out := &Changes{
		Confidence: max(confidence(older.Header), confidence(newer.Header)),
		Margin:     newer.Header.Margin,
		Differs:    differing(settings(older.Header), settings(newer.Header)),
	}
	if out.Old, err = Analyze(older); err != nil {
		return nil, err
	}
	if out.New, err = Analyze(newer); err != nil {
		return nil, err
	}
	for n, s := range newer.Header.Scenarios {
		o := out.Old.scenario(s.Name)
		if o < 0 {
			out.OnlyNew = append(out.OnlyNew, s.Name)
			continue
		}
		out.Stacks = append(out.Stacks, s.Name)
		for i := range Metrics {
			m := &Metrics[i]
			if m.Judged(newer.Header) && m.Judged(older.Header) && a.applies(m, o) && b.applies(m, n) {
				out.All = append(out.All, openChange(m, a, o, b, n))
			}
		}
	}
	for _, s := range older.Header.Scenarios {
		if out.New.scenario(s.Name) < 0 {
			out.OnlyOld = append(out.OnlyOld, s.Name)
		}
	}
	out.judge()
	return out, nil
}

// questions are what two runs must share for their levels to be of one thing.
func questions(h record.Header) map[string]string {
	q := map[string]string{
		"workload": h.Workload, "leg": h.Leg, "path": strings.Join(h.Path, "; "), "store": h.Store, "driver": h.Driver,
		"in flight": fmt.Sprint(h.InFlight), "rate": fmt.Sprint(h.Rate), "arrivals": h.Arrivals,
		"timeout": fmt.Sprintf("%g s", h.TimeoutS), "calls of each stack": fmt.Sprint(h.Calls),
	}
	if h.Item != "" {
		q["counted by"] = h.Item
	}
	if h.Workers > 0 {
		q["workers"] = fmt.Sprint(h.Workers)
	}
	if h.Link != nil {
		q["link"] = LinkWords(h.Link)
	}
	for name, value := range h.Params {
		q["param "+name] = value
	}
	return q
}

// settings are what two runs may differ in: when, where and with what they ran.
func settings(h record.Header) map[string]string {
	s := map[string]string{
		"tare": h.Version, "started": h.Started.Format(time.RFC3339), "margin": fmt.Sprint(h.Margin),
		"blocks": fmt.Sprint(h.Blocks), "seed": fmt.Sprint(h.Seed), "slice": fmt.Sprintf("%g s", h.SliceS),
		"phases": fmt.Sprintf("%g s", h.PhasesS),
	}
	if h.Admit > 0 {
		s["admitted at once"] = fmt.Sprint(h.Admit)
	}
	if len(h.Pinned.Driver) > 0 {
		s["driver's processors"], s["servers' processors"] = fmt.Sprint(h.Pinned.Driver), fmt.Sprint(h.Pinned.Servers)
	}
	maps.Copy(s, h.Environment)
	maps.Copy(s, h.Libraries)
	return s
}

func differing(a, b map[string]string) (out []Difference) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a[name] != b[name] {
			out = append(out, Difference{name, a[name], b[name]})
		}
	}
	return out
}

// openChange gathers what the blocks of both say, and why they may not be judged.
func openChange(m *Metric, older *arranged, o int, newer *arranged, n int) Change {
	name := newer.run.Header.Scenarios[n].Name
	c := Change{Metric: m, Stack: name, Ratio: unknown, Verdict: Unclear}
	both := []struct {
		of       string
		a        *arranged
		scenario int
		level    *Interval
		blocks   *sample
	}{{"older", older, o, &c.Old, &c.blocks.old}, {"newer", newer, n, &c.New, &c.blocks.new}}
	for _, r := range both {
		*r.level = r.a.levelOf(m, r.scenario, confidence(r.a.run.Header)).Interval
		*r.blocks = r.a.levels(m, r.scenario)
	}
	for _, r := range both {
		if c.Verdict, c.Reason = r.a.unfit(m, r.scenario, len(*r.blocks)); c.Reason != "" {
			c.Reason += " (" + r.of + " run)"
			return c
		}
	}
	if m.Kind == Exact {
		c.Ratio, c.Confidence = exactly(newer.whole(m, n)/older.whole(m, o)), 1
	}
	return c
}

// unfit says why a run's metric of a scenario may not be judged; "" where it may.
func (a *arranged) unfit(m *Metric, scenario, blocks int) (Verdict, string) {
	if t := a.tally(scenario); t.share() > mostErrors {
		return Withheld, tooManyFailed(t, a.run.Header.Scenarios[scenario].Name)
	}
	if why := a.spoilt(m, scenario); why != "" {
		return Withheld, why
	}
	if m.Kind == Quantile {
		if why := a.tooFew(m, scenario); why != "" {
			return Unclear, why
		}
	}
	if m.Kind != Exact && blocks < MinBlocks {
		return Unclear, fmt.Sprintf("a verdict takes %s; %s", Counted(MinBlocks, "block"), thereAre(blocks))
	}
	return Unclear, ""
}

// judge gives every change that can have one its interval and its verdict, all of
// them one family, as those of a run are.
func (c *Changes) judge() {
	var family []*Change
	var primary []bool
	var p []float64
	for i := range c.All {
		switch one := &c.All[i]; {
		case one.Reason != "":
		case one.Metric.Kind == Exact:
			one.Verdict = verdict(one.Ratio, c.Margin)
		default:
			family, primary, p = append(family, one), append(primary, one.Metric.Primary), append(p, one.blocks.p())
		}
	}
	for i, level := range holm(p, weights(primary), 1-c.Confidence) {
		one := family[i]
		one.Confidence = 1 - level
		one.Ratio = one.blocks.interval(one.Confidence)
		one.Verdict = verdict(one.Ratio, c.Margin)
	}
}

// pair is what the blocks of two runs say of one quantity. Their variances need
// not be equal.
//
// Source: B. L. Welch, The generalization of 'Student's' problem when several
// different population variances are involved, Biometrika 34 (1947).
type pair struct{ old, new sample }

// difference of the means, its standard error, and its degrees of freedom by
// Welch and Satterthwaite; both samples have two blocks or more.
func (p pair) difference() (mean, standardError, freedom float64) {
	a, ea := p.old.mean()
	b, eb := p.new.mean()
	va, vb := ea*ea, eb*eb
	freedom = (va + vb) * (va + vb) / (va*va/float64(len(p.old)-1) + vb*vb/float64(len(p.new)-1))
	return b - a, math.Sqrt(va + vb), freedom
}

// interval of the ratio of the geometric means.
func (p pair) interval(confidence float64) Interval {
	mean, e, freedom := p.difference()
	if e == 0 {
		return exactly(math.Exp(mean))
	}
	half := distuv.StudentsT{Sigma: 1, Nu: freedom}.Quantile(0.5+confidence/2) * e
	return Interval{math.Exp(mean - half), math.Exp(mean), math.Exp(mean + half)}
}

// p is the probability of so great a difference, either side, if there were none.
func (p pair) p() float64 {
	mean, e, freedom := p.difference()
	switch {
	case e > 0:
		return 2 * distuv.StudentsT{Sigma: 1, Nu: freedom}.Survival(math.Abs(mean/e))
	case mean == 0:
		return 1
	}
	return 0
}
