package stats

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tare-bench/tare/record"
)

// Finding is something that a reader must know beside the numbers.
type Finding struct {
	Code   string
	Stack  string // scenario's name; "" for the run
	Text   string // with its number
	Remedy string
}

// Bounds of the rules below.
const (
	connPerCall   = 0.5  // connections a call: nearly every one opens its own
	connChurn     = 0.01 // connections a call: the pool does not hold them
	mostOfCore    = 0.8  // of one core's time, that a lean driver may use
	mostLateness  = 0.1  // of the median latency, at the generator's p99
	mostUnready   = 0.001
	leastTurns    = 10 // calls of a trial for each in flight, as plan has it,
	streamTurns   = 3  // and of streams
	mostBytesDiff = 0.01
	mostOthers    = 0.05 // of the machine's time: what a quiet one does by itself is a fraction of it
	mostSteal     = 0.02
)

// environmentCores is the key of the number of processors in a header.
const environmentCores = "cores"

// rule finds one fault of one stack: what is wrong and what to do; "" where
// nothing is.
type rule struct {
	code string
	look func(*evidence) (text, remedy string)
}

// rules are those that look at each stack. A stack that is well built and well
// loaded breaks none of them.
var rules = []rule{
	{"connection_per_call", func(e *evidence) (string, string) {
		if e.conns < connPerCall {
			return "", ""
		}
		return fmt.Sprintf("opens a connection for nearly every call (%.2g a call)%s", e.conns, e.reuse()),
			"keep connections open between calls; if that is how it will run, say so beside the result"
	}},
	{"connection_churn", func(e *evidence) (string, string) {
		// As many as there are calls in flight is a pool that fills.
		fills := float64(e.run.Header.InFlight * e.blocks)
		if e.conns <= connChurn || e.conns >= connPerCall || e.wire.conns <= fills {
			return "", ""
		}
		return fmt.Sprintf("opens a connection every %.0f calls: its pool does not hold those that it uses%s", 1/e.conns, e.reuse()),
			fmt.Sprintf("let the pool keep as many idle connections as calls are in flight (%d)", e.run.Header.InFlight)
	}},
	{"errors", func(e *evidence) (string, string) {
		if e.tally.failed() == 0 {
			return "", ""
		}
		text := fmt.Sprintf("%s failed (%s)", shareOf(e.tally.failed(), e.tally.Calls, "call"), classes(e.tally.Errors))
		if e.tally.FirstError != "" {
			text += fmt.Sprintf("; the first: %s", e.tally.FirstError)
		}
		if e.tally.share() > mostErrors {
			return text + "; its ratios are withheld", "find out why they fail, or load less"
		}
		return text, "find out why they fail"
	}},
	{"failed_trials", func(e *evidence) (string, string) {
		if e.tally.Failed == 0 {
			return "", ""
		}
		return fmt.Sprintf("%s failed (%s); rounds with one are left out",
			shareOf(e.tally.Failed, e.tally.Failed+e.tally.Trials, "trial"), e.whyFailed), "see the processes' logs"
	}},
	{"thin_window", func(e *evidence) (string, string) {
		if e.thin == 0 || e.tally.share() > mostErrors { // which explain it
			return "", ""
		}
		return fmt.Sprintf("its window held fewer completed calls than are in flight in %s: their rounds are left out of throughput",
			shareOf(e.thin, e.tally.Trials, "trial")), "raise " + e.longer() + ", or lower --in-flight"
	}},
	{"driver_limits", func(e *evidence) (string, string) {
		if e.run.Header.Driver != record.Lean || e.seconds == 0 {
			return "", ""
		}
		remedy := "read the server's CPU per call rather than the throughput"
		if used := e.driverCPU / e.seconds; used > mostOfCore {
			return fmt.Sprintf("its driver uses %.0f %% of a core: throughput may be the driver's, and its ratio is withheld", 100*used), remedy
		}
		if e.serverCPU > 0 && e.driverCPU > e.serverCPU {
			return fmt.Sprintf("its driver uses %.1fx the CPU of its servers: throughput may be the driver's, and its ratio is withheld", e.driverCPU/e.serverCPU), remedy
		}
		return "", ""
	}},
	{"short_trials", func(e *evidence) (string, string) {
		turns := leastTurns
		if e.run.Header.Streams {
			turns = streamTurns
		}
		least := turns * e.run.Header.InFlight * e.tally.Trials
		if e.run.Header.Rate > 0 || e.thin > 0 || e.tally.Calls >= least {
			return "", ""
		}
		return fmt.Sprintf("makes %.2g calls for each in flight in a trial: throughput is of the trials' ends more than of their middle",
			float64(turns)*float64(e.tally.Calls)/float64(least)), "raise " + e.longer() + ", or lower --in-flight"
	}},
	{"saturated", func(e *evidence) (string, string) {
		if e.tally.NotStarted == 0 {
			return "", ""
		}
		return fmt.Sprintf("is saturated: %s that were due were not started in their trial",
			shareOf(e.tally.NotStarted, e.tally.NotStarted+e.tally.Calls, "call")), "lower --rate, or raise --in-flight"
	}},
	{"late_generator", func(e *evidence) (string, string) {
		late, median := e.lateness.Quantile(0.99).Seconds(), e.latency.Quantile(0.5).Seconds()
		if e.lateness.Count() == 0 || late <= mostLateness*median {
			return "", ""
		}
		return fmt.Sprintf("the generator starts calls late: its p99 is %.0f %% of the median latency", 100*late/median),
			"lower --rate, or give the driver a core of its own"
	}},
	{"unprepared_calls", func(e *evidence) (string, string) {
		if float64(e.tally.Unprepared) <= mostUnready*float64(e.tally.Calls) {
			return "", ""
		}
		text := shareOf(e.tally.Unprepared, e.tally.Calls, "call") + " were made up on the clock: there were more than foretold"
		if e.run.Header.Rate > 0 {
			return text, ""
		}
		return text, "measure with --calls, so that it is known how many to prepare"
	}},
	{"bytes_disagree", func(e *evidence) (string, string) {
		diff := max(apart(e.wire.sent, e.far.sent), apart(e.wire.received, e.far.received))
		// One end may not yet have counted what the last calls carried.
		last := 2 * float64(e.run.Header.InFlight) / float64(max(1, e.tally.Calls))
		if diff <= max(mostBytesDiff, last) {
			return "", ""
		}
		return fmt.Sprintf("its bytes differ by %.1f %% between the caller's socket and the server's", 100*diff),
			"look for a proxy between them, or for calls that other trials left behind"
	}},
	{"workers_ignored", func(e *evidence) (string, string) {
		if e.loose == "" {
			return "", ""
		}
		return fmt.Sprintf("was asked to use %s in each server, and its %s server does not say that it keeps to that",
				Counted(e.run.Header.Workers, "processor"), e.loose),
			"see what that program uses, or serve it by one that keeps to it"
	}},
	{"not_level", func(e *evidence) (string, string) {
		if 2*e.unlevel <= e.warmups { // now and then a busy machine does it
			return "", ""
		}
		return fmt.Sprintf("its rate had not levelled off when warm-up ended, in %s", shareOf(e.unlevel, e.warmups, "block")),
			"measure for longer with --for: its first trials weigh less then"
	}},
}

