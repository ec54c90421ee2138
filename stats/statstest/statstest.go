// Package statstest makes runs whose truth is known, with noise such as METHOD.md
// measured on a busy machine, so that stats and report can be put to the test.
package statstest

import (
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/tare-bench/tare/record"
)

// Stack is the truth about one contender.
type Stack struct {
	Name      string // "PROTOCOL+CODEC", with "#2" or "@NAME=VALUE" after it
	CallsPerS float64
	Median    time.Duration // of the latency
	ServerCPU time.Duration // a call, all tiers
	DriverCPU time.Duration // a call
	RSS       int64
	Sent      int64 // bytes a call
	Received  int64
}

// Noise is the standard deviation of the logarithm of each thing that varies.
type Noise struct {
	Drift                     float64 // step of the machine's own pace from trial to trial, a random walk
	RestartCPU, RestartRate   float64 // of a scenario, from block to block
	CPU, Rate, Latency, Trail float64 // of one trial; Trail is of the slowest calls
}

// Busy is the noise of two shared cores with other work on both: half the
// variance of a pair of rounds in METHOD.md for each of its trials.
var Busy = Noise{
	Drift: 0.05, RestartCPU: 0.02, RestartRate: 0.04,
	CPU: 0.08, Rate: 0.22, Latency: 0.1, Trail: 0.3,
}

// Experiment is a run to be simulated.
type Experiment struct {
	Stacks []Stack // the first is the baseline
	Blocks int
	Rounds int // of a block
	Slice  time.Duration
	Tiers  []string // names of the servers that a call passes; they share its CPU
	Noise  Noise
	Seed   uint64
	Bare   bool // rates and CPU alone, for simulations of thousands
}

// Run simulates. Equal experiments give equal runs.
func (e Experiment) Run() *record.Run {
	rng := rand.New(rand.NewPCG(e.Seed, 1))
	run := &record.Run{Header: e.header(), End: &record.End{Reason: "complete"}}
	pace := 0.0
	for b := range e.Blocks {
		run.Blocks = append(run.Blocks, e.block(b))
		cpu, rate := make([]float64, len(e.Stacks)), make([]float64, len(e.Stacks))
		for s := range e.Stacks {
			cpu[s], rate[s] = e.Noise.RestartCPU*rng.NormFloat64(), e.Noise.RestartRate*rng.NormFloat64()
		}
		var order []int
		for r := range e.Rounds {
			if r%2 == 0 {
				order = rng.Perm(len(e.Stacks))
			} else {
				for i := range len(order) / 2 {
					order[i], order[len(order)-1-i] = order[len(order)-1-i], order[i]
				}
			}
			for position, s := range order {
				pace += e.Noise.Drift * rng.NormFloat64()
				t := e.trial(rng, s, pace+cpu[s], pace+rate[s])
				t.Block, t.Round, t.Position = b, b*e.Rounds+r, position
				t.AtS = float64(len(run.Trials)) * e.Slice.Seconds()
				run.Trials = append(run.Trials, t)
			}
		}
	}
	run.End.AtS = float64(len(run.Trials)) * e.Slice.Seconds()
	return run
}

func (e Experiment) header() record.Header {
	h := record.Header{
		Format: record.Format, Version: "v0.0.0", Started: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC),
		Command: []string{"tare", "compare", "simulated"}, Workload: "simulated", Leg: "whole",
		Path: []string{"driver → server: the stack under comparison"}, VariedTier: new(0),
		Params: map[string]string{"rows": "10"}, Driver: "native", InFlight: 16, TimeoutS: 10,
		Seed: e.Seed, SliceS: e.Slice.Seconds(), Blocks: e.Blocks, Rounds: e.Rounds, Margin: 0.02,
		Baseline: e.Stacks[0].Name, Environment: map[string]string{"cores": "4", "go": "go1.26.8"},
	}
	for _, s := range e.Stacks {
		h.Scenarios = append(h.Scenarios, s.scenario())
	}
	return h
}

