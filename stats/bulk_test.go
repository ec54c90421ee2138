package stats_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

// inBulk has each call of a run move so many records.
func inBulk(run *record.Run, perCall int) *record.Run {
	run.Header.Item = "record"
	for i := range run.Trials {
		l := run.Trials[i].Load
		l.Items, l.WindowItems = perCall*l.OK, float64(perCall*l.WindowCalls)
	}
	return run
}

func TestCostsAreByTheItem(t *testing.T) {
	const n = 500
	byCall := analyse(t, quiet(stack("a+x"), stack("b+x")))
	byItem := analyse(t, inBulk(quiet(stack("a+x"), stack("b+x")), n))
	for metric, factor := range map[string]float64{
		"server_cpu_per_call": 1. / n, "driver_cpu_per_call": 1. / n, "bytes_sent_per_call": 1. / n, "bytes_received_per_call": 1. / n,
		"throughput": n, "latency_p50": 1, "server_peak_rss": 1,
	} {
		if one, other := level(t, byCall, metric, 0).Value, level(t, byItem, metric, 0).Value; !near(other/one, factor) {
			t.Errorf("%s: %v by the call, %v by the item", metric, one, other)
		}
	}
	moved, rate := level(t, byItem, "bytes_per_second", 0).Value, level(t, byItem, "throughput", 0).Value
	bytes := level(t, byItem, "bytes_sent_per_call", 0).Value + level(t, byItem, "bytes_received_per_call", 0).Value
	if !near(moved, rate*bytes) {
		t.Errorf("%v B/s are moved, by %v records/s of %v B", moved, rate, bytes)
	}
	if byItem.Scenarios[0].Tally.PerCall() != n {
		t.Errorf("%v items a call", byItem.Scenarios[0].Tally.PerCall())
	}
}

func TestMetricsAreToldInTheWordsOfTheirRun(t *testing.T) {
	h := record.Header{Item: "record", Streams: true}
	for i := range stats.Metrics {
		m := &stats.Metrics[i]
		told := m.In(h)
		text := strings.Join([]string{told.Unit, told.Per, told.Noun, told.Claim, told.Than}, "|")
		if m.PerItem && (strings.Contains(strings.ReplaceAll(text, "caller", ""), "call") || !strings.Contains(text, "record") || strings.Contains(text, "recorder")) {
			t.Errorf("%s: %s", m.Name, text)
		}
		if same := m.In(record.Header{}); same.Noun != m.Noun || same.Claim != m.Claim || same.Unit != m.Unit || same.Name != told.Name {
			t.Errorf("%s changes without reason", m.Name)
		}
	}
	if got := stats.Find("latency_p50").In(h).Than; got != "the median stream of %s takes %s time than that of %s" {
		t.Errorf("got %q", got)
	}
}

// A driver that counts no items tells nothing by the item; what it tells by the call
// must not be taken for it.
func TestADriverThatCountsNoItemsTellsNothingByThem(t *testing.T) {
	run := quiet(stack("a+x"), stack("b+x"))
	run.Header.Item = "record"
	a := analyse(t, run)
	for _, l := range a.Scenarios[0].Levels {
		if l.Metric.PerItem && l.Known() {
			t.Errorf("%s is %v", l.Metric.Name, l.Value)
		}
	}
	if _, err := stats.Slowest(run); err == nil {
		t.Error("a pilot found a throughput")
	}
}

// Few long calls fill a window as well as many short ones: their items are spread.
func TestFewCallsInBulkAreNotThin(t *testing.T) {
	run := inBulk(quiet(stack("a+x"), stack("b+x")), 500)
	for i := range run.Trials {
		run.Trials[i].Load.WindowCalls = 2
	}
	if a := analyse(t, run); len(a.Warnings) > 0 || !level(t, a, "throughput", 1).Known() {
		t.Errorf("warnings %+v", a.Warnings)
	}
	for i := range run.Trials {
		if run.Trials[i].Scenario == 1 {
			run.Trials[i].Load.WindowItems = 0
		}
	}
	if got := codes(analyse(t, run).Warnings); !slices.Equal(got, []string{"thin_window b+x"}) {
		t.Errorf("without items in the window: %v", got)
	}
}

