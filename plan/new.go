package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/workload"
)

// New designs the experiment that r asks for. An error names each flag that is
// wrong and what it takes, or why no stack is left to run. The stacks that
// cannot carry the workload are in LeftOut, with the reason.
func New(r Request, f Facts) (*Plan, error) {
	spec, err := f.Workload(r.Workload)
	if err != nil {
		return nil, err
	}
	if err := check(r); err != nil {
		return nil, err
	}
	leg, err := findLeg(spec, r.Leg)
	if err != nil {
		return nil, err
	}
	params, err := setting.Resolve(spec.Params, r.Params)
	if err != nil {
		return nil, fmt.Errorf("--param %w", err)
	}
	across, err := findLink(r)
	if err != nil {
		return nil, err
	}
	p := &Plan{
		Workload: spec.Name, Leg: leg.Name, Path: path(leg), Tiers: tiers(leg), Params: params, Store: r.Store,
		Link: across, Driver: cmp.Or(r.Driver, Native),
		InFlight: cmp.Or(r.InFlight, DefaultInFlight), Workers: r.Workers,
		Item: leg.Item, Streams: streams(leg),
		Timeout: cmp.Or(r.Timeout, DefaultTimeout),
		Margin:  cmp.Or(r.Margin, DefaultMargin),
		Seed:    r.Seed, Calls: r.Calls, Precision: r.Precision, Sweep: r.Sweep,
	}
	if r.open() {
		p.Rate, p.Arrivals = r.Rate, cmp.Or(r.Arrivals, Poisson)
		p.InFlight = cmp.Or(r.InFlight, DefaultSlots)
		p.match(r)
	}
	p.Admit = r.admits(p.InFlight)
	asked := r.Stacks
	if len(asked) == 0 {
		asked = spec.Stacks
	}
	if p.Scenarios, p.LeftOut, err = scenarios(asked, leg, p.Driver, f); err != nil {
		return nil, err
	}
	for i := range p.Scenarios {
		s := &p.Scenarios[i]
		s.Transport, s.Remark = f.Transport(s.Stack, p.InFlight), f.Remark(s.Stack)
	}
	if p.Baseline, err = p.baseline(r.Baseline, f.DefaultBaseline()); err != nil {
		return nil, err
	}
	if err := p.design(r, cmp.Or(leg.Slice, spec.Slice)); err != nil {
		return nil, err
	}
	if n := len(p.Blocks); n < stats.MinBlocks {
		p.note("no verdict: that takes at least %d blocks, and there %s %d", stats.MinBlocks, plural(n, "is", "are"), n)
	}
	return p, nil
}

// mostShare of what the slowest stack carries is as much as is offered: beyond 1,
// services must refuse the rest, and beyond this the driver would be what is
// measured.
const mostShare = 10

// admits is how many calls a server works for at once.
func (r Request) admits(inFlight int) int {
	switch {
	case r.Admit > 0:
		return r.Admit
	case r.open():
		return DefaultAdmit
	}
	return max(DefaultAdmit, inFlight)
}

// rule is what one flag takes. Rules that hold for a field's zero value let it
// stand for "not given".
type rule struct {
	flag, takes string
	given       any
	ok          bool
}

// check holds r against what each flag takes, whatever the catalogue says.
func check(r Request) error {
	open := r.open()
	var wrong []error
	for _, c := range []rule{
		{"--driver", Native + " or " + Lean, r.Driver, slices.Contains([]string{"", Native, Lean}, r.Driver)},
		{"--in-flight", "1 to 65536", r.InFlight, r.InFlight >= 0 && r.InFlight <= 1<<16},
		{"--workers", "1 to 1024", r.Workers, r.Workers >= 0 && r.Workers <= 1024},
		{"--admit", "1 to 65536", r.Admit, r.Admit >= 0 && r.Admit <= 1<<16},
		{"--rate", "calls per second, up to 10000000", r.Rate, r.Rate >= 0 && r.Rate <= 1e7},
		{"--rate", "one rate: calls per second, or a share up to 1000 %", r.RateShare,
			r.RateShare == 0 || r.RateShare > 0 && r.RateShare <= mostShare && r.Rate == 0},
		{"--arrivals", Poisson + " or " + Constant + ", with --rate", r.Arrivals,
			r.Arrivals == "" || open && slices.Contains([]string{Poisson, Constant}, r.Arrivals)},
		{"--calls", "1 to 1000000000, and neither --for, --slice, --precision nor --rate beside it", r.Calls,
			r.Calls == 0 || r.Calls > 0 && r.Calls <= 1e9 && r.For == 0 && r.Precision == 0 && r.Slice == 0 && !open},
		{"--for", "1s to 168h", r.For, r.For == 0 || r.For >= time.Second && r.For <= 168*time.Hour},
		{"--precision", "a share from 0.001 to 0.5", r.Precision, r.Precision == 0 || r.Precision >= 0.001 && r.Precision <= 0.5},
		{"--slice", "10ms to 1h, and at least 2s with --rate", r.Slice,
			r.Slice == 0 || r.Slice >= 10*time.Millisecond && r.Slice <= time.Hour && (!open || r.Slice >= openSlice)},
		{"--phases", "0s for none, or 50ms to 1h", orNone(r.Phases),
			orNone(r.Phases) == 0 || *r.Phases >= leastPhases && *r.Phases <= time.Hour},
		{"--blocks", "1 to 1000", r.Blocks, r.Blocks >= 0 && r.Blocks <= 1000},
		{"--timeout", "1ms to 1h", r.Timeout, r.Timeout == 0 || r.Timeout >= time.Millisecond && r.Timeout <= time.Hour},
		{"--margin", "a share from 0.001 to 0.5", r.Margin, r.Margin == 0 || r.Margin >= 0.001 && r.Margin <= 0.5},
	} {
		if !c.ok {
			wrong = append(wrong, fmt.Errorf("%s %v: takes %s", c.flag, c.given, c.takes))
		}
	}
	return errors.Join(wrong...)
}

