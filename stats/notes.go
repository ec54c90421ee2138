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
	{"confounded", func(a *arranged, _ []*evidence) (string, string) { return a.confounded() }},
	{"closed_loop", func(a *arranged, _ []*evidence) (string, string) {
		if a.run.Header.Rate > 0 {
			return "", ""
		}
		return "the loop is closed: a stall holds back the calls that would have met it, so that high percentiles look better than users would find them",
			"measure latency with --rate, at a rate that every stack can carry"
	}},
	{"client_cost", func(a *arranged, all []*evidence) (string, string) {
		if a.run.Header.Driver == record.Lean || a.run.Header.Rate > 0 {
			return "", ""
		}
		for _, e := range all {
			if e.serverCPU > 0 && e.driverCPU > e.serverCPU {
				return "throughput includes the stacks' own clients, and some take more CPU than their servers",
					"read the server's CPU per call, or measure with --driver lean for the servers' capacity"
			}
		}
		return "", ""
	}},
	{"few_cores", func(a *arranged, all []*evidence) (string, string) {
		cores, err := strconv.Atoi(a.run.Header.Environment[environmentCores])
		busy := 0
		for _, e := range all {
			busy = max(busy, e.processes)
		}
		if err != nil || cores >= busy {
			return "", ""
		}
		return fmt.Sprintf("%d processes share %d cores while a stack is loaded: throughput and latency hold their contention", busy, cores),
			"measure on a machine with a core for each"
	}},
	{"loopback", func(*arranged, []*evidence) (string, string) {
		return "everything ran on one machine, over loopback: a network adds latency, and makes bytes cost more", ""
	}},
}

// confounded names a pair of stacks that differ in protocol and in codec, where
// the run does not hold what would tell the two apart.
func (a *arranged) confounded() (text, remedy string) {
	h := a.run.Header
	base := a.baseline()
	for s := range h.Scenarios {
		factors := differences(h.Scenarios[base].Factors, h.Scenarios[s].Factors)
		const two = 2
		if len(factors) != two || factors[0].axis != axisProtocol || factors[1].axis != axisCodec {
			continue
		}
		_, missing := a.cells(base, s, factors)
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
