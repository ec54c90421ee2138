package stats_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/stats/statstest"
)

func changed(t *testing.T, c *stats.Changes, metric, stack string) stats.Change {
	t.Helper()
	for _, one := range c.All {
		if one.Metric.Name == metric && one.Stack == stack {
			return one
		}
	}
	t.Fatalf("no change of %s of %s", metric, stack)
	return stats.Change{}
}

func compareRuns(t *testing.T, older, newer *record.Run) *stats.Changes {
	t.Helper()
	c, err := stats.CompareRuns(older, newer)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestChangesWithoutNoiseAreTheTruth(t *testing.T) {
	slower := double("b+x")
	slower.Received = 100
	c := compareRuns(t, quiet(stack("a+x"), stack("b+x"), stack("old+x")), quiet(stack("new+x"), slower, stack("a+x")))
	for _, want := range []struct {
		metric, stack string
		ratio         float64
		verdict       stats.Verdict
	}{
		{"server_cpu_per_call", "a+x", 1, stats.Same},
		{"throughput", "a+x", 1, stats.Same},
		{"server_cpu_per_call", "b+x", 2, stats.Higher},
		{"throughput", "b+x", 0.5, stats.Lower},
		{"latency_p50", "b+x", 2, stats.Higher},
		{"bytes_sent_per_call", "b+x", 2, stats.Higher},
		{"bytes_received_per_call", "b+x", 0.5, stats.Lower},
	} {
		got := changed(t, c, want.metric, want.stack)
		if !near(got.Ratio.Value, want.ratio) || got.Verdict != want.verdict || !near(got.New.Value/got.Old.Value, want.ratio) {
			t.Errorf("%s of %s: %v, %s; want %g, %s", want.metric, want.stack, got.Ratio, got.Verdict, want.ratio, want.verdict)
		}
	}
	if !slices.Equal(c.Stacks, []string{"b+x", "a+x"}) || !slices.Equal(c.OnlyOld, []string{"old+x"}) || !slices.Equal(c.OnlyNew, []string{"new+x"}) {
		t.Errorf("both %v, old %v, new %v", c.Stacks, c.OnlyOld, c.OnlyNew)
	}
}

// The difference is 3, its variance 2.5/5 + 10/5, its freedom 2.5² over
// 0.5²/4 + 2²/4 = 5.88235; Student's distribution integrated by Simpson's rule.
func TestWelchByHand(t *testing.T) {
	got, p := stats.OverRuns([]float64{1, 2, 3, 4, 5}, []float64{2, 4, 6, 8, 10}, 0.95)
	if math.Abs(p-0.107531) > 1e-6 || math.Abs(math.Log(got.Low)-(-0.887742)) > 1e-6 || math.Abs(math.Log(got.High)-6.887742) > 1e-6 || math.Abs(math.Log(got.Value)-3) > 1e-12 {
		t.Errorf("got %g to %g, p %g", math.Log(got.Low), math.Log(got.High), p)
	}
	if got, p := stats.OverRuns([]float64{1, 1}, []float64{1, 1}, 0.95); p != 1 || got.Low != 1 || got.High != 1 {
		t.Errorf("equal and without noise: %v, p %g", got, p)
	}
	if _, p := stats.OverRuns([]float64{1, 1}, []float64{2, 2}, 0.95); p != 0 {
		t.Errorf("different and without noise: p %g", p)
	}
}

// TestEqualRunsSeldomDiffer holds the family's promise between runs: of pairs
// without any difference, no more than one in twenty has a false verdict.
func TestEqualRunsSeldomDiffer(t *testing.T) {
	const pairs = 400
	noise := statstest.Busy
	noise.Drift = 0 // a machine that drifts from run to run is a difference
	run := func(seed uint64) *record.Run {
		return statstest.Experiment{
			Stacks: []statstest.Stack{stack("a+x"), stack("b+x"), stack("c+x")}, Blocks: 6, Rounds: 4,
			Slice: 250 * time.Millisecond, Noise: noise, Seed: seed, Bare: true,
		}.Run()
	}
	var wrong, covered tallied
	simulate(pairs, func(seed uint64) {
		c, err := stats.CompareRuns(run(2*seed+1), run(2*seed+2))
		if err != nil {
			t.Error(err)
			return
		}
		wrong.add(slices.ContainsFunc(c.All, func(one stats.Change) bool {
			return one.Verdict == stats.Higher || one.Verdict == stats.Lower
		}))
		r := c.All[0].Ratio
		covered.add(r.Low <= 1 && r.High >= 1)
	})
	if wrong.hits > pairs*5/100 || covered.hits < pairs*95/100 {
		t.Errorf("%d of %d pairs have a false verdict, and %d cover the truth", wrong.hits, pairs, covered.hits)
	}
}

func TestRunsOfDifferentQuestionsAreNotCompared(t *testing.T) {
	for want, change := range map[string]func(*record.Header){
		"workload (simulated and other)": func(h *record.Header) { h.Workload = "other" },
		"leg (whole and half)":           func(h *record.Header) { h.Leg = "half" },
		"param rows (10 and 20)":         func(h *record.Header) { h.Params = map[string]string{"rows": "20"} },
		"param rows (10 and none)":       func(h *record.Header) { h.Params = nil },
		"in flight (16 and 4)":           func(h *record.Header) { h.InFlight = 4 },
		"rate (0 and 100)":               func(h *record.Header) { h.Rate = 100 },
		"driver (native and lean)":       func(h *record.Header) { h.Driver = "lean" },
		"store (none and disk)":          func(h *record.Header) { h.Store = "disk" },
		"link (none and 5 ms of round trip (relay))": func(h *record.Header) {
			h.Link = &record.Link{Spec: "5ms,by=relay", Kind: record.Relay, RoundTripS: 0.005}
		},
		"timeout (10 s and 1 s)":          func(h *record.Header) { h.TimeoutS = 1 },
		"calls of each stack (0 and 100)": func(h *record.Header) { h.Calls = 100 },
		"path (a and b)":                  nil,
	} {
		older, newer := quiet(stack("a+x")), quiet(stack("a+x"))
		if change == nil {
			older.Header.Path, newer.Header.Path = []string{"a"}, []string{"b"}
		} else {
			change(&newer.Header)
		}
		c, err := stats.CompareRuns(older, newer)
		if unlike := new(stats.IncomparableError); !errors.As(err, &unlike) || len(unlike.Differs) != 1 || err.Error() != "the two runs differ in "+want {
			t.Errorf("got %v, %v; want %q", c, err, want)
		}
	}
}

func TestWhatRunsMayDifferInIsListed(t *testing.T) {
	older, newer := quiet(stack("a+x")), quiet(stack("a+x"))
	newer.Header.Version = "v1"
	newer.Header.Started = newer.Header.Started.Add(time.Hour)
	newer.Header.Environment = map[string]string{"cores": "8", "go": older.Header.Environment["go"], "kernel": "6"}
	newer.Header.Libraries = map[string]string{"example.com/wire": "v2"}
	want := []stats.Difference{
		{"cores", "4", "8"}, {"example.com/wire", "", "v2"}, {"kernel", "", "6"},
		{"started", "2026-11-30T12:00:00Z", "2026-11-30T13:00:00Z"}, {"tare", "v0.0.0", "v1"},
	}
	if got := compareRuns(t, older, newer).Differs; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAChangeThatCannotBeJudgedSaysWhyAndOfWhichRun(t *testing.T) {
	short := statstest.Experiment{Stacks: []statstest.Stack{stack("a+x")}, Blocks: 4, Rounds: 4, Slice: 250 * time.Millisecond}.Run()
	failing := quiet(stack("a+x"))
	for i := range failing.Trials {
		failing.Trials[i].Load.Errors = map[string]int{"reset": failing.Trials[i].Load.Calls / 2}
	}
	few := quiet(stack("a+x"))
	for i := range few.Trials {
		few.Trials[i].Load.Latency = record.NewHistogram()
		for range 100 {
			few.Trials[i].Load.Latency.Record(time.Millisecond)
		}
	}
	for _, c := range []struct {
		older, newer *record.Run
		metric       string
		verdict      stats.Verdict
		reason       string
	}{
		{quiet(stack("a+x")), short, "throughput", stats.Unclear, "a verdict takes 5 blocks; there are 4 (newer run)"},
		{short, quiet(stack("a+x")), "latency_p50", stats.Unclear, "a verdict takes 5 blocks; there are 4 (older run)"},
		{failing, quiet(stack("a+x")), "throughput", stats.Withheld, "50 % of the calls of a+x failed (older run)"},
		{quiet(stack("a+x")), few, "latency_p99", stats.Unclear, "latency p99 takes 1,000 calls in each block; a+x had 400 in one (newer run)"},
	} {
		got := changed(t, compareRuns(t, c.older, c.newer), c.metric, "a+x")
		if got.Verdict != c.verdict || got.Reason != c.reason || got.Ratio.Known() {
			t.Errorf("%s: %s, %q, %v; want %s, %q", c.metric, got.Verdict, got.Reason, got.Ratio, c.verdict, c.reason)
		}
	}
}

func TestARunWithoutResultsIsNotCompared(t *testing.T) {
	empty := quiet(stack("a+x"))
	empty.Trials = nil
	for _, pair := range [][2]*record.Run{{empty, quiet(stack("a+x"))}, {quiet(stack("a+x")), empty}} {
		if _, err := stats.CompareRuns(pair[0], pair[1]); err == nil || !strings.Contains(err.Error(), "er run: ") {
			t.Errorf("got %v", err)
		}
	}
}
