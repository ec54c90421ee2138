package calibrate

import (
	"math"
	"testing"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

func about(a, b, within float64) bool { return math.Abs(a-b) <= within }

func TestFormulas(t *testing.T) {
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		// The figures of METHOD.md.
		{"stall p90", stallQuantile(0.90, 1, 8), 0.2},
		{"stall p95", stallQuantile(0.95, 1, 8), 0.6},
		{"stall p99", stallQuantile(0.99, 1, 8), 0.92},
		{"stall p50, which it does not reach", stallQuantile(0.50, 1, 8), 0},
		// Of textbooks: half the wait of M/M/1, whose mean wait is ρ d / (1 - ρ).
		{"M/D/1 at 0.5", meanWaitMD1(0.5, 2e-3), 1e-3},
		{"M/D/1 at 0.8", meanWaitMD1(0.8, 1), 2},
		{"M/D/1 without load", meanWaitMD1(0, 1), 0},
		{"M/M/1 median", responseMM1(0.5, 0.5, 1), 2 * math.Ln2},
		{"M/M/1 p90", responseMM1(0.9, 0.8, 1), 5 * math.Log(10)},
		// Three that come at once, and one that comes when all is done.
		{"lindley", lindley([]float64{0, 0, 0, 10}, 2, 0), (0 + 2 + 4 + 0) / 4.0},
		{"lindley, the first not counted", lindley([]float64{0, 1}, 3, 1), 2},
		{"resolves in the time measured", resolves(math.Log(1.03), 30, 30), 0.03},
		{"resolves in four times as much", resolves(0.02, 30, 120), math.Expm1(0.01)},
		{"one clear verdict in 5 runs", float64(allowed(5)), 1},
		{"3 of 40", float64(allowed(40)), 3},
		{"middle of two", middle([]float64{1, 4}), 2.5},
		{"middle of three", middle([]float64{1, 5, 9}), 5},
	} {
		if !about(c.got, c.want, 1e-12) {
			t.Errorf("%s: %v; want %v", c.what, c.got, c.want)
		}
	}
	if got := middle(nil); !math.IsNaN(got) {
		t.Errorf("the middle of nothing is %v; want NaN", got)
	}
}

// In the long run arrivals at random wait as the formula has it.
func TestArrivalsWaitAsTheFormulaSays(t *testing.T) {
	for _, rho := range []float64{0.3, 0.5, 0.8} {
		const rate = 1000
		got := lindley(arrivals(rate, 2000, 7), rho/rate, 0)
		want := meanWaitMD1(rho, rho/rate)
		if !about(got, want, 0.02*want) {
			t.Errorf("ρ = %v: %v; want %v", rho, got, want)
		}
	}
}

func TestTypicalSeedsAreNearTheFormula(t *testing.T) {
	const rate, long = 40, 4
	rhos := []float64{0.3, 0.5, 0.7, 0.8}
	seeds := typical(3, 20_000, rate, long, rhos)
	if len(seeds) != 3 || seeds[0] == seeds[1] {
		t.Fatalf("seeds %v; want three", seeds)
	}
	for _, seed := range seeds {
		due := arrivals(rate, long, seed)
		for _, rho := range rhos {
			got, want := lindley(due, rho/rate, counted*due[len(due)-1]), meanWaitMD1(rho, rho/rate)
			if !about(got, want, 0.03*want) {
				t.Errorf("seed %d, ρ = %v: %v; want %v", seed, rho, got, want)
			}
		}
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		r    Reading
		want Verdict
	}{
		{near("", "s", 1, 1.1, 0.1), Pass},
		{near("", "s", 1, 1.2, 0.1), Fail},
		{near("", "s", 1, 0.8, 0.1), Fail},
		{near("", "B", 5, 5, 0), Pass},
		{near("", "B", 5, 6, 0), Fail},
		{within("", "1", 1, 0, 16), Fail},
		{within("", "1", 0, math.NaN(), 16), Fail},
		{shown("", "s", 3), Shown},
	} {
		if got := c.r.Verdict(); got != c.want {
			t.Errorf("%+v: %s; want %s", c.r, got, c.want)
		}
	}
	if n := (Result{Readings: []Reading{near("", "s", 1, 9, 0), shown("", "s", 3), near("", "s", 1, 1, 0)}}).Failed(); n != 1 {
		t.Errorf("counted %d failed; want 1", n)
	}
}

