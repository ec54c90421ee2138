package stats_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/stats/statstest"
)

// quiet is a run without any noise, whose figures can be worked out by hand.
func quiet(stacks ...statstest.Stack) *record.Run {
	return statstest.Experiment{Stacks: stacks, Blocks: 6, Rounds: 4, Slice: 250 * time.Millisecond}.Run()
}

func double(name string) statstest.Stack {
	s := stack(name)
	s.CallsPerS, s.ServerCPU, s.Median, s.Sent = s.CallsPerS/2, s.ServerCPU*2, s.Median*2, s.Sent*2
	return s
}

func comparison(t *testing.T, a *stats.Analysis, metric, stack string) stats.Comparison {
	t.Helper()
	for _, c := range a.Comparisons {
		if c.Metric.Name == metric && c.Stack == stack {
			return c
		}
	}
	t.Fatalf("no comparison of %s of %s", metric, stack)
	return stats.Comparison{}
}

func level(t *testing.T, a *stats.Analysis, metric string, scenario int) stats.Level {
	t.Helper()
	for _, l := range a.Scenarios[scenario].Levels {
		if l.Metric.Name == metric {
			return l
		}
	}
	t.Fatalf("no level of %s", metric)
	return stats.Level{}
}

func near(got, want float64) bool { return math.Abs(got-want) <= 0.02*math.Abs(want) }

func TestLevelsAndRatiosWithoutNoiseAreTheTruth(t *testing.T) {
	a := analyse(t, quiet(stack("a+x"), double("b+x")))
	for _, c := range []struct {
		metric       string
		level, ratio float64
		verdict      stats.Verdict
	}{
		{"throughput", 12000, 0.5, stats.Lower},
		{"server_cpu_per_call", 60e-6, 2, stats.Higher},
		{"driver_cpu_per_call", 50e-6, 1, stats.Same},
		{"latency_p50", 1e-3, 2, stats.Higher},
		{"bytes_sent_per_call", 300, 2, stats.Higher},
		{"bytes_received_per_call", 200, 1, stats.Same},
	} {
		if l := level(t, a, c.metric, 0); !near(l.Value, c.level) {
			t.Errorf("%s is %g, want %g", c.metric, l.Value, c.level)
		}
		got := comparison(t, a, c.metric, "b+x")
		if !near(got.Ratio.Value, c.ratio) || got.Verdict != c.verdict {
			t.Errorf("%s: ratio %g, verdict %s; want %g, %s", c.metric, got.Ratio.Value, got.Verdict, c.ratio, c.verdict)
		}
		if exact := got.Metric.Kind == stats.Exact; exact != (got.Confidence == 1) {
			t.Errorf("%s: confidence %g", c.metric, got.Confidence)
		}
	}
}

func TestVerdictAgreesWithTheIntervalThatIsPrinted(t *testing.T) {
	for seed := range uint64(16) {
		b := stack("b+x")
		b.ServerCPU = b.ServerCPU * time.Duration(90+2*seed) / 100
		a := analyse(t, statstest.Experiment{
			Stacks: []statstest.Stack{stack("a+x"), b, stack("c+x")}, Blocks: 6, Rounds: 8,
			Slice: 250 * time.Millisecond, Noise: statstest.Busy, Seed: seed,
		}.Run())
		for _, c := range a.Comparisons {
			m := 1.02
			inside := c.Ratio.Low >= 1/m && c.Ratio.High <= m
			above := c.Ratio.Low > 1 && c.Ratio.Value > m
			below := c.Ratio.High < 1 && c.Ratio.Value < 1/m
			want := map[bool]stats.Verdict{true: stats.Unclear}[!inside && !above && !below]
			switch {
			case inside:
				want = stats.Same
			case above:
				want = stats.Higher
			case below:
				want = stats.Lower
			}
			if c.Verdict != want {
				t.Errorf("seed %d, %s: %v is called %s", seed, c.Metric.Name, c.Ratio, c.Verdict)
			}
			if (c.Needs != nil) != (c.Verdict == stats.Unclear && c.Reason == "") {
				t.Errorf("seed %d, %s: %s needs %v", seed, c.Metric.Name, c.Verdict, c.Needs)
			}
			if c.Metric.Kind != stats.Exact && c.Confidence < 0.95 {
				t.Errorf("seed %d, %s: judged at %g", seed, c.Metric.Name, c.Confidence)
			}
		}
	}
}

func TestVerdictDoesNotDependOnWhichIsTheBaseline(t *testing.T) {
	opposite := map[stats.Verdict]stats.Verdict{stats.Higher: stats.Lower, stats.Lower: stats.Higher}
	for seed := range uint64(20) {
		b := stack("b+x")
		b.ServerCPU = b.ServerCPU * time.Duration(98+seed) / 100
		run := statstest.Experiment{
			Stacks: []statstest.Stack{stack("a+x"), b}, Blocks: 6, Rounds: 8,
			Slice: 250 * time.Millisecond, Noise: statstest.Busy, Seed: seed,
		}.Run()
		one := comparison(t, analyse(t, run), "server_cpu_per_call", "b+x")
		run.Header.Baseline = "b+x"
		other := comparison(t, analyse(t, run), "server_cpu_per_call", "a+x")
		want, turned := opposite[one.Verdict]
		if !turned {
			want = one.Verdict
		}
		if other.Verdict != want || math.Abs(one.Ratio.Low*other.Ratio.High-1) > 1e-9 {
			t.Errorf("seed %d: %s %v, turned about %s %v", seed, one.Verdict, one.Ratio, other.Verdict, other.Ratio)
		}
	}
}

