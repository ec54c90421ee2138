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

// divided is a truth of which a tenth is not sampled.
var divided = map[record.Phase]float64{
	record.PhaseKernel: 0.4, record.PhaseLibrary: 0.25, record.PhaseEncode: 0.1, record.PhaseHandler: 0.1, record.PhaseCollect: 0.05,
}

func profiled(seed uint64) (statstest.Experiment, *record.Run) {
	e := statstest.Experiment{
		Stacks: []statstest.Stack{stack("a+x"), stack("b+x")}, Blocks: 6, Rounds: 4, Tiers: []string{"front", "till"},
		Slice: 250 * time.Millisecond, Noise: statstest.Busy, Seed: seed, Bare: true,
	}
	run := e.Run()
	e.Profile(run, time.Second, divided)
	return e, run
}

func sum(p stats.ProcessPhases) float64 {
	total := p.Unexplained.Value
	for _, part := range p.Parts {
		total += part.Value
	}
	return total
}

func TestPhasesAddUpToWhatTheKernelSays(t *testing.T) {
	_, run := profiled(1)
	// A process that was sampled too often, on both sides of the wire.
	over := run.Profiles[0].Processes[1]
	over.Parts = append(over.Parts, record.PhaseTime{Phase: record.PhaseKernel, Next: true, Seconds: 2 * over.CPUS},
		record.PhaseTime{Phase: "a phase of another language", Seconds: 0.01})
	b := analyse(t, run).Scenarios[0].Phases
	var servers float64
	for i, p := range b.Processes {
		if got := sum(p); math.Abs(got/p.Total.Value-1) > 1e-12 {
			t.Errorf("%s: %v and not %v", p.Name, got, p.Total.Value)
		}
		if p.Name != []string{"driver", "front", "till"}[i] || p.Calls != 6*12000 || p.Samples == 0 {
			t.Errorf("%s: %d samples of %d calls", p.Name, p.Samples, p.Calls)
		}
		if i > 0 {
			servers += p.Total.Value
		}
	}
	if got := sum(b.Servers); math.Abs(got/servers-1) > 1e-12 || math.Abs(b.Servers.Total.Value/servers-1) > 1e-12 {
		t.Errorf("the servers' phases come to %v, their CPU to %v, of which each has its part to %v", got, b.Servers.Total.Value, servers)
	}
	next, other := false, false
	for _, part := range b.Processes[1].Parts {
		next = next || part.Next && part.Phase == record.PhaseKernel
		other = other || part.Phase == record.PhaseOther
	}
	if !next || !other {
		t.Errorf("%+v", b.Processes[1].Parts)
	}
	if b.Processes[1].Unexplained.Low >= 0 {
		t.Errorf("too many samples leave %+v unexplained", b.Processes[1].Unexplained)
	}
}

func TestPhaseIntervalsCoverTheTruth(t *testing.T) {
	const experiments = 2000
	var kernel, unexplained, total tallied
	simulate(experiments, func(seed uint64) {
		_, run := profiled(seed)
		server := analyse(t, run).Scenarios[1].Phases.Processes[1] // 30 µs a call
		holds := func(i stats.Interval, share float64) bool {
			truth := share * 30e-6
			return i.Low <= truth && truth <= i.High
		}
		kernel.add(holds(server.Parts[0].Interval, 0.4))
		unexplained.add(holds(server.Unexplained, 0.1))
		total.add(holds(server.Total, 1))
	})
	for name, c := range map[string]*tallied{"kernel": &kernel, "unexplained": &unexplained, "total": &total} {
		if share := float64(c.hits) / experiments; share < 0.93 || share > 0.97 {
			t.Errorf("%s: %.3f of intervals hold the truth", name, share)
		}
	}
}

// A process that does not tell takes the servers' sum with it, and nothing else.
func TestAProcessThatDoesNotTell(t *testing.T) {
	_, run := profiled(2)
	for i := range run.Profiles {
		run.Profiles[i].Processes[2] = nil
	}
	b := analyse(t, run).Scenarios[0].Phases
	if b.Processes[2].Calls != 0 || b.Processes[2].Total.Known() || b.Servers.Calls != 0 || b.Cost.Known() {
		t.Errorf("till tells %+v, the servers %+v, cost %+v", b.Processes[2], b.Servers, b.Cost)
	}
	if b.Processes[1].Calls == 0 {
		t.Error("front does not tell either")
	}
	for i := range run.Profiles {
		run.Profiles[i].Processes = make([]*record.Phases, 3)
	}
	for _, profiles := range [][]record.Profile{run.Profiles, nil} {
		run.Profiles = profiles
		if b := analyse(t, run).Scenarios[0].Phases; b != nil {
			t.Errorf("nobody tells, and there is %+v", b)
		}
	}
}

func TestFewSamplesBoundNoPhase(t *testing.T) {
	for samples, bounded := range map[int]bool{9: false, 10: true} {
		_, run := profiled(6)
		for i, p := range run.Profiles {
			n := float64(samples / 6)
			if i < 2*(samples%6) { // of two scenarios
				n++
			}
			p.Processes[0].Parts = []record.PhaseTime{{Phase: record.PhaseStore, Seconds: n * 0.01}}
		}
		part := analyse(t, run).Scenarios[0].Phases.Processes[0].Parts[0]
		if got := !math.IsInf(part.High, 1); got != bounded || !(part.Value > 0) {
			t.Errorf("%d samples: %+v", samples, part)
		}
	}
}

func TestOneBlockBoundsNoPhase(t *testing.T) {
	_, run := profiled(3)
	run.Profiles = run.Profiles[:1]
	i := analyse(t, run).Scenarios[0].Phases.Servers.Total
	if !i.Known() || !math.IsInf(i.Low, -1) || !math.IsInf(i.High, 1) {
		t.Errorf("%+v", i)
	}
}

// No other figure knows of profiled trials.
func TestProfilesEnterNoMetric(t *testing.T) {
	e, run := profiled(4)
	plain := e.Run()
	with, without := analyse(t, run), analyse(t, plain)
	for s := range with.Scenarios {
		for i, l := range with.Scenarios[s].Levels {
			if want := without.Scenarios[s].Levels[i]; l.Known() && l.Interval != want.Interval {
				t.Errorf("%s: %+v with profiles, %+v without", l.Metric.Name, l.Interval, want.Interval)
			}
		}
		if with.Scenarios[s].Tally.Calls != without.Scenarios[s].Tally.Calls {
			t.Error("profiled calls are counted")
		}
	}
}

func TestWhatProfilingCostsIsSaid(t *testing.T) {
	for factor, want := range map[float64]bool{1: false, 1.03: false, 1.2: true} {
		e, _ := profiled(5)
		e.Noise = statstest.Noise{}
		run := e.Run()
		e.Profile(run, time.Second, divided)
		for _, p := range run.Profiles {
			for _, process := range p.Processes {
				process.CPUS *= factor
			}
		}
		a := analyse(t, run)
		if got := a.Scenarios[0].Phases.Cost.Value; math.Abs(got-factor) > 0.01 {
			t.Errorf("a cost of %v is found as %v", factor, got)
		}
		said := false
		for _, n := range a.Notes {
			said = said || n.Code == "profiling_cost" && n.Stack == "a+x" && strings.Contains(n.Text, "20 % more CPU")
		}
		if said != want {
			t.Errorf("at %v: %+v", factor, a.Notes)
		}
	}
}
