package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

// stretch is points at which a stack's metric has one verdict: neighbours where the
// axis has an order, and else all that have it.
type stretch struct {
	verdict stats.Verdict
	points  []int // ascending, one at least
}

func (s stretch) from() int { return s.points[0] }
func (s stretch) to() int   { return s.points[len(s.points)-1] }

// undecided is what stands for unclear where there is no interval to judge by.
const undecided stats.Verdict = "no verdict"

// ordered says whether the values ascend, so that something is between two of them.
func (s *Sweep) ordered() bool { return s.Points[0].Document.Conditions.Sweep.Ordered }

// summarize says in sentences how each headline verdict goes along the axis, and
// finds where it turns.
func (s *Sweep) summarize() {
	s.Summary = []string{}
	for _, stack := range s.Stacks {
		for _, shown := range s.metrics() {
			all := s.stretches(stack, shown.Name)
			if len(all) == 0 {
				continue
			}
			turns := s.turns(stack, shown.Name, all)
			s.Crossovers = append(s.Crossovers, turns...)
			if shown.Headline {
				s.Summary = append(s.Summary, s.along(stack, s.worded(shown.Name), all, turns))
			}
		}
	}
}

// worded is a metric in the words of the points' runs.
func (s *Sweep) worded(metric string) stats.Metric {
	c := s.Points[0].Document.Conditions
	return stats.Find(metric).In(record.Header{Item: c.Item, Streams: c.Streams})
}

// stretches parts the points by verdict. There is none where no point compares.
func (s *Sweep) stretches(stack, metric string) []stretch {
	var out []stretch
	for i, p := range s.Points {
		c := p.Document.Find(stack, metric)
		if c == nil {
			continue
		}
		v := c.verdict()
		joins := func(one stretch) bool { return one.verdict == v && (!s.ordered() || one.to() == i-1) }
		if at := slices.IndexFunc(out, joins); at >= 0 {
			out[at].points = append(out[at].points, i)
			continue
		}
		out = append(out, stretch{v, []int{i}})
	}
	return out
}

// verdict is that of a comparison as sentences have it.
func (c *Comparison) verdict() stats.Verdict {
	if v := stats.Verdict(c.Verdict); v != stats.Unclear || c.Ratio.Reason == "" {
		return v
	}
	return undecided
}

// decided says whether a verdict is of a difference.
func decided(v stats.Verdict) bool { return v == stats.Higher || v == stats.Lower }

// turns finds where a difference turns about. What lies between the two values
// tells of none. Where the axis has no order, nothing lies between.
func (s *Sweep) turns(stack, metric string, all []stretch) []Crossover {
	if !s.ordered() {
		return nil
	}
	var out []Crossover
	var last *stretch
	for i := range all {
		one := &all[i]
		if !decided(one.verdict) {
			continue
		}
		if last != nil && last.verdict != one.verdict {
			out = append(out, Crossover{
				Metric: metric, Stack: stack, Baseline: s.Baseline,
				From: s.Points[last.to()].Value, To: s.Points[one.from()].Value, Before: string(last.verdict),
			})
		}
		last = one
	}
	return out
}

// along says how a verdict goes along the axis: "A costs its servers more CPU per
// call than B at lines=1 (1.07x); less from 100 on (0.71x at 100, 0.60x at 500).
// It turns between 1 and 100."
func (s *Sweep) along(stack string, m stats.Metric, all []stretch, turns []Crossover) string {
	// What is decided is said first, since the sentence is about it.
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b stretch) int { return rank(a.verdict) - rank(b.verdict) })
	words := map[stats.Verdict]string{stats.Lower: m.Less, stats.Higher: m.More}
	var clauses []string
	for i, one := range all {
		head := words[one.verdict]
		switch {
		case i == 0 && decided(one.verdict):
			head = fmt.Sprintf(m.Than, stack, head, s.Baseline)
		case i == 0:
			head = fmt.Sprintf("%s and %s in %s: %s", stack, s.Baseline, m.Noun, one.verdict)
		case !decided(one.verdict):
			head = string(one.verdict)
		}
		clauses = append(clauses, head+" "+s.where(one, i == 0)+s.figures(stack, m.Name, one))
	}
	text := strings.Join(clauses, "; ") + "."
	if !strings.HasPrefix(text, stack) {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	for i, t := range turns {
		verb := "It turns"
		if i > 0 {
			verb = "It turns back"
		}
		text += fmt.Sprintf(" %s between %s and %s.", verb, t.From, t.To)
	}
	return text
}

// rank is a verdict's place in a sentence: differences in the order of their
// values, then what is none.
func rank(v stats.Verdict) int {
	return slices.Index([]stats.Verdict{stats.Same, stats.Unclear, undecided, stats.Withheld}, v)
}

// where says which points a stretch holds: "from 100 on", or "at large, small" where
// the axis has no order. The axis is named once in a sentence.
func (s *Sweep) where(one stretch, named bool) string {
	values := s.values(one.points)
	last := len(s.Points) - 1
	if len(one.points) == len(s.Points) {
		if s.whole() {
			return "at every value of " + s.short()
		}
		return "at every value of " + s.short() + " that was measured"
	}
	axis := ""
	if named {
		axis = s.short() + "="
	}
	from, to := values[0], values[len(values)-1]
	switch {
	case len(values) == 1 || !s.ordered():
		return "at " + axis + listed(values)
	case one.to() == last && s.whole():
		return "from " + axis + from + " on"
	case one.from() == 0 && s.whole():
		return "up to " + axis + to
	}
	return "from " + axis + from + " to " + to
}

// whole says whether all points that were asked for are there, and ran to their end.
func (s *Sweep) whole() bool {
	return len(s.Points) == s.Of && !slices.ContainsFunc(s.Warnings, func(f PointFinding) bool { return unfinished(f.Finding) })
}

func (s *Sweep) values(points []int) []string {
	var out []string
	for _, i := range points {
		out = append(out, s.Points[i].Value)
	}
	return out
}

// figures are the ratios of a stretch: at its ends where the axis has an order, and
// else at all its points: " (0.71x at 100, 0.60x at 500)".
func (s *Sweep) figures(stack, metric string, one stretch) string {
	shown := one.points
	if s.ordered() {
		shown = slices.Compact([]int{one.from(), one.to()})
	}
	var said []string
	for _, i := range shown {
		c := s.Points[i].Document.Find(stack, metric)
		if c.Ratio.Value == nil {
			return ""
		}
		text := Ratio(c.Ratio)
		if len(shown) > 1 {
			text += " at " + s.Points[i].Value
		}
		said = append(said, text)
	}
	return " (" + listed(said) + ")"
}