// audit looks at a run for all that is known to go wrong in comparisons.
func audit(a *arranged, found *Analysis) (warnings, notes []Finding) {
	if n := found.Blocks; n < MinBlocks {
		warnings = append(warnings, Finding{
			Code: "few_blocks", Text: fmt.Sprintf("%s gave a result: a verdict takes %d", Counted(n, "block"), MinBlocks),
			Remedy: fmt.Sprintf("measure with --blocks %d or more, and let it finish", MinBlocks),
		})
	}
	for _, r := range machineRules {
		if text, remedy := r.look(a.run); text != "" {
			warnings = append(warnings, Finding{Code: r.code, Text: text, Remedy: remedy})
		}
	}
	var all []*evidence
	for s := range found.Scenarios {
		e := gather(a, s, found.Scenarios[s].Tally)
		all = append(all, e)
		for _, r := range rules {
			if text, remedy := r.look(e); text != "" {
				warnings = append(warnings, Finding{r.code, found.Scenarios[s].Name, text, remedy})
			}
		}
	}
	unfair, besides := a.unfairness(all)
	warnings, notes = append(warnings, unfair...), append(notes, besides...)
	notes = append(notes, profiling(found.Scenarios)...)
	for _, n := range runNotes {
		if text, remedy := n.look(a, all); text != "" {
			notes = append(notes, Finding{Code: n.code, Text: text, Remedy: remedy})
		}
	}
	return warnings, notes
}

