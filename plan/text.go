package plan

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// shownRounds is how many rounds' orders Text shows.
const shownRounds = 4

// Text writes the plan for a person.
func (p *Plan) Text(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("workload", "%s, leg %s", p.Workload, p.Leg)
	for _, sentence := range p.Path {
		row("", "%s", sentence)
	}
	if len(p.Params) > 0 {
		row("params", "%s", pairs(p.Params))
	}
	if p.Store != "" {
		row("store", "%s", p.Store)
	}
	if p.Link != nil {
		row("link", "%s, %s", p.Link, p.across())
	}
	row("load", "%s", p.load())
	if p.Workers > 0 {
		row("", "each server process uses %d %s at once", p.Workers, plural(p.Workers, "processor", "processors"))
	}
	if p.Item != "" {
		row("", "rates and costs are by the %s; latency is of a whole %s", p.Item, p.unit())
	}
	row("", "each service works for %d calls at once, as many wait, more are refused", p.Admit)
	row("", "%s driver, deadline of %s a call", p.Driver, p.Timeout)
	row("design", "%s", p.extent())
	row("work", "%s", p.work())
	row("phases", "%s", p.told())
	row("verdict", "against %s, with a margin of %.3g %%", p.Baseline, 100*p.Margin)
	row("seed", "%d", p.Seed)
	for i, s := range p.Scenarios {
		row(first(i, "stacks"), "%d  %s", i, s.Name)
	}
	for i, o := range p.LeftOut {
		row(first(i, "left out"), "%s: %s", o.Stack, o.Reason)
	}
	for i, r := range p.firstRounds() {
		row(first(i, "order"), "round %d: %s", i, r.order())
	}
	for i, n := range p.Notes {
		row(first(i, "note"), "%s", n)
	}
	return t.Flush() // the writer keeps the first error of those before
}

// String is what Text writes.
func (p *Plan) String() string {
	var b strings.Builder
	_ = p.Text(&b) // a Builder refuses nothing
	return b.String()
}

// across says between whom the link is.
func (p *Plan) across() string {
	caller := "driver"
	if varied := p.VariedTier(); varied > 0 {
		caller = p.Tiers[varied-1].Name
	}
	return fmt.Sprintf("between %s and %s", caller, p.Tiers[p.VariedTier()].Name)
}

// unit is what the driver makes one after the other.
func (p *Plan) unit() string {
	if p.Streams {
		return "stream"
	}
	return "call"
}

func (p *Plan) load() string {
	if p.open() {
		return fmt.Sprintf("open loop: %s arrivals at %s, up to %d in flight", p.Arrivals, p.pace(), p.InFlight)
	}
	return fmt.Sprintf("closed loop: %d in flight", p.InFlight)
}

func (p *Plan) extent() string {
	rounds := len(p.Blocks[0].Rounds)
	return fmt.Sprintf("%d %s on fresh processes, of %d %s, of a trial of each stack",
		len(p.Blocks), plural(len(p.Blocks), "block", "blocks"), rounds, plural(rounds, "round", "rounds"))
}

func (p *Plan) work() string {
	trial := p.Blocks[0].Rounds[0].Trials[0]
	if p.Calls > 0 {
		return fmt.Sprintf("%d calls of each stack, about %d a trial", p.Calls, trial.Calls)
	}
	rounds := len(p.Blocks) * len(p.Blocks[0].Rounds)
	total := p.Slice * time.Duration(rounds*len(p.Scenarios))
	text := fmt.Sprintf("%s under load, a trial %s", total, p.Slice)
	if trial.AtLeast > 0 {
		text += fmt.Sprintf(" or %d calls, whichever is longer", trial.AtLeast)
	}
	return text
}

func (p *Plan) told() string {
	if p.Phases == 0 {
		return "not told; --phases gives each stack a profiled trial a block, which tells how CPU divides"
	}
	return fmt.Sprintf("%s more, a profiled trial of %s of each stack at the end of each block; no other figure knows of them",
		p.Phases*time.Duration(len(p.Blocks)*len(p.Scenarios)), p.Phases)
}

func (p *Plan) firstRounds() []Round {
	var out []Round
	for _, b := range p.Blocks {
		out = append(out, b.Rounds...)
		if len(out) >= shownRounds {
			return out[:shownRounds]
		}
	}
	return out
}

func (r Round) order() string {
	var out []string
	for _, t := range r.Trials {
		out = append(out, strconv.Itoa(t.Scenario))
	}
	return strings.Join(out, " ")
}

// first gives a name to the first of several lines.
func first(i int, name string) string {
	if i == 0 {
		return name
	}
	return ""
}

func pairs(m map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, k+"="+m[k])
	}
	return strings.Join(out, " ")
}
