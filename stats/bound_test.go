package stats_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/stats/statstest"
)

func check(t *testing.T, a *stats.Analysis, b stats.Bound) stats.Outcome {
	t.Helper()
	out, err := a.Check([]stats.Bound{b})
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func bound(stack, over, metric string, c stats.Comparator, limit float64) stats.Bound {
	return stats.Bound{Stack: stack, Over: over, Metric: stats.Find(metric), Compare: c, Limit: limit}
}

func noisy(blocks int) *record.Run {
	return statstest.Experiment{
		Stacks: []statstest.Stack{stack("a+x"), double("b+x"), stack("c+x")}, Blocks: blocks, Rounds: 8,
		Slice: 250 * time.Millisecond, Noise: statstest.Busy, Seed: 3,
	}.Run()
}

func TestABoundIsJudgedOnTheWholeInterval(t *testing.T) {
	a := analyse(t, noisy(6))
	l := level(t, a, "latency_p50", 1)
	r := comparison(t, a, "server_cpu_per_call", "b+x").Ratio
	if !(l.Low < l.Value && l.Value < l.High && r.Low < r.High) {
		t.Fatalf("no interval: %+v, %+v", l, r)
	}
	for _, target := range []struct {
		stack, over, metric string
		stats.Interval
	}{
		{"b+x", "", "latency_p50", l.Interval},
		{"b+x", "a+x", "server_cpu_per_call", r},
		{"a+x", "b+x", "server_cpu_per_call", stats.Interval{Low: 1 / r.High, Value: 1 / r.Value, High: 1 / r.Low}},
	} {
		for _, c := range []struct {
			compare stats.Comparator
			limit   float64
			want    stats.State
		}{
			{stats.Above, target.Low * 0.999, stats.Broken},
			{stats.Above, target.Low, stats.NotDecided},
			{stats.AtLeast, target.Low, stats.Broken},
			{stats.Above, target.Value, stats.NotDecided},
			{stats.Above, target.High, stats.Kept},
			{stats.AtLeast, target.High, stats.NotDecided},
			{stats.AtLeast, target.High * 1.001, stats.Kept},
			{stats.Below, target.High * 1.001, stats.Broken},
			{stats.Below, target.High, stats.NotDecided},
			{stats.AtMost, target.High, stats.Broken},
			{stats.Below, target.Value, stats.NotDecided},
			{stats.Below, target.Low, stats.Kept},
			{stats.AtMost, target.Low, stats.NotDecided},
		} {
			got := check(t, a, bound(target.stack, target.over, target.metric, c.compare, c.limit))
			if got.State != c.want || got.Interval != target.Interval {
				t.Errorf("%v: %s %g is %s on %v, want %s", target, c.compare, c.limit, got.State, got.Interval, c.want)
			}
		}
	}
}

func TestWhatIsCountedIsJudgedOnItsValue(t *testing.T) {
	run := quiet(stack("a+x"), stack("b+x"))
	for i := range run.Trials {
		if tr := &run.Trials[i]; tr.Scenario == 1 && tr.Block == 0 {
			tr.Wire.Sent *= 2
		}
	}
	run.Trials[1].Load.Errors = map[string]int{"reset": 1}
	a := analyse(t, run)
	failing := run.Header.Scenarios[run.Trials[1].Scenario].Name
	for _, c := range []struct {
		bound stats.Bound
		want  stats.State
	}{
		{bound("b+x", "", "bytes_sent_per_call", stats.Above, 349), stats.Broken}, // 300 to 600 by block, 350 in all
		{bound("b+x", "", "bytes_sent_per_call", stats.Above, 351), stats.Kept},
		{bound("b+x", "a+x", "bytes_sent_per_call", stats.Above, 1.1), stats.Broken},
		{bound(failing, "", "errors", stats.Above, 0), stats.Broken},
		{bound(failing, "", "errors", stats.Above, 1), stats.Kept},
		{bound("b+x", "", "connections_opened", stats.Above, 0), stats.Kept},
	} {
		if got := check(t, a, c.bound); got.State != c.want {
			t.Errorf("%s %s %s %g is %s (%v, %s), want %s", c.bound.Stack, c.bound.Metric.Name, c.bound.Compare, c.bound.Limit, got.State, got.Interval, got.Reason, c.want)
		}
	}
}

func TestAnyTwoStacksHaveARatio(t *testing.T) {
	run := noisy(6)
	got := check(t, analyse(t, run), bound("c+x", "b+x", "server_cpu_per_call", stats.Above, 0.7))
	run.Header.Baseline = "b+x" // the same pair, as a plain interval would have it
	low, high := stats.PairedInterval(run, "server_cpu_per_call", 2, 1, 0.95)
	if got.State != stats.Kept || math.Abs(got.Interval.Low-low) > 1e-12 || math.Abs(got.Interval.High-high) > 1e-12 || !near(got.Interval.Value, 0.5) {
		t.Errorf("got %+v, want %g to %g", got, low, high)
	}
}

func TestABoundWithoutAFigureSaysWhy(t *testing.T) {
	const cpu = "server_cpu_per_call"
	failing := func(r *record.Run) {
		for i := range r.Trials {
			if l := r.Trials[i].Load; r.Trials[i].Scenario == 1 {
				l.Errors = map[string]int{"reset": l.Calls / 2}
			}
		}
	}
	for name, c := range map[string]struct {
		bound  stats.Bound
		blocks int
		change func(*record.Run)
		want   stats.State
		reason string
	}{
		"a level of a stack that fails":  {bound("b+x", "", cpu, stats.Above, 0), 6, failing, stats.BoundWithheld, "50 % of the calls of b+x failed"},
		"a ratio to a stack that fails":  {bound("c+x", "b+x", cpu, stats.Above, 0), 6, failing, stats.BoundWithheld, "50 % of the calls of b+x failed"},
		"a told ratio of one that fails": {bound("b+x", "a+x", cpu, stats.Above, 0), 6, failing, stats.BoundWithheld, "50 % of the calls of b+x failed"},
		"the throughput of a lean driver": {bound("b+x", "", "throughput", stats.Above, 0), 6, func(r *record.Run) {
			r.Header.Driver = record.Lean
			for i := range r.Trials {
				r.Trials[i].Processes[0].CPUUserS = 0.9 * r.Trials[i].Load.Seconds
			}
		}, stats.BoundWithheld, "with b+x "},
		"its errors are still counted":    {bound("b+x", "", "errors", stats.Above, 0), 6, failing, stats.Broken, ""},
		"too few calls for a quantile":    {bound("b+x", "", "latency_p999", stats.Above, 0), 6, func(*record.Run) {}, stats.BoundUnknown, ""},
		"too few blocks for a ratio":      {bound("b+x", "a+x", cpu, stats.Above, 0), 4, func(*record.Run) {}, stats.BoundUnknown, "a verdict takes 5 blocks; there are 4"},
		"too few blocks for another pair": {bound("c+x", "b+x", cpu, stats.Above, 0), 4, func(*record.Run) {}, stats.BoundUnknown, "a verdict takes 5 blocks; there are 4"},
		"one block":                       {bound("b+x", "", cpu, stats.Above, 0), 1, func(*record.Run) {}, stats.BoundUnknown, "too few blocks gave a result for an interval"},
		"nothing measured": {bound("b+x", "", cpu, stats.Above, 0), 6, func(r *record.Run) {
			for i := range r.Trials {
				r.Trials[i].Processes = nil
			}
		}, stats.BoundUnknown, "does not tell the server CPU per call of b+x"},
		"nothing measured of two": {bound("c+x", "b+x", cpu, stats.Above, 0), 6, func(r *record.Run) {
			for i := range r.Trials {
				r.Trials[i].Processes = nil
			}
		}, stats.BoundUnknown, "does not tell the server CPU per call of both"},
	} {
		run := noisy(c.blocks)
		c.change(run)
		if name == "too few calls for a quantile" { // eight trials of 1,500 are enough
			run = quiet(stack("a+x"), stack("b+x"))
			c.reason = "latency p99.9 takes 10,000 calls in each block; b+x had 6,000 in one"
		}
		got := check(t, analyse(t, run), c.bound)
		if got.State != c.want || !strings.Contains(got.Reason, c.reason) {
			t.Errorf("%s: %s, %q; want %s, %q", name, got.State, got.Reason, c.want, c.reason)
		}
	}
}

func TestABoundOnAnotherStackIsAnError(t *testing.T) {
	a := analyse(t, quiet(stack("a+x"), stack("b+x")))
	for _, b := range []stats.Bound{bound("d+x", "", "errors", stats.Above, 0), bound("a+x", "d+x", "throughput", stats.Above, 0)} {
		if out, err := a.Check([]stats.Bound{b}); err == nil {
			t.Errorf("got %+v", out)
		}
	}
}
