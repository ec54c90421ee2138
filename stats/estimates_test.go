package stats_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/stats/statstest"
)

func TestQuantilesTakeTenCallsBeyondThem(t *testing.T) {
	run := quiet(stack("a+x"), stack("b+x"))
	a := analyse(t, run) // 4 rounds of 1,500 calls a block
	if l := level(t, a, "latency_p99", 0); !l.Known() || l.Reason != "" {
		t.Errorf("p99: %+v", l)
	}
	l := level(t, a, "latency_p999", 0)
	if want := "latency p99.9 takes 10,000 calls in each block; a+x had 6,000 in one"; l.Known() || l.Reason != want {
		t.Errorf("p99.9: %q, want %q", l.Reason, want)
	}
	// One thin block is enough to withhold it.
	thin := record.NewHistogram()
	for range 100 {
		thin.Record(time.Millisecond)
	}
	for i := range run.Trials {
		if t := &run.Trials[i]; t.Block == 3 && t.Scenario == 1 {
			t.Load.Latency = thin
		}
	}
	c := comparison(t, analyse(t, run), "latency_p99", "b+x")
	if want := "latency p99 takes 1,000 calls in each block; b+x had 400 in one"; c.Reason != want || c.Ratio.Known() || c.Verdict != stats.Unclear {
		t.Errorf("got %+v, want %q", c, want)
	}
}

func TestRoundsWithAFailedTrialAreLeftOutAndCounted(t *testing.T) {
	run := quiet(stack("a+x"), double("b+x"))
	for i := range run.Trials {
		// What the failed trial's partner shows would change the ratio.
		switch tr := &run.Trials[i]; {
		case tr.Round == 5 && tr.Scenario == 0:
			tr.Failed = "driver died"
		case tr.Round == 5:
			tr.Processes[1].CPUUserS *= 100
		}
	}
	a := analyse(t, run)
	if c := comparison(t, a, "server_cpu_per_call", "b+x"); !near(c.Ratio.Value, 2) {
		t.Errorf("ratio %v", c.Ratio)
	}
	if got := a.Scenarios[1].LeftOut; got != 1 {
		t.Errorf("%d rounds left out", got)
	}
	if got := a.Scenarios[0].Tally.Failed; got != 1 {
		t.Errorf("%d trials failed", got)
	}
}

func TestNeedsFollowTheSquareRootLaw(t *testing.T) {
	run := statstest.Experiment{
		Stacks: []statstest.Stack{stack("a+x"), stack("b+x")}, Blocks: 6, Rounds: 4,
		Slice: 250 * time.Millisecond, Noise: statstest.Busy, Seed: 3,
	}.Run()
	c := comparison(t, analyse(t, run), "throughput", "b+x")
	if c.Needs == nil {
		t.Fatalf("verdict %s", c.Verdict)
	}
	half := math.Log(c.Ratio.High / c.Ratio.Value)
	if !near(c.Needs.Detects, math.Exp(half)-1) || c.Needs.Target != 0.02 {
		t.Errorf("needs %+v, want to detect %g", *c.Needs, math.Exp(half)-1)
	}
	n := c.Needs.Blocks
	upper := func(nu float64) float64 {
		return distuv.StudentsT{Sigma: 1, Nu: nu}.Quantile(0.5 + c.Confidence/2)
	}
	if want := 6 * math.Pow(half/math.Log(1.02)*upper(n-1)/upper(5), 2); n != math.Ceil(want) {
		t.Errorf("needs %g blocks, want %g", n, want)
	}
	const ofABlock = 2 * 4 * 0.25 // stacks, rounds, seconds
	if !near(c.Needs.UnderLoadS, n*ofABlock) || !near(c.Needs.ForS, n*ofABlock) || c.Needs.Calls != 0 {
		t.Errorf("needs %+v, and a block takes %g s", *c.Needs, ofABlock)
	}
	run.Header.PhasesS = 0.5
	if c := comparison(t, analyse(t, run), "throughput", "b+x"); !near(c.Needs.ForS, n*(ofABlock+2*0.5)) {
		t.Errorf("needs --for %g s with a profiled trial of each stack a block", c.Needs.ForS)
	}
	run.Header.SliceS, run.Header.Calls = 0, 60_000
	if c := comparison(t, analyse(t, run), "throughput", "b+x"); c.Needs.Calls != c.Needs.Blocks*10_000 || c.Needs.ForS != 0 {
		t.Errorf("where work ends a trial: %+v", *c.Needs)
	}
}

func TestSoManyBlocksAreNeededAndNoFewer(t *testing.T) {
	// A standard deviation of 0.01 and ±0.02: 2.776/√5 · 0.01 = 0.0124, already
	// narrow; ±0.005 takes 18 blocks, 2.110/√18 · 0.01 = 0.00497, while 17 give
	// 2.120/√17 · 0.01 = 0.00514 (t from a table).
	blocks := []float64{0.01 * math.Sqrt(2), 0, 0, 0, -0.01 * math.Sqrt(2)}
	if got := stats.WouldTake(blocks, 0.005, 0.95); got != 18 {
		t.Errorf("got %g", got)
	}
	// The normal quantile takes over where Student's leaves off.
	if got := stats.WouldTake(blocks, 0.01*1.96/math.Sqrt(1000), 0.95); got < 1000 || got > 1004 {
		t.Errorf("got %g", got)
	}
}