// orNone is what was given, or 0.
func orNone(d *time.Duration) time.Duration {
	if d == nil {
		return 0
	}
	return *d
}

// streams says whether the driver's calls are streams, all of them.
func streams(leg workload.Leg) bool {
	for _, m := range leg.Tiers[0].Calls {
		if m.Kind == rpc.Unary {
			return false
		}
	}
	return len(leg.Tiers[0].Calls) > 0
}

func findLeg(spec workload.Spec, name string) (workload.Leg, error) {
	if name == "" {
		return spec.Legs[0], nil
	}
	if leg, ok := spec.Leg(name); ok {
		return leg, nil
	}
	var all []string
	for _, l := range spec.Legs {
		all = append(all, l.Name)
	}
	return workload.Leg{}, fmt.Errorf("--leg %s: %s takes %s", name, spec.Name, strings.Join(all, " or "))
}

// path says who calls each tier over what.
func path(leg workload.Leg) []string {
	caller := "driver"
	var out []string
	for _, t := range leg.Tiers {
		over := t.Stack + ", in every stack"
		if t.Stack == workload.Varied {
			over = "the stack under comparison"
		}
		out = append(out, fmt.Sprintf("%s → %s: %s", caller, t.Name, over))
		caller = t.Name
	}
	return out
}

func tiers(leg workload.Leg) []Tier {
	var out []Tier
	for _, t := range leg.Tiers {
		tier := Tier{Name: t.Name, Stack: t.Stack}
		if t.Stack == workload.Varied {
			tier.Stack = ""
		}
		out = append(out, tier)
	}
	return out
}

// scenarios makes one of each stack asked for that can run.
func scenarios(asked []string, leg workload.Leg, driver string, f Facts) ([]record.Scenario, []record.Omission, error) {
	var in []record.Scenario
	var out []record.Omission
	count := make(map[string]int)
	for _, name := range asked {
		factors, err := f.Stack(name)
		if err == nil {
			err = f.Able(name, leg, driver)
		}
		switch {
		case err == nil:
			count[name]++
			in = append(in, record.Scenario{Stack: name, Factors: maps.Clone(factors)})
		case errors.Is(err, ErrLeftOut):
			out = append(out, record.Omission{Stack: name, Reason: reason(err)})
		default:
			return nil, nil, fmt.Errorf("--stacks %s: %w", name, err)
		}
	}
	if len(in) == 0 {
		return nil, nil, fmt.Errorf("--stacks: none can run%s", because(out))
	}
	seen := make(map[string]int)
	for i := range in {
		s := &in[i]
		s.Name = s.Stack
		if count[s.Stack] > 1 {
			seen[s.Stack]++
			s.Name = fmt.Sprintf("%s#%d", s.Stack, seen[s.Stack])
		}
	}
	return in, out, nil
}

// reason is the part of a Facts error that is for a person.
func reason(err error) string {
	s := strings.TrimPrefix(err.Error(), ErrLeftOut.Error()+": ")
	return strings.TrimSuffix(s, ": "+ErrLeftOut.Error())
}

func because(left []record.Omission) string {
	if len(left) == 0 {
		return ": none is given"
	}
	var all []string
	for _, o := range left {
		all = append(all, o.Stack+": "+o.Reason)
	}
	return "; " + strings.Join(all, "; ")
}

// baseline finds the scenario that others are compared with, by its name or by
// its stack.
func (p *Plan) baseline(asked, byDefault string) (string, error) {
	for _, want := range []string{asked, byDefault} {
		for _, s := range p.Scenarios {
			if want != "" && (s.Name == want || s.Stack == want) {
				return s.Name, nil
			}
		}
		if asked != "" {
			break
		}
	}
	if asked == "" {
		return p.Scenarios[0].Name, nil
	}
	for _, o := range p.LeftOut {
		if o.Stack == asked {
			return "", fmt.Errorf("--baseline %s: is left out: %s", asked, o.Reason)
		}
	}
	var all []string
	for _, s := range p.Scenarios {
		all = append(all, s.Name)
	}
	return "", fmt.Errorf("--baseline %s: takes %s", asked, strings.Join(all, " or "))
}

func (p *Plan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
