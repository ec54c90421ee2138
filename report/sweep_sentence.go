package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tare-bench/tare/stats"
)

// stretch is neighbouring points at which a stack's metric has one verdict.
type stretch struct {
	verdict  stats.Verdict
	from, to int // points, both within it
}

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
				s.Summary = append(s.Summary, s.along(stack, stats.Find(shown.Name), all, turns))
			}
		}
	}
}

// stretches parts the points by verdict. There is none where no point compares.
func (s *Sweep) stretches(stack, metric string) []stretch {
	var out []stretch
	for i, p := range s.Points {
		c := p.Document.Find(stack, metric)
		if c == nil {
			continue
		}
		v := stats.Verdict(c.Verdict)
		if n := len(out); n > 0 && out[n-1].verdict == v && out[n-1].to == i-1 {
			out[n-1].to = i
			continue
		}
		out = append(out, stretch{v, i, i})
	}
	return out
}

// decided says whether a verdict is of a difference.
func decided(v stats.Verdict) bool { return v == stats.Higher || v == stats.Lower }

// turns finds where a difference turns about. What lies between the two values
// tells of none.
func (s *Sweep) turns(stack, metric string, all []stretch) []Crossover {
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
				From: s.Points[last.to].Value, To: s.Points[one.from].Value, Before: string(last.verdict),
			})
		}
		last = one
	}
	return out
}

// along says how a verdict goes along the axis: "A costs its servers more CPU per
// call than B at lines=1 (1.07x), less from 100 on (0.71x at 100, 0.60x at 500).
// It turns between 1 and 100."
func (s *Sweep) along(stack string, m *stats.Metric, all []stretch, turns []Crossover) string {
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
	return slices.Index([]stats.Verdict{stats.Same, stats.Unclear, stats.Withheld}, v)
}

// where says which points a stretch holds: "from 100 on". The axis is named once
// in a sentence.
func (s *Sweep) where(one stretch, named bool) string {
	last := len(s.Points) - 1
	from, to := s.Points[one.from].Value, s.Points[one.to].Value
	if named {
		from = s.at(from)
	}
	switch {
	case one.from == 0 && one.to == last:
		return "at every value of " + s.short()
	case one.from == one.to:
		return "at " + from
	case one.to == last:
		return "from " + from + " on"
	case one.from == 0:
		if named {
			to = s.at(to)
		}
		return "up to " + to
	}
	return "from " + from + " to " + to
}

// figures are the ratios at the ends of a stretch: " (0.71x at 100, 0.60x at 500)".
func (s *Sweep) figures(stack, metric string, one stretch) string {
	var said []string
	for _, i := range slices.Compact([]int{one.from, one.to}) {
		c := s.Points[i].Document.Find(stack, metric)
		if c.Ratio.Value == nil {
			return ""
		}
		text := Ratio(c.Ratio)
		if one.from != one.to {
			text += " at " + s.Points[i].Value
		}
		said = append(said, text)
	}
	return " (" + strings.Join(said, ", ") + ")"
}