// bytes is a sum of record.Wire, as shares are taken of it.
type bytes struct{ conns, sent, received float64 }

func (b *bytes) add(w record.Wire) {
	b.conns += float64(w.Conns)
	b.sent += float64(w.Sent)
	b.received += float64(w.Received)
}

// evidence is what the rules look at: one scenario, summed over the run.
type evidence struct {
	run                  *record.Run
	blocks               int
	factors              map[string]string
	tally                Tally
	whyFailed            string
	wire, far            bytes
	conns                float64   // opened, a call
	thin                 int       // trials
	cpu                  []float64 // by process, the driver first
	driverCPU, serverCPU float64
	seconds              float64
	latency, lateness    record.Histogram
	warmups, unlevel     int
	loose                string // the first server that does not keep to the workers asked for
}

func gather(a *arranged, scenario int, t Tally) *evidence {
	e := &evidence{
		run: a.run, blocks: len(a.blocks), factors: a.run.Header.Scenarios[scenario].Factors, tally: t,
	}
	a.each(scenario, func(t *record.Trial) {
		e.wire.add(t.Wire)
		e.far.add(t.WireFar)
		e.seconds += t.Load.Seconds
		if thin(&a.run.Header, t) {
			e.thin++
		}
		e.cpu = append(e.cpu, make([]float64, max(0, len(t.Processes)-len(e.cpu)))...)
		for i, p := range t.Processes {
			e.cpu[i] += p.CPU()
			if i == 0 {
				e.driverCPU += p.CPU()
			} else {
				e.serverCPU += p.CPU()
			}
		}
		if t.Load.Lateness != nil {
			if e.lateness.Count() == 0 {
				e.lateness, e.latency = record.NewHistogram(), record.NewHistogram()
			}
			e.lateness.Merge(*t.Load.Lateness)
		}
	})
	for _, b := range a.blocks {
		if e.lateness.Count() > 0 { // nothing else looks at it
			e.latency.Merge(b.latency[scenario])
		}
	}
	if t.Calls > 0 {
		e.conns = e.wire.conns / float64(t.Calls)
	}
	for _, trial := range a.run.Trials {
		if trial.Scenario == scenario && trial.Failed != "" && e.whyFailed == "" {
			e.whyFailed = trial.Failed
		}
	}
	e.loose = a.loose(scenario)
	for _, b := range a.run.Blocks {
		if scenario < len(b.Warmups) {
			e.warmups++
			if !b.Warmups[scenario].Level {
				e.unlevel++
			}
		}
	}
	return e
}

// loose names the first server of a scenario that was asked to keep to a number of
// processors and does not say that it does; "" for none.
func (a *arranged) loose(scenario int) string {
	for _, b := range a.run.Blocks {
		if scenario >= len(b.Peers) {
			continue
		}
		for i, p := range b.Peers[scenario] {
			if i > 0 && p.Workers != a.run.Header.Workers { // the driver is asked nothing
				return p.Role
			}
		}
	}
	return ""
}

// longer is the flag that makes trials longer.
func (e *evidence) longer() string {
	if e.run.Header.Calls > 0 {
		return "--calls"
	}
	return "--slice"
}

// reuse names the settings that govern connections, for they explain most of
// what goes wrong with them.
func (e *evidence) reuse() string {
	var said []string
	for _, k := range slices.Sorted(maps.Keys(e.factors)) {
		if !slices.Contains(axes, k) {
			said = append(said, k+"="+e.factors[k])
		}
	}
	if len(said) == 0 {
		return ""
	}
	return ", with " + strings.Join(said, ", ")
}

// apart is how far two counts of one thing differ, as a share; 0 where only one
// side counted.
func apart(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return (max(a, b) - min(a, b)) / max(a, b)
}

func classes(errors map[string]int) string {
	var out []string
	for _, c := range slices.Sorted(maps.Keys(errors)) {
		out = append(out, fmt.Sprintf("%s %s", c, Thousands(strconv.Itoa(errors[c]))))
	}
	return strings.Join(out, ", ")
}