func TestThinTrialsLeaveThroughputAndSaySo(t *testing.T) {
	run := quiet(stack("a+x"), stack("b+x"))
	for i := range run.Trials {
		if tr := &run.Trials[i]; tr.Scenario == 1 && tr.Round%4 == 0 {
			tr.Load.WindowCalls = 15 // of 16 in flight
		}
	}
	a := analyse(t, run)
	if c := comparison(t, a, "throughput", "b+x"); !near(c.Ratio.Value, 1) || c.Verdict != stats.Same {
		t.Errorf("%s, ratio %v", c.Verdict, c.Ratio)
	}
	if got := a.Scenarios[1].LeftOut; got != 6 {
		t.Errorf("%d rounds left out", got)
	}
	if l := level(t, a, "throughput", 1); !near(l.Value, 12000) {
		t.Errorf("throughput %v", l.Interval)
	}
	run.Header.Rate = 10 // an open loop has more slots than it fills
	if got := codes(analyse(t, run).Warnings); len(got) != 0 {
		t.Errorf("an open loop: %v", got)
	}
}

func TestShortBlocksAreLeftOutOfEstimatesAndCounted(t *testing.T) {
	run := quiet(stack("a+x"), double("b+x"))
	rounds := func(n int) *record.Run {
		cut := *run
		cut.Trials = nil
		for _, tr := range run.Trials {
			if tr.Block < 5 || tr.Round < 5*4+n {
				if tr.Block == 5 && tr.Scenario == 1 {
					tr.Processes = []record.Usage{tr.Processes[0], {CPUUserS: 100}}
				}
				cut.Trials = append(cut.Trials, tr)
			}
		}
		return &cut
	}
	a := analyse(t, rounds(1))
	if a.Blocks != 5 || a.ShortBlocks != 1 || a.Rounds != 20 || !near(a.UnderLoadS, 10) {
		t.Errorf("%d blocks, %d short, %d rounds, %g s", a.Blocks, a.ShortBlocks, a.Rounds, a.UnderLoadS)
	}
	if c := comparison(t, a, "server_cpu_per_call", "b+x"); !near(c.Ratio.Value, 2) {
		t.Errorf("ratio %v", c.Ratio)
	}
	if !slices.Contains(codes(a.Notes), "short_blocks") {
		t.Errorf("notes %v", codes(a.Notes))
	}
	if got, want := a.Scenarios[0].Tally.Calls, 21*3000; got != want {
		t.Errorf("%d calls, want %d", got, want)
	}
	if a := analyse(t, rounds(2)); a.Blocks != 6 || a.ShortBlocks != 0 {
		t.Errorf("half of the rounds: %d blocks, %d short", a.Blocks, a.ShortBlocks)
	}

	// Where it is the only one, it is all there is to say; with others like it
	// it does not become a verdict.
	for name, keep := range map[string]func(record.Trial) bool{
		"the only block": func(t record.Trial) bool { return t.Round == 0 },
		"all are short":  func(t record.Trial) bool { return t.Round%4 == 0 },
	} {
		few := *run
		few.Trials = nil
		for _, tr := range run.Trials {
			if keep(tr) {
				few.Trials = append(few.Trials, tr)
			}
		}
		a := analyse(t, &few)
		if c := comparison(t, a, "server_cpu_per_call", "b+x"); a.Blocks != 1 || c.Reason != "a verdict takes 5 blocks; there is 1" {
			t.Errorf("%s: %d blocks, %+v", name, a.Blocks, c)
		}
		if w := a.Warnings[0]; w.Code != "few_blocks" || !strings.HasPrefix(w.Text, "1 block gave") {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

func TestWhatTimeOrTheLegDecidesIsShownAndNotJudged(t *testing.T) {
	for _, c := range []struct {
		metric string
		change func(*record.Header)
		want   bool
	}{
		{"server_peak_rss", func(*record.Header) {}, false},
		{"server_peak_rss", func(h *record.Header) { h.SliceS, h.Calls = 0, 72_000 }, true},
		{"driver_cpu_per_call", func(*record.Header) {}, true},
		{"driver_cpu_per_call", func(h *record.Header) { h.VariedTier = new(1) }, false},
		{"driver_cpu_per_call", func(h *record.Header) { h.VariedTier = nil }, true},
	} {
		run := quiet(stack("a+x"), stack("b+x"))
		c.change(&run.Header)
		a := analyse(t, run)
		judged := slices.ContainsFunc(a.Comparisons, func(got stats.Comparison) bool { return got.Metric.Name == c.metric })
		if judged != c.want || !level(t, a, c.metric, 1).Known() {
			t.Errorf("%s: judged: %t, want %t", c.metric, judged, c.want)
		}
	}
}
