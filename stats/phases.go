package stats

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/tare-bench/tare/record"
)

// Breakdown is where the CPU of a scenario's calls went, in its profiled trials.
type Breakdown struct {
	// Processes are the driver and each tier, in the order that a call passes
	// them; those that do not tell have no Calls.
	Processes []ProcessPhases
	// Servers is the sum of all tiers; without Calls where one does not tell.
	Servers ProcessPhases
	// Cost is the servers' and the driver's CPU per call of the profiled trials
	// over that of the block's other trials: what profiling does to it.
	Cost Interval
}

// ProcessPhases is one process's CPU per call, or per item that calls move in bulk,
// in seconds. Intervals are means
// over blocks with Student's t, not geometric ones, so that Parts and Unexplained
// add up to Total. They may go below 0, as may Unexplained itself. A part of fewer
// than leastOfPart samples has no interval: such counts vary less from block to
// block than they err.
type ProcessPhases struct {
	Name        string   // as in record.Process.Role; "" for the sum of several
	Calls       int      // that were profiled
	Samples     int      // of them all
	Total       Interval // as the kernel counts it
	Unexplained Interval // Total less all Parts: what was not sampled, or too often
	Parts       []PhasePart
}

const leastOfPart = 10

// PhasePart is one phase's CPU per call, or item, in seconds.
type PhasePart struct {
	Phase record.Phase
	Next  bool // as in record.PhaseTime
	Interval
}

// breakdown divides a scenario's CPU; nil where no process tells.
func (a *arranged) breakdown(scenario int, confidence float64) *Breakdown {
	var of []record.Profile
	width := 0
	for _, p := range a.run.Profiles {
		if p.Scenario == scenario && units(a.run.Header, p.Calls, p.Items) > 0 {
			of = append(of, p)
			width = max(width, len(p.Processes))
		}
	}
	names := a.processNames(scenario)
	out := &Breakdown{Cost: unknown}
	told := 0
	for i := range min(width, len(names)) {
		one := a.divide(names[i], of, []int{i}, confidence)
		if one.Calls > 0 {
			told++
		}
		out.Processes = append(out.Processes, one)
	}
	if told == 0 {
		return nil
	}
	if width > 1 {
		var servers []int
		for i := 1; i < width; i++ {
			servers = append(servers, i)
		}
		out.Servers = a.divide("", of, servers, confidence)
	}
	if told == len(out.Processes) {
		out.Cost = a.profilingCost(scenario, of, confidence)
	}
	return out
}

// processNames are the roles of a scenario's processes, the driver's first.
func (a *arranged) processNames(scenario int) (names []string) {
	for _, b := range a.run.Blocks {
		if scenario < len(b.Peers) {
			for _, p := range b.Peers[scenario] {
				names = append(names, p.Role)
			}
			break
		}
	}
	return names
}

// part is the key of a PhasePart.
type part struct {
	phase record.Phase
	next  bool
}

// divide sums some processes' phases per call in each profile, and takes the
// mean over profiles. A profile in which one of them does not tell is left out.
func (a *arranged) divide(name string, all []record.Profile, processes []int, confidence float64) ProcessPhases {
	out := ProcessPhases{Name: name, Total: unknown, Unexplained: unknown}
	var total, unexplained []float64
	parts, counts := make(map[part][]float64), make(map[part]float64)
	for _, p := range all {
		phases := tell(p, processes)
		if phases == nil {
			continue
		}
		each := float64(units(a.run.Header, p.Calls, p.Items))
		n := len(total)
		var cpu, sampled float64
		for _, process := range phases {
			cpu += process.CPUS / each
			out.Samples += process.Samples
			for _, t := range process.Parts {
				k := part{known(t.Phase), t.Next}
				if parts[k] == nil {
					parts[k] = make([]float64, len(all))
				}
				parts[k][n] += t.Seconds / each
				counts[k] += t.Seconds / process.PeriodS
				sampled += t.Seconds / each
			}
		}
		out.Calls += p.Calls
		total, unexplained = append(total, cpu), append(unexplained, cpu-sampled)
	}
	out.Total, out.Unexplained = arithmetic(total, confidence), arithmetic(unexplained, confidence)
	for _, phase := range record.AllPhases {
		for _, next := range []bool{false, true} {
			k := part{phase, next}
			if parts[k] == nil {
				continue
			}
			i := arithmetic(parts[k][:len(total)], confidence)
			if counts[k] < leastOfPart-0.5 {
				i.Low, i.High = math.Inf(-1), math.Inf(1)
			}
			out.Parts = append(out.Parts, PhasePart{phase, next, i})
		}
	}
	return out
}

// tell gives the phases of some processes of a profile; nil where one does not
// tell.
func tell(p record.Profile, processes []int) (out []*record.Phases) {
	for _, i := range processes {
		if i >= len(p.Processes) || p.Processes[i] == nil {
			return nil
		}
		out = append(out, p.Processes[i])
	}
	return out
}

// known is the phase, or other for one that only its peer knows.
func known(p record.Phase) record.Phase {
	if slices.Contains(record.AllPhases, p) {
		return p
	}
	return record.PhaseOther
}

// arithmetic is the mean with its t interval. Where nothing bounds it, Low and
// High are infinite.
func arithmetic(values []float64, confidence float64) Interval {
	switch n := len(values); n {
	case 0:
		return unknown
	case 1:
		return Interval{math.Inf(-1), values[0], math.Inf(1)}
	default:
		mean, sd := stat.MeanStdDev(values, nil)
		half := student(n).Quantile(0.5+confidence/2) * sd / math.Sqrt(float64(n))
		return Interval{mean - half, mean, mean + half}
	}
}

// profilingCost pairs each profile with the measured trials of its block.
func (a *arranged) profilingCost(scenario int, profiles []record.Profile, confidence float64) Interval {
	m := Metric{Kind: Rate, Of: func(h *record.Header, t *record.Trial) (float64, float64) {
		server, calls := serverCPU(h, t)
		driver, _ := driverCPU(h, t)
		return server + driver, calls
	}}
	var logs sample
	for i := range a.blocks {
		b := &a.blocks[i]
		measured, ok := b.level(&m, scenario)
		at := slices.IndexFunc(profiles, func(p record.Profile) bool { return p.Block == b.index() })
		if !ok || at < 0 {
			continue
		}
		var cpu float64
		for _, p := range profiles[at].Processes {
			if p == nil {
				return unknown
			}
			cpu += p.CPUS
		}
		if cpu > 0 {
			logs = append(logs, math.Log(cpu/float64(units(a.run.Header, profiles[at].Calls, profiles[at].Items))/measured))
		}
	}
	return logs.interval(confidence)
}

// mostProfiling is how much more CPU a profiled call may take before the report
// says so.
const mostProfiling = 0.05

// profiling says of which stacks the phases are those of slower calls.
func profiling(found []Scenario) (notes []Finding) {
	for _, s := range found {
		if s.Phases == nil || !(s.Phases.Cost.Low > 1 && s.Phases.Cost.Value > 1+mostProfiling) {
			continue
		}
		notes = append(notes, Finding{
			Code: "profiling_cost", Stack: s.Name,
			Text: fmt.Sprintf("uses %.0f %% more CPU a call while it is profiled: read its phases as shares. No other figure has it",
				100*(s.Phases.Cost.Value-1)),
		})
	}
	return notes
}
