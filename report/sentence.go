package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

// sentence says a comparison's verdict as a person would repeat it.
func sentence(c stats.Comparison, a *stats.Analysis) string {
	margin, metric := a.Run.Header.Margin, c.Metric.In(a.Run.Header)
	v := value(c.Ratio, "")
	v.Exact = c.Metric.Kind == stats.Exact
	ratio, bounds := Ratio(v), fmt.Sprintf("(%s, %s)", RatioInterval(v), percent(a.Confidence))
	if v.Exact {
		bounds = "(exact)"
	}
	switch {
	case c.Verdict == stats.Withheld:
		return fmt.Sprintf("The %s of %s against %s is withheld: %s.", metric.Noun, c.Stack, c.Baseline, c.Reason)
	case c.Reason != "":
		return fmt.Sprintf("No verdict on the %s of %s against %s: %s.", metric.Noun, c.Stack, c.Baseline, c.Reason)
	case c.Verdict == stats.Same:
		return fmt.Sprintf("%s and %s are the same in %s, within %s: %s %s.",
			c.Stack, c.Baseline, metric.Noun, percent(margin), ratio, bounds)
	case c.Verdict == stats.Unclear:
		return fmt.Sprintf("Whether %s differs from %s in %s is unclear: %s %s; %s.",
			c.Stack, c.Baseline, metric.Noun, ratio, bounds, more(c, a))
	}
	claim := fmt.Sprintf(metric.Claim, c.Stack, ratio, c.Baseline)
	if !strings.HasPrefix(claim, c.Stack) {
		claim = strings.ToUpper(claim[:1]) + claim[1:]
	}
	return fmt.Sprintf("%s %s.", claim, bounds)
}

// more says what a clear verdict would take.
func more(c stats.Comparison, a *stats.Analysis) string {
	n := c.Needs
	if n == nil || n.Blocks == 0 {
		return fmt.Sprintf("the difference lies about the margin of %s", percent(a.Run.Header.Margin))
	}
	told := fmt.Sprintf("this run can tell %s", percent(n.Detects))
	if f := flags(n); f != "" {
		return fmt.Sprintf("%s, %s would tell %s", told, f, percent(n.Target))
	}
	return fmt.Sprintf("%s, and to tell %s would take %s under load", told, percent(n.Target), duration(n.UnderLoadS))
}

// flags ask for the blocks that a clear verdict needs; none where that is more
// than anyone would wait for, or than one run may have.
func flags(n *stats.Needs) string {
	const longest, mostBlocks = 3600, 1000
	switch {
	case !(n.UnderLoadS <= longest) || n.Blocks > mostBlocks:
		return ""
	case n.Calls > 0:
		return fmt.Sprintf("--blocks %.0f --calls %.0f", n.Blocks, n.Calls)
	case n.ForS > 0:
		return fmt.Sprintf("--blocks %.0f --for %s", n.Blocks, flagDuration(n.ForS))
	}
	return ""
}

// alone says the levels of the one stack that there is.
func (d *Document) alone() []string {
	s := d.Scenarios[0]
	var said []string
	for _, m := range d.Metrics {
		v := s.Metrics[m.Name]
		if v.Value == nil || !m.Headline && m.Name != "latency_p50" {
			continue
		}
		unit := scaleFor(m.Unit, []float64{*v.Value})
		said = append(said, fmt.Sprintf("%s %s", m.Label, withUnit(v, unit, m.Per)))
	}
	if len(said) == 0 {
		return []string{}
	}
	return []string{fmt.Sprintf("%s by itself: %s. There is no other stack to compare it with.", s.Stack, strings.Join(said, ", "))}
}

// parts says how much of a ratio each factor accounts for.
func parts(f stats.Factorial, noun string, margin, confidence float64) string {
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
		Ratio(value(f.Whole, "")), noun, f.Stack, f.Baseline, strings.Join(each[:last], ", "), each[last])
	if i := f.Interaction; i.Bounded() && (i.Low > 1 && i.Value > 1+margin || i.High < 1 && i.Value < 1/(1+margin)) {
		v := value(i, "")
		text += fmt.Sprintf(" Together they came to %s of their single effects multiplied (%s, a plain %s interval: seen, and not judged).",
			Ratio(v), RatioInterval(v), percent(confidence))
	}
	return text
}

func load(h record.Header) string {
	text := fmt.Sprintf("closed loop, %d in flight, %s driver", h.InFlight, h.Driver)
	if h.Rate > 0 {
		text = fmt.Sprintf("open loop, %s arrivals at %s calls/s%s, up to %d in flight, %s driver",
			h.Arrivals, count(h.Rate), matched(h), h.InFlight, h.Driver)
	}
	return text + across(h.Link)
}

// across ends a sentence on the load; it is "" on loopback.
func across(l *record.Link) string {
	if l == nil {
		return ""
	}
	return ", across " + stats.LinkWords(l)
}

// matched says what a rate is a share of; "" where it was typed.
func matched(h record.Header) string {
	if h.Pilot == nil {
		return ""
	}
	return fmt.Sprintf(" (%s of the %s that %s, the slowest stack, carried in a pilot)",
		percent(h.RateShare), count(math.Round(h.Pilot.Throughput)), h.Pilot.Stack)
}

func design(a *stats.Analysis) string {
	text := fmt.Sprintf("%s on fresh processes, %s, %s under load",
		stats.Counted(a.Blocks, "block"), stats.Counted(a.Rounds, "round"), duration(a.UnderLoadS))
	if n := a.Run.Header.Calls; n > 0 {
		text += fmt.Sprintf(", %s of each stack", stats.Counted(n, "call"))
	}
	if n := a.ShortBlocks; n > 0 {
		text += fmt.Sprintf("; %s cut short and left out", stats.Counted(n, "block"))
	}
	return text
}

// holding says for what figures hold: a ratio is no property of a stack. It leaves out what is "".
func holding(what, workload string, params []NamedString, store, load string, environment []NamedString) string {
	on := []string{workload}
	for _, p := range params {
		on = append(on, p.Name+"="+p.Value)
	}
	if store != "" {
		on = append(on, "store "+store)
	}
	machine := []string{}
	for _, k := range []string{"cpu", "cores", "os", "go"} {
		for _, e := range environment {
			if e.Name == k && e.Value != "" {
				machine = append(machine, k+" "+e.Value)
			}
		}
	}
	text := fmt.Sprintf("%s holds for %s", what, strings.Join(on, " "))
	for _, more := range []string{load, strings.Join(machine, ", ")} {
		if more != "" {
			text += "; " + more
		}
	}
	return text + ". Another payload, concurrency, machine or link may change it."
}

// Shell writes words as a command that a POSIX shell reads as just those words.
func Shell(words []string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"
	var out []string
	for _, w := range words {
		if w == "" || strings.Trim(w, plain) != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}
