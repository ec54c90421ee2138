package calibrate

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/peers/golang"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/stats"
)

// weighNull: with nothing to carry a call, all that it costs is tare's.
func weighNull(ctx context.Context, s *Scale) ([]Reading, error) {
	const calls = 200_000
	params, err := setting.Resolve(s.spec.Params, nil)
	if err != nil {
		return nil, err
	}
	loop, whole, err := golang.OwnCost(ctx, s.catalog, peer.Start{
		Workload: s.spec.Name, Leg: s.leg.Name, Tier: s.leg.Tiers[0].Name, Params: params, Store: s.catalog.KeptIn,
	}, calls)
	if err != nil {
		return nil, err
	}
	const perTrial = 100.0 // of goroutines, of the runtime's own work
	none := within("loop: allocations per call", "1", 0, loop.Allocations, perTrial/calls)
	none.Truth = 0
	return []Reading{
		none,
		shown("loop: time per call", "s", loop.Seconds),
		shown("loop, deadline and check: time per call", "s", whole.Seconds),
		shown("loop, deadline and check: allocations per call", "1", whole.Allocations),
	}, nil
}

// cpuPerCall is the server CPU per call of a scenario, over the run.
func cpuPerCall(run *record.Run, scenario int) float64 {
	var cpu, calls float64
	for _, t := range trialsOf(run, scenario) {
		cpu += t.Processes[1].CPU()
		calls += float64(t.Load.Calls)
	}
	return cpu / calls
}

// weighSame: whatever is found of a stack against itself is false.
func weighSame(ctx context.Context, s *Scale) ([]Reading, error) {
	var clear float64
	for i := range s.runs {
		s.progress(fmt.Sprintf("run %d of %d", i+1, s.runs))
		run, err := s.run(ctx, experiment{
			stacks: []string{s.unladen, s.unladen}, inFlight: plan.DefaultInFlight,
			slice: 100 * time.Millisecond, rounds: 2, blocks: stats.MinBlocks,
		}, nil)
		if err != nil {
			return nil, err
		}
		analysis, err := stats.Analyze(run)
		if err != nil {
			return nil, err
		}
		for _, c := range analysis.Comparisons {
			if c.Metric.Kind != stats.Exact && (c.Verdict == stats.Higher || c.Verdict == stats.Lower) {
				clear++
				break
			}
		}
	}
	r := within(fmt.Sprintf("runs of %d with a clear verdict", s.runs), "1", 0, clear, float64(allowed(s.runs)))
	r.Truth = erring * float64(s.runs)
	return []Reading{r}, nil
}

// weighSlow: what a call costs the server is measured first, and a share of it
// added. Then the widths of the intervals say what a run of another length could
// have told.
func weighSlow(share, under float64) func(context.Context, *Scale) ([]Reading, error) {
	return func(ctx context.Context, s *Scale) ([]Reading, error) {
		const slice = 100 * time.Millisecond
		e := experiment{stacks: []string{s.unladen}, inFlight: plan.DefaultInFlight, slice: slice, rounds: 15, blocks: 1}
		before, err := s.run(ctx, e, nil)
		if err != nil {
			return nil, err
		}
		burn := seconds(share * cpuPerCall(before, 0))
		e.stacks = append(e.stacks, s.laden("burn", burn))
		e.blocks = plan.DefaultBlocks
		e.rounds = int(under / (slice.Seconds() * float64(len(e.stacks)*e.blocks)))
		run, err := s.run(ctx, e, nil)
		if err != nil {
			return nil, err
		}
		analysis, err := stats.Analyze(run)
		if err != nil {
			return nil, err
		}
		return slowdown(analysis, 1+burn.Seconds()/cpuPerCall(run, 0), share), nil
	}
}

// slowdown reads an analysis of two scenarios, of which the second is slower.
func slowdown(a *stats.Analysis, truth, share float64) []Reading {
	var out []Reading
	for _, c := range a.Comparisons {
		if !c.Ratio.Bounded() || c.Metric.Kind != stats.Rate {
			continue
		}
		if c.Metric.Primary {
			found := 0.0
			if c.Verdict == stats.Higher {
				found = 1
			}
			r := near(fmt.Sprintf("found as %s: %.0f %% more", stats.Higher, 100*share), "1", 1, found, 0)
			r.Note = fmt.Sprintf("ratio %.3f (%.3f to %.3f), in truth %.3f", c.Ratio.Value, c.Ratio.Low, c.Ratio.High, truth)
			out = append([]Reading{r}, out...)
		}
		if c.Metric.Primary || c.Metric.HigherBetter {
			half := math.Log(c.Ratio.High/c.Ratio.Low) / 2
			for _, t := range []float64{10, 30, 120} {
				out = append(out, shown(fmt.Sprintf("smallest difference in %s after %.0f s", c.Metric.Name, t), "1",
					resolves(half, a.UnderLoadS, t)))
			}
		}
	}
	return out
}
