package stats_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/stats/statstest"
)

// stack is some contender; two of them are equal in truth.
func stack(name string) statstest.Stack {
	return statstest.Stack{
		Name: name, CallsPerS: 12000, Median: time.Millisecond, ServerCPU: 60 * time.Microsecond,
		DriverCPU: 50 * time.Microsecond, RSS: 30 << 20, Sent: 300, Received: 200,
	}
}

func analyse(t testing.TB, run *record.Run) *stats.Analysis {
	t.Helper()
	a, err := stats.Analyze(run)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// simulate runs n seeded experiments, on all cores.
func simulate(n int, one func(seed uint64)) {
	var wg sync.WaitGroup
	seeds := make(chan uint64)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for s := range seeds {
				one(s)
			}
		})
	}
	for s := range n {
		seeds <- uint64(s)
	}
	close(seeds)
	wg.Wait()
}

// tallied counts under a lock.
type tallied struct {
	mu   sync.Mutex
	hits int
}

func (c *tallied) add(hit bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if hit {
		c.hits++
	}
}

func TestIntervalsOf95PercentCoverTheTruth(t *testing.T) {
	const experiments = 2000
	slower := stack("b+x")
	slower.ServerCPU = slower.ServerCPU * 13 / 10
	noise := statstest.Busy
	noise.RestartCPU = 0.035 // the most that was measured
	var covered, naive tallied
	simulate(experiments, func(seed uint64) {
		run := statstest.Experiment{
			Stacks: []statstest.Stack{stack("a+x"), slower}, Blocks: 6, Rounds: 8,
			Slice: 250 * time.Millisecond, Noise: noise, Seed: seed, Bare: true,
		}.Run()
		low, high := stats.Pooled(run, "server_cpu_per_call", 0.95, true)
		covered.add(low <= 1.3 && 1.3 <= high)
		low, high = stats.Pooled(run, "server_cpu_per_call", 0.95, false)
		naive.add(low <= 1.3 && 1.3 <= high)
	})
	t.Logf("over blocks %.1f %%, over rounds %.1f %%", 100*float64(covered.hits)/experiments, 100*float64(naive.hits)/experiments)
	if share := float64(covered.hits) / experiments; share < 0.93 || share > 0.97 {
		t.Errorf("intervals over blocks cover the truth in %.1f %% of experiments", 100*share)
	}
	// The noise must be such that a method that forgets restarts is caught.
	if share := float64(naive.hits) / experiments; share > 0.85 {
		t.Errorf("intervals over rounds cover the truth in %.1f %% of experiments: the simulation proves nothing", 100*share)
	}
}

// The noise here is measured, with what a model might lack: neighbours that come
// and go, the host's clock, whatever else a machine does.
func TestIntervalsCoverTheTruthWithMeasuredNoise(t *testing.T) {
	const experiments, truth = 2000, 1.1
	blocks, rounds := statstest.Blocks()
	if blocks < 20 {
		t.Fatalf("%d blocks are too few to draw experiments from", blocks)
	}
	for _, metric := range []struct {
		name  string
		truth float64
	}{{"server_cpu_per_call", truth}, {"throughput", 1 / truth}} {
		for _, n := range []int{8, rounds / 2} {
			var covered tallied
			simulate(experiments, func(seed uint64) {
				run := statstest.Replay{Blocks: 6, Rounds: n, Factor: truth, Seed: seed}.Run()
				low, high := stats.Pooled(run, metric.name, 0.95, true)
				covered.add(low <= metric.truth && metric.truth <= high)
			})
			share := float64(covered.hits) / experiments
			t.Logf("%s, %d rounds: %.1f %%", metric.name, n, 100*share)
			if share < 0.93 || share > 0.97 {
				t.Errorf("intervals of %s over blocks of %d rounds cover the truth in %.1f %% of experiments", metric.name, n, 100*share)
			}
		}
	}
}