func TestVerdictAgainstTheMargin(t *testing.T) {
	for _, c := range []struct {
		low, value, high float64
		want             stats.Verdict
	}{
		{1.03, 1.05, 1.07, stats.Higher},
		{1.001, 1.03, 1.06, stats.Higher}, // beyond 1, and the estimate beyond the margin
		{1.001, 1.01, 1.03, stats.Unclear},
		{0.99, 1.05, 1.11, stats.Unclear},
		{0.93, 0.95, 0.97, stats.Lower},
		{0.96, 0.975, 0.999, stats.Lower},
		{0.985, 1, 1.015, stats.Same},
		{1.005, 1.01, 1.015, stats.Same}, // a difference, and too small to matter
		{0.9805, 0.99, 1, stats.Same},    // 1/1.02 is 0.9804
		{0.9803, 0.99, 1, stats.Unclear},
		{1.02, 1.02, 1.02, stats.Same},
		{1 / 1.02, 1 / 1.02, 1 / 1.02, stats.Same},
		{0, 1.5, math.Inf(1), stats.Unclear},
		{math.NaN(), math.NaN(), math.NaN(), stats.Unclear},
	} {
		if got := stats.Judge(stats.Interval{Low: c.low, Value: c.value, High: c.high}, 0.02); got != c.want {
			t.Errorf("%g to %g around %g is %s, want %s", c.low, c.high, c.value, got, c.want)
		}
	}
}

func TestHolmByHand(t *testing.T) {
	// Equal weights are Holm's first procedure: 0.05/4, /3, /2, and no further
	// once one is kept.
	got := stats.Holm([]float64{0.01, 0.04, 0.03, 0.005}, []float64{1, 1, 1, 1}, 0.05)
	want := []float64{0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("level %d is %g, want %g", i, got[i], want[i])
		}
	}
	// Half of all weight has half of alpha, and what is left passes on.
	got = stats.Holm([]float64{0.02, 0.04}, []float64{0.5, 0.5}, 0.05)
	if math.Abs(got[0]-0.025) > 1e-12 || math.Abs(got[1]-0.05) > 1e-12 {
		t.Errorf("got %v", got)
	}
}

func TestFewBlocksGiveNoVerdictAndSayWhy(t *testing.T) {
	run := statstest.Experiment{Stacks: []statstest.Stack{stack("a+x"), double("b+x")}, Blocks: 4, Rounds: 4, Slice: 250 * time.Millisecond}.Run()
	a := analyse(t, run)
	c := comparison(t, a, "server_cpu_per_call", "b+x")
	if c.Verdict != stats.Unclear || c.Reason != "a verdict takes 5 blocks; there are 4" || c.Ratio.Bounded() || !near(c.Ratio.Value, 2) {
		t.Errorf("got %+v", c)
	}
	if a.Warnings[0].Code != "few_blocks" {
		t.Errorf("warnings %v", a.Warnings)
	}
}

func TestErrorsWithholdRatiosAndAreCounted(t *testing.T) {
	run := quiet(stack("a+x"), double("b+x"), stack("c+x"))
	for i := range run.Trials {
		if l := run.Trials[i].Load; run.Trials[i].Scenario == 1 {
			l.OK, l.Errors, l.FirstError = l.Calls-3, map[string]int{"deadline": 2, "reset": 1}, "too slow"
		}
	}
	a := analyse(t, run)
	for _, c := range a.Comparisons {
		if want := c.Stack == "b+x"; want != (c.Verdict == stats.Withheld) || want != strings.Contains(c.Reason, "0.2 % of the calls of b+x failed") {
			t.Errorf("%s of %s: %s, %q", c.Metric.Name, c.Stack, c.Verdict, c.Reason)
		}
	}
	if got := level(t, a, "errors", 1).Value; got != 72 {
		t.Errorf("%g errors", got)
	}
}

func TestARunWithoutResultsIsAnError(t *testing.T) {
	run := quiet(stack("a+x"))
	for i := range run.Trials {
		run.Trials[i].Load, run.Trials[i].Failed = nil, "no server"
	}
	if _, err := stats.Analyze(run); err == nil || !strings.Contains(err.Error(), "no server") {
		t.Errorf("got %v", err)
	}
	if stats.Precise(run, 0.5) {
		t.Error("and yet precise")
	}
}