// Arrivals are of calls, and so must be what they are a share of.
func TestAPilotInBulkFindsCalls(t *testing.T) {
	found, err := stats.Slowest(inBulk(pilotRun(), 500))
	if err != nil || found.Stack != "b+x" || !near(found.Throughput, 5000) {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestFindingsInBulk(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*record.Run)
		want   []string // warnings
	}{
		{"streams of three turns", func(r *record.Run) {
			r.Header.Streams = true
			for i := range r.Trials {
				if l := r.Trials[i].Load; r.Trials[i].Scenario == 1 {
					l.Calls, l.OK = 3*r.Header.InFlight, 3*r.Header.InFlight
				}
			}
		}, nil},
		{"streams of fewer", func(r *record.Run) {
			r.Header.Streams = true
			for i := range r.Trials {
				if l := r.Trials[i].Load; r.Trials[i].Scenario == 1 {
					l.Calls, l.OK = 2*r.Header.InFlight, 2*r.Header.InFlight
				}
			}
		}, []string{"short_trials b+x"}},
		{"servers keep to their workers", func(r *record.Run) { keepTo(r, 1, 1) }, nil},
		{"one does not say so", func(r *record.Run) { keepTo(r, 1, 0) }, []string{"workers_ignored b+x"}},
	} {
		run := inBulk(quiet(stack("a+x"), stack("b+x")), 500)
		c.change(run)
		if got := codes(analyse(t, run).Warnings); !slices.Equal(got, c.want) {
			t.Errorf("%s: warnings %v, want %v", c.name, got, c.want)
		}
	}
	run := inBulk(quiet(stack("a+x"), stack("b+x")), 500)
	run.Trials[0].Load.Fed = 1200
	notes := analyse(t, run).Notes
	if i := slices.IndexFunc(notes, func(f stats.Finding) bool { return f.Code == "fed" }); i < 0 || !strings.Contains(notes[i].Text, "made 1,200 messages") {
		t.Errorf("notes %+v", notes)
	}
}

// keepTo asks servers to keep to a number of processors, and has those of b+x say
// another.
func keepTo(r *record.Run, asked, says int) {
	r.Header.Workers = asked
	for i := range r.Blocks {
		for s := range r.Blocks[i].Peers {
			n := asked
			if s == 1 {
				n = says
			}
			r.Blocks[i].Peers[s][1].Workers = n
		}
	}
}

// Runs by the item and by the call ask different questions, and so do those of other
// servers.
func TestRunsOfOtherUnitsOrWorkersAreNotCompared(t *testing.T) {
	older, newer := quiet(stack("a+x"), stack("b+x")), inBulk(quiet(stack("a+x"), stack("b+x")), 500)
	newer.Header.Workers = 1
	var unlike *stats.IncomparableError
	if _, err := stats.CompareRuns(older, newer); !errors.As(err, &unlike) || len(unlike.Differs) != 2 {
		t.Errorf("got %v", err)
	}
}

// What a profiled call costs is divided by its items too.
func TestPhasesAreByTheItem(t *testing.T) {
	run := inBulk(quiet(stack("a+x"), stack("b+x")), 500)
	for b := range run.Blocks {
		run.Profiles = append(run.Profiles, record.Profile{Block: b, Calls: 10, Items: 5000, Processes: []*record.Phases{
			{CPUS: 1, PeriodS: 0.01}, {CPUS: 2, PeriodS: 0.01, Samples: 200, Parts: []record.PhaseTime{{Phase: record.PhaseEncode, Seconds: 2}}},
		}})
	}
	p := analyse(t, run).Scenarios[0].Phases
	if p == nil || !near(p.Servers.Total.Value, 2./5000) || !near(p.Servers.Parts[0].Value, 2./5000) {
		t.Errorf("got %+v", p)
	}
}
