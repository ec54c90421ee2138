package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

// sentence says a comparison's verdict as a person would repeat it.
func sentence(c stats.Comparison, a *stats.Analysis) string {
	margin := a.Run.Header.Margin
	v := value(c.Ratio, "")
	v.Exact = c.Metric.Kind == stats.Exact
	ratio, bounds := Ratio(v), fmt.Sprintf("(%s, %s)", RatioInterval(v), percent(a.Confidence))
	if v.Exact {
		bounds = "(exact)"
	}
	switch {
	case c.Verdict == stats.Withheld:
		return fmt.Sprintf("The %s of %s against %s is withheld: %s.", c.Metric.Noun, c.Stack, c.Baseline, c.Reason)
	case c.Reason != "":
		return fmt.Sprintf("No verdict on the %s of %s against %s: %s.", c.Metric.Noun, c.Stack, c.Baseline, c.Reason)
	case c.Verdict == stats.Same:
		return fmt.Sprintf("%s and %s are the same in %s, within %s: %s %s.",
			c.Stack, c.Baseline, c.Metric.Noun, percent(margin), ratio, bounds)
	case c.Verdict == stats.Unclear:
		return fmt.Sprintf("Whether %s differs from %s in %s is unclear: %s %s; %s.",
			c.Stack, c.Baseline, c.Metric.Noun, ratio, bounds, more(c, a))
	}
	claim := fmt.Sprintf(c.Metric.Claim, c.Stack, ratio, c.Baseline)
	if !strings.HasPrefix(claim, c.Stack) {
		claim = strings.ToUpper(claim[:1]) + claim[1:]
	}
	return fmt.Sprintf("%s %s.", claim, bounds)
}

// more says what a clear verdict would take.
func more(c stats.Comparison, a *stats.Analysis) string {
	n := c.Needs
	if n == nil || n.Factor == 0 {
		return fmt.Sprintf("the difference lies about the margin of %s", percent(a.Run.Header.Margin))
	}
	told := fmt.Sprintf("this run can tell %s", percent(n.Detects))
	if a.Run.Header.Calls > 0 {
		return fmt.Sprintf("%s, about %sx the calls would tell %s", told, number(n.Factor), percent(n.Target))
	}
	return fmt.Sprintf("%s, about %s more under load would tell %s", told, duration(n.MoreS), percent(n.Target))
}

// parts says how much of a ratio each factor accounts for.
func parts(f stats.Factorial, margin float64) string {
	var each []string
	for i, e := range f.Effects {
		v := value(e.Ratio, "")
		verb := "accounts for "
		if i > 0 {
			verb = "for "
		}
		name := "the " + e.Factor
		if len(e.With) > 0 {
			name += fmt.Sprintf(" (with its %s)", strings.Join(e.With, ", "))
		}
		each = append(each, fmt.Sprintf("%s %s%s (%s)", name, verb, Ratio(v), RatioInterval(v)))
	}
	last := len(each) - 1
	text := fmt.Sprintf("Of the %s in %s between %s and %s, %s and %s.",
		Ratio(value(f.Whole, "")), f.Metric.Noun, f.Stack, f.Baseline, strings.Join(each[:last], ", "), each[last])
	if i := f.Interaction; i.Bounded() && (i.Low > 1 && i.Value > 1+margin || i.High < 1 && i.Value < 1/(1+margin)) {
		v := value(i, "")
		text += fmt.Sprintf(" The two are not independent: together they come to %s of their single effects multiplied (%s).", Ratio(v), RatioInterval(v))
	}
	return text
}

func load(h record.Header) string {
	if h.Rate > 0 {
		return fmt.Sprintf("open loop, %s arrivals at %s calls/s, up to %d in flight, %s driver",
			h.Arrivals, count(h.Rate), h.InFlight, h.Driver)
	}
	return fmt.Sprintf("closed loop, %d in flight, %s driver", h.InFlight, h.Driver)
}

func design(a *stats.Analysis) string {
	text := fmt.Sprintf("%d blocks on fresh processes, %d rounds, %s under load", a.Blocks, a.Rounds, duration(a.UnderLoadS))
	if n := a.Run.Header.Calls; n > 0 {
		text += fmt.Sprintf(", %s calls of each stack", count(float64(n)))
	}
	return text
}

// holds says for what the figures hold: a ratio is no property of a stack.
func holds(h record.Header) string {
	on := []string{h.Workload}
	for _, k := range slices.Sorted(maps.Keys(h.Params)) {
		on = append(on, k+"="+h.Params[k])
	}
	if h.Store != "" {
		on = append(on, "store "+h.Store)
	}
	machine := []string{}
	for _, k := range []string{"cpu", "cores", "os", "go"} {
		if v := h.Environment[k]; v != "" {
			machine = append(machine, k+" "+v)
		}
	}
	text := fmt.Sprintf("This holds for %s; %s", strings.Join(on, " "), load(h))
	if len(machine) > 0 {
		text += "; " + strings.Join(machine, ", ")
	}
	return text + ". Another payload, concurrency, machine or link may change it."
}