func TestExactMetricsShowTheirRange(t *testing.T) {
	run := quiet(stack("a+x"), stack("b+x"))
	for i := range run.Trials {
		if tr := &run.Trials[i]; tr.Scenario == 1 && tr.Block == 0 {
			tr.Wire.Sent *= 2
		}
	}
	a := analyse(t, run)
	if l := level(t, a, "bytes_sent_per_call", 0); l.Low != l.High || l.Value != 300 {
		t.Errorf("steady: %+v", l.Interval)
	}
	if l := level(t, a, "bytes_sent_per_call", 1); l.Low != 300 || l.High != 600 || l.Value != 350 {
		t.Errorf("varying: %+v", l.Interval)
	}
	if c := comparison(t, a, "bytes_sent_per_call", "b+x"); c.Ratio != (stats.Interval{Low: 7. / 6, Value: 7. / 6, High: 7. / 6}) {
		t.Errorf("ratio %+v", c.Ratio)
	}
}

func TestTiersPartTheServersCPU(t *testing.T) {
	run := statstest.Experiment{
		Stacks: []statstest.Stack{stack("a+x"), stack("b+x")}, Blocks: 6, Rounds: 4,
		Slice: 250 * time.Millisecond, Tiers: []string{"front", "till"},
	}.Run()
	run.Header.VariedTier = new(1)
	for i := range run.Trials { // the till of b+x takes half as much
		if tr := &run.Trials[i]; tr.Scenario == 1 {
			tr.Processes[2].CPUUserS, tr.Processes[2].CPUSystemS = tr.Processes[2].CPUUserS/2, tr.Processes[2].CPUSystemS/2
		}
	}
	a := analyse(t, run)
	base, got := a.Scenarios[0].Tiers, a.Scenarios[1].Tiers
	if len(base) != 2 || base[0].Name != "front" || !near(base[0].Value+base[1].Value, 60e-6) || base[1].Ratio.Known() {
		t.Errorf("baseline: %+v", base)
	}
	if len(got) != 2 || !near(got[0].Ratio.Value, 1) || !near(got[1].Ratio.Value, 0.5) || got[0].Varied || !got[1].Varied {
		t.Errorf("got %+v", got)
	}
	if c := comparison(t, a, "server_cpu_per_call", "b+x"); !near(c.Ratio.Value, 0.75) {
		t.Errorf("the whole: %v", c.Ratio)
	}
	run.Header.VariedTier = nil // a file that does not say is not guessed at
	a = analyse(t, run)
	if got := a.Scenarios[1].Tiers; got[0].Varied || got[1].Varied || slices.Contains(codes(a.Notes), "fixed_tiers") {
		t.Errorf("got %+v, notes %v", got, codes(a.Notes))
	}
}

func TestOpenLoopJudgesNoThroughput(t *testing.T) {
	run := quiet(stack("a+x"), stack("b+x"))
	run.Header.Rate = 100
	for _, c := range analyse(t, run).Comparisons {
		if c.Metric.Name == "throughput" {
			t.Errorf("throughput, which the schedule sets, is judged %s", c.Verdict)
		}
	}
}

func TestPreciseLooksAtWhatWillBePrinted(t *testing.T) {
	run := statstest.Experiment{
		Stacks: []statstest.Stack{stack("a+x"), stack("b+x")}, Blocks: 8, Rounds: 10,
		Slice: 250 * time.Millisecond, Noise: statstest.Busy, Seed: 5,
	}.Run()
	run.Header.Precision = 0.1 // so that Analyze widens as Precise does
	widest := 0.0
	for _, c := range analyse(t, run).Comparisons {
		if c.Metric.Headline(run.Header) {
			widest = max(widest, c.Ratio.High/c.Ratio.Value-1)
		}
	}
	if !stats.Precise(run, widest*1.001) || stats.Precise(run, widest*0.999) {
		t.Errorf("the widest headline is ±%g", widest)
	}
	one := statstest.Experiment{Stacks: []statstest.Stack{stack("a+x")}, Blocks: 5, Rounds: 4, Slice: 250 * time.Millisecond}
	if !stats.Precise(one.Run(), 0.01) {
		t.Error("one stack without noise is not precise")
	}
	one.Blocks = 4
	if stats.Precise(one.Run(), 0.01) {
		t.Error("precise after 4 blocks")
	}
}

func TestIntervalByHand(t *testing.T) {
	// Mean 3, standard deviation √2.5, six decimals of t from a table: 2.776445
	// for 4 degrees of freedom at 97.5 %.
	got, p := stats.Over([]float64{1, 2, 3, 4, 5}, 0.95)
	half := 2.776445 * math.Sqrt(2.5/5)
	if math.Abs(math.Log(got.Value)-3) > 1e-12 || math.Abs(math.Log(got.Low)-(3-half)) > 1e-5 || math.Abs(math.Log(got.High)-(3+half)) > 1e-5 {
		t.Errorf("got %v", got)
	}
	// t = 3/√0.5 = 4.2426 with 4 degrees of freedom: 0.013236 by R's pt.
	if math.Abs(p-0.013236) > 1e-5 {
		t.Errorf("p is %g", p)
	}
	if got, _ := stats.Over([]float64{1}, 0.95); got.Bounded() || !got.Known() {
		t.Errorf("one block gives %v", got)
	}
	if got, _ := stats.Over(nil, 0.95); got.Known() {
		t.Errorf("no block gives %v", got)
	}
}
