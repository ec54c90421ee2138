package stats

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tare-bench/tare/record"
)

// runNotes are what every such run leaves unsaid, each said once.
var runNotes = []struct {
	code string
	look func(*arranged, []*evidence) (text, remedy string)
}{
	{"not_finished", func(a *arranged, _ []*evidence) (string, string) {
		switch e := a.run.End; {
		case e == nil:
			return "the run was cut short: its results end without an end", ""
		case e.Reason == "complete" || e.Reason == "precise":
			return "", ""
		case e.Error != "":
			return fmt.Sprintf("the run ended early (%s: %s)", e.Reason, e.Error), ""
		default:
			return fmt.Sprintf("the run ended early (%s)", e.Reason), ""
		}
	}},
	{"short_blocks", func(a *arranged, _ []*evidence) (string, string) {
		n := len(a.short)
		if n == 0 {
			return "", ""
		}
		return fmt.Sprintf("fewer than half of %s in %s: left out of all estimates, and counted in calls, bytes and errors",
			Counted(a.run.Header.Rounds, "round"), Counted(n, "block")), ""
	}},
	{"confounded", func(a *arranged, _ []*evidence) (string, string) { return a.confounded() }},
	{"closed_loop", func(a *arranged, _ []*evidence) (string, string) {
		if a.run.Header.Rate > 0 {
			return "", ""
		}
		return "the loop is closed: a stall holds back the calls that would have met it, so that high percentiles look better than users would find them",
			"measure latency with --rate, at a rate that every stack can carry"
	}},
	{"client_cost", func(a *arranged, all []*evidence) (string, string) {
		h := a.run.Header
		if h.Driver == record.Lean || h.Rate > 0 || !driverVaries(h) { // its client may be no compared stack's
			return "", ""
		}
		most, which := 1.0, -1
		for s, e := range all {
			if e.serverCPU > 0 && e.driverCPU > most*e.serverCPU {
				most, which = e.driverCPU/e.serverCPU, s
			}
		}
		if which < 0 {
			return "", ""
		}
		return fmt.Sprintf("throughput includes the stacks' own clients: that of %s takes %.1fx the CPU of its servers",
				h.Scenarios[which].Name, most),
			"read the server's CPU per call, or measure with --driver lean for the servers' capacity"
	}},
	{"fed", func(a *arranged, all []*evidence) (string, string) {
		fed := 0
		for _, e := range all {
			fed += e.tally.Fed
		}
		if fed == 0 {
			return "", ""
		}
		return fmt.Sprintf("streams are too long to be made in advance: the driver made %s while it sent them, alike for every stack; "+
				"that is in the driver's CPU and in throughput, and in no figure of the servers", Counted(fed, "message")),
			"read the servers' CPU first; the driver's phases, under make and check calls, tell how much it was"
	}},
	{"fixed_tiers", func(a *arranged, all []*evidence) (string, string) { return a.fixedTiers(all[a.baseline()]) }},
	{"few_cores", func(a *arranged, all []*evidence) (string, string) {
		cores, err := strconv.Atoi(a.run.Header.Environment[environmentCores])
		busy := 0
		for _, e := range all {
			busy = max(busy, len(e.cpu))
		}
		if err != nil || cores >= busy {
			return "", ""
		}
		return fmt.Sprintf("%d processes share %s while a stack is loaded: throughput and latency hold their contention",
				busy, Counted(cores, "core")),
			"measure on a machine with a core for each"
	}},
	{"store", func(a *arranged, _ []*evidence) (string, string) {
		where := a.run.Header.Store
		if !strings.Contains(where, ":") { // a name alone is of the process's own memory; an address leads out of it
			return "", ""
		}
		return fmt.Sprintf("each server kept its records in a store of its own beside %s, new in every block: "+
				"a wait for its disk is in every stack's time alike and pulls ratios towards 1; what it costs another process, such as a database's server, is in no CPU figure",
				where),
			"run without --store for what the stacks cost by themselves"
	}},
	{"pinned", func(a *arranged, _ []*evidence) (string, string) {
		p := a.run.Header.Pinned
		if len(p.Driver) == 0 {
			return "", ""
		}
		return fmt.Sprintf("the driver ran on processors %v and the servers on %v alone; whatever else runs, tare and a link's carrier too, has the choice of all",
			p.Driver, p.Servers), ""
	}},
	{"link", func(a *arranged, _ []*evidence) (string, string) { return acrossLink(a.run) }},
	{"loopback", func(a *arranged, _ []*evidence) (string, string) {
		if a.run.Header.Link != nil {
			return "", ""
		}
		return "everything ran on one machine, over loopback: a network adds latency, and makes bytes cost more", ""
	}},
}

// fixedTiers says how much of the servers' CPU is that of the tier which answers
// the compared calls.
func (a *arranged) fixedTiers(e *evidence) (text, remedy string) {
	names := a.tierNames(a.baseline())
	if a.run.Header.VariedTier == nil || e.serverCPU <= 0 {
		return "", ""
	}
	varied := *a.run.Header.VariedTier
	if varied < 0 || varied >= len(names) || varied+1 >= len(e.cpu) {
		return "", ""
	}
	return fmt.Sprintf("server CPU is the sum of %s; %s, which answers the calls that vary, has %.0f %% of it with %s: "+
			"what the others do alike in every stack pulls its ratio towards 1",
			strings.Join(names, " and "), names[varied], 100*e.cpu[varied+1]/e.serverCPU, a.run.Header.Baseline),
		"see the ratio of each tier beside it, which is not judged"
}

// confounded names a pair of stacks that differ in protocol and in codec, where
// the run does not hold what would tell the two apart.
func (a *arranged) confounded() (text, remedy string) {
	h := a.run.Header
	base := a.baseline()
	for s := range h.Scenarios {
		factors, _, missing := a.factors(base, s)
		const two = 2
		if len(factors) != two || factors[0].axis != axisProtocol || factors[1].axis != axisCodec {
			continue
		}
		var add []string
		for _, levels := range missing {
			name := levels[axisProtocol] + "+" + levels[axisCodec]
			if !slices.ContainsFunc(h.LeftOut, func(o record.Omission) bool { return o.Stack == name }) {
				add = append(add, name)
			}
		}
		if len(missing) == 0 {
			continue
		}
		text = fmt.Sprintf("%s and %s differ in protocol and in codec: this run does not say which of the two makes the difference",
			h.Scenarios[s].Name, h.Scenarios[base].Name)
		if len(add) > 0 {
			remedy = "add " + strings.Join(add, " and ") + " to --stacks"
		}
		return text, remedy
	}
	return "", ""
}