func TestChoose(t *testing.T) {
	all, err := Choose(nil)
	if err != nil || len(all) == 0 || len(all) == len(Weights) {
		t.Errorf("by default %d of %d weights, %v; want all but the long ones", len(all), len(Weights), err)
	}
	for i := range Weights {
		w := &Weights[i]
		if got, err := Choose([]string{w.Name}); err != nil || len(got) != 1 || got[0] != w {
			t.Errorf("%s: got %v, %v", w.Name, got, err)
		}
		if w.About == "" || w.Formula == "" || w.weigh == nil {
			t.Errorf("%s is not filled in", w.Name)
		}
	}
	if _, err := Choose([]string{"wait", "gold"}); err == nil {
		t.Error("a weight that there is not was chosen")
	}
}

func TestLonger(t *testing.T) {
	h := record.NewHistogram()
	for i := range 1000 {
		h.Record(seconds(0.001))
		if i%250 == 0 {
			h.Record(seconds(0.9))
		}
	}
	if got := longer(h, 0.5); got != 4 {
		t.Errorf("counted %v long calls; want 4", got)
	}
	if got := longer(h, 2); got != 0 {
		t.Errorf("counted %v calls above 2 s; want 0", got)
	}
	if got := longer(h, 0.0001); got != 1004 {
		t.Errorf("counted %v calls above 0.1 ms; want all", got)
	}
}

func TestLedger(t *testing.T) {
	var l ledger
	l.add(kernel{100, 50}, record.Wire{Sent: 100, Received: 50}, record.Wire{Sent: 100, Received: 50})
	if l.off != 0 {
		t.Errorf("equal counts differ by %v", l.off)
	}
	l.add(kernel{10, 5}, record.Wire{Sent: 10, Received: 5}, record.Wire{Sent: 10, Received: 8})
	if l.off != 3 {
		t.Errorf("counts differ by %v; want 3", l.off)
	}
	if l.kernel != (kernel{110, 55}) || l.near.Sent != 110 || l.near.Received != 55 || l.far.Received != 58 {
		t.Errorf("sums are %+v, %+v and %+v", l.kernel, l.near, l.far)
	}
}

func TestLittle(t *testing.T) {
	l := &record.Load{WindowCalls: 100, WindowS: 2, BusyS: 10, Latency: record.NewHistogram()}
	l.Latency.Record(seconds(0.05))
	l.Latency.Record(seconds(0.15))
	if got := little(l); !about(got, 1, 1e-3) {
		t.Errorf("50 calls/s of 0.1 s with 5 in flight: %v; want 1", got)
	}
}

func TestDifferencesArePairedByRound(t *testing.T) {
	run := new(record.Run)
	add := func(round, scenario int, cpu float64, lost bool) {
		trial := record.Trial{Round: round, Scenario: scenario, Processes: []record.Usage{{}, {CPUUserS: cpu}}}
		if !lost {
			trial.Load = &record.Load{Calls: 10}
		}
		run.Trials = append(run.Trials, trial)
	}
	add(0, 0, 10, false)
	add(0, 1, 50, false)
	add(1, 1, 99, false) // whose like was lost
	add(1, 0, 20, true)
	add(2, 1, 50, false)
	add(2, 0, 30, false)
	if got := differences(run, 1, 0, func(t *record.Trial) float64 { return t.Processes[1].CPU() / float64(t.Load.Calls) }); len(got) != 2 || got[0] != 2 || got[1] != 4 {
		t.Errorf("differences %v; want 2 and 4", got)
	}
	if got, want := spread([]float64{1, 2, 3, 4, 5, 6, 7, 8}, -1), "half of the rounds: 2 s to 5 s"; got != want {
		t.Errorf("spread %q; want %q", got, want)
	}
	if got := spread(nil, 0); got != "no round gave a result" {
		t.Errorf("spread of nothing: %q", got)
	}
}

func TestSlowdown(t *testing.T) {
	a := &stats.Analysis{UnderLoadS: 30}
	interval := stats.Interval{Low: 1.05, Value: 1.1, High: 1.15}
	for i := range stats.Metrics {
		m := &stats.Metrics[i]
		a.Comparisons = append(a.Comparisons, stats.Comparison{Metric: m, Ratio: interval, Verdict: stats.Higher})
	}
	got := slowdown(a, 1.1, 0.1)
	if len(got) != 7 || got[0].Verdict() != Pass {
		t.Fatalf("readings %+v; want that it was found, and three times for two metrics", got)
	}
	if want := math.Sqrt(1.15/1.05) - 1; !about(got[2].Measured, want, 1e-9) {
		t.Errorf("%s: %v; want %v", got[2].What, got[2].Measured, want)
	}
	a.Comparisons[0].Verdict = stats.Unclear
	if got := slowdown(a, 1.1, 0.1); got[0].Verdict() != Fail {
		t.Errorf("an unclear verdict passed: %+v", got[0])
	}
}