func TestAgainstItselfAStackIsSeldomDifferent(t *testing.T) {
	const experiments = 300
	var different tallied
	simulate(experiments, func(seed uint64) {
		a := analyse(t, statstest.Experiment{
			Stacks: []statstest.Stack{stack("a+x#1"), stack("a+x#2"), stack("a+x#3")}, Blocks: 6, Rounds: 4,
			Slice: 250 * time.Millisecond, Noise: statstest.Busy, Seed: seed,
		}.Run())
		any := false
		for _, c := range a.Comparisons {
			any = any || c.Verdict == stats.Higher || c.Verdict == stats.Lower
		}
		different.add(any)
	})
	t.Logf("%d of %d runs", different.hits, experiments)
	if share := float64(different.hits) / experiments; share > 0.05 {
		t.Errorf("%.1f %% of runs call a stack different from itself", 100*share)
	}
}

func TestARealDifferenceIsFound(t *testing.T) {
	const experiments = 200
	slower := stack("b+x")
	slower.ServerCPU = slower.ServerCPU * 11 / 10
	var found, reversed tallied
	simulate(experiments, func(seed uint64) {
		run := statstest.Experiment{
			Stacks: []statstest.Stack{stack("a+x"), slower}, Blocks: 6, Rounds: 40,
			Slice: 125 * time.Millisecond, Noise: statstest.Busy, Seed: seed, Bare: true,
		}.Run()
		for _, c := range analyse(t, run).Comparisons {
			if c.Metric.Name == "server_cpu_per_call" {
				found.add(c.Verdict == stats.Higher)
				reversed.add(c.Verdict == stats.Lower)
			}
		}
	})
	t.Logf("found in %d of %d runs", found.hits, experiments)
	if share := float64(found.hits) / experiments; share < 0.8 {
		t.Errorf("10 %% more CPU is found in %.0f %% of runs of a minute", 100*share)
	}
	if reversed.hits > 0 {
		t.Errorf("10 %% more CPU is called less in %d runs", reversed.hits)
	}
}

func TestStoppingOnPrecisionKeepsCoverage(t *testing.T) {
	const experiments, most, precision = 500, 20, 0.06
	noise := statstest.Busy
	noise.Rate, noise.RestartRate = noise.CPU, noise.RestartCPU // two headlines alike
	var covered, stopped tallied
	simulate(experiments, func(seed uint64) {
		run := statstest.Experiment{
			Stacks: []statstest.Stack{stack("a+x"), stack("b+x")}, Blocks: most, Rounds: 8,
			Slice: 250 * time.Millisecond, Noise: noise, Seed: seed, Bare: true,
		}.Run()
		run.Header.Precision = precision
		whole := run.Trials
		for n := 1; n <= most; n++ {
			run.Trials = whole[:n*len(whole)/most]
			if stats.Precise(run, precision) {
				stopped.add(true)
				if n < stats.MinBlocks {
					t.Errorf("stopped after %d blocks", n)
				}
				break
			}
		}
		all := true
		for _, c := range analyse(t, run).Comparisons {
			all = all && (!c.Ratio.Bounded() || c.Ratio.Low <= 1 && 1 <= c.Ratio.High)
		}
		covered.add(all)
	})
	t.Logf("%d of %d stopped early; %d covered", stopped.hits, experiments, covered.hits)
	if share := float64(covered.hits) / experiments; share < 0.95 {
		t.Errorf("after stopping, intervals cover the truth in %.1f %% of experiments", 100*share)
	}
	if stopped.hits < experiments/2 {
		t.Errorf("only %d of %d runs stopped", stopped.hits, experiments)
	}
}

func TestHolmKeepsItsPromise(t *testing.T) {
	// Ten tests, of which the last five are of true hypotheses.
	const experiments, alpha = 20000, 0.05
	rng := rand.New(rand.NewPCG(1, 2))
	wrong := 0
	for range experiments {
		p, weight := make([]float64, 10), make([]float64, 10)
		for i := range p {
			p[i], weight[i] = rng.Float64(), 0.5/9
			if i < 5 {
				p[i] = math.Pow(p[i], 20) // false ones give small values
			}
		}
		weight[7] = 0.5
		for i, level := range stats.Holm(p, weight, alpha) {
			if i >= 5 && p[i] <= level {
				wrong++
				break
			}
		}
	}
	if share := float64(wrong) / experiments; share > alpha+0.005 {
		t.Errorf("a true hypothesis is rejected in %.1f %% of families", 100*share)
	}
}