func (s Stack) scenario() record.Scenario {
	stack, _, _ := strings.Cut(s.Name, "#")
	parts, setting, _ := strings.Cut(stack, "@")
	protocol, codec, _ := strings.Cut(parts, "+")
	f := map[string]string{"protocol": protocol, "codec": codec, "compressor": "none", protocol + "-only": "on"}
	if name, value, ok := strings.Cut(setting, "="); ok {
		f[name] = value
	}
	return record.Scenario{Name: s.Name, Stack: stack, Factors: f}
}

func (e Experiment) block(index int) record.Block {
	b := record.Block{Index: index}
	for range e.Stacks {
		b.Warmups = append(b.Warmups, record.Warmup{Calls: 1000, Seconds: 1, Level: true})
		peers := []record.Process{{Role: "driver", PID: 1, Runtime: "go1.26.8"}}
		for _, name := range e.tiers() {
			peers = append(peers, record.Process{Role: name, PID: 2, Runtime: "go1.26.8"})
		}
		b.Peers = append(b.Peers, peers)
	}
	return b
}

func (e Experiment) tiers() []string {
	if len(e.Tiers) == 0 {
		return []string{"server"}
	}
	return e.Tiers
}

// trial loads one scenario, on a machine whose logarithmic slowness is given.
func (e Experiment) trial(rng *rand.Rand, scenario int, slowCPU, slowRate float64) record.Trial {
	s, n := e.Stacks[scenario], e.Noise
	rate := s.CallsPerS * math.Exp(-slowRate+n.Rate*rng.NormFloat64())
	calls := max(20, int(rate*e.Slice.Seconds()))
	cpu := math.Exp(slowCPU + n.CPU*rng.NormFloat64())
	latency, trail := slowRate+n.Latency*rng.NormFloat64(), n.Trail*rng.NormFloat64()
	t := record.Trial{
		Scenario: scenario,
		Load: &record.Load{
			Calls: calls, OK: calls, Seconds: e.Slice.Seconds(),
			WindowS: 0.9 * e.Slice.Seconds(), WindowCalls: calls * 9 / 10,
		},
		Processes: []record.Usage{usage(s.DriverCPU, cpu, calls, s.RSS)},
	}
	if !e.Bare {
		t.Load.Latency = shape(s.Median.Seconds()*math.Exp(latency), trail)
		t.Wire = record.Wire{Sent: s.Sent * int64(calls), Received: s.Received * int64(calls)}
		t.WireFar = t.Wire
	}
	tiers := e.tiers()
	for range tiers {
		t.Processes = append(t.Processes, usage(s.ServerCPU/time.Duration(len(tiers)), cpu, calls, s.RSS))
	}
	return t
}

func usage(perCall time.Duration, factor float64, calls int, rss int64) record.Usage {
	total := perCall.Seconds() * factor * float64(calls)
	return record.Usage{CPUUserS: 0.7 * total, CPUSystemS: 0.3 * total, PeakRSS: rss}
}

// shapes holds the histograms made so far: to make one takes longer than all
// the rest of a trial. They are shared, and so must not be recorded into.
var shapes sync.Map

// shape is a histogram of 1,500 latencies around a median, whose slowest
// twentieth is slower by exp(trail). Both are rounded, so that few are made.
func shape(median, trail float64) record.Histogram {
	const step, trailStep, calls, spread = 0.05, 0.2, 1500, 0.3
	type key struct{ median, trail int }
	k := key{int(math.Round(math.Log(median) / step)), int(math.Round(trail / trailStep))}
	if h, ok := shapes.Load(k); ok {
		return h.(record.Histogram)
	}
	dense := record.NewHistogram()
	for i := range calls {
		q := (float64(i) + 0.5) / calls
		x := float64(k.median)*step + spread*math.Sqrt2*math.Erfinv(2*q-1)
		if q > 0.95 {
			x += 0.5 + float64(k.trail)*trailStep
		}
		dense.Record(time.Duration(math.Exp(x) * float64(time.Second)))
	}
	h := sparse(dense)
	shapes.Store(k, h)
	return h
}

// sparse is h as it is once read from a file.
func sparse(h record.Histogram) record.Histogram {
	text, err := h.MarshalText()
	var out record.Histogram
	if err == nil {
		err = out.UnmarshalText(text)
	}
	if err != nil {
		panic(err) // record's own tests hold that it cannot be
	}
	return out
}
