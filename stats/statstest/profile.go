package statstest

import (
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tare-bench/tare/record"
)

// samplePeriod is that of a profile of Go.
const samplePeriod = 0.01

// Profile adds a profiled trial of so long to each block of a run, for every
// scenario. Each process's CPU divides as shares say, what they lack of 1 is not
// sampled, and samples fall at random.
func (e Experiment) Profile(run *record.Run, long time.Duration, shares map[record.Phase]float64) {
	rng := rand.New(rand.NewPCG(e.Seed, 2))
	for b := range e.Blocks {
		for s, stack := range e.Stacks {
			p := record.Profile{Block: b, Scenario: s, Calls: int(stack.CallsPerS * long.Seconds())}
			tiers := e.tiers()
			p.Processes = append(p.Processes, e.phases(rng, stack.DriverCPU, p.Calls, shares))
			for range tiers {
				p.Processes = append(p.Processes, e.phases(rng, stack.ServerCPU/time.Duration(len(tiers)), p.Calls, shares))
			}
			run.Profiles = append(run.Profiles, p)
		}
	}
	run.Header.PhasesS = long.Seconds()
}

func (e Experiment) phases(rng *rand.Rand, perCall time.Duration, calls int, shares map[record.Phase]float64) *record.Phases {
	out := &record.Phases{PeriodS: samplePeriod}
	out.CPUS = perCall.Seconds() * float64(calls) * math.Exp(e.Noise.RestartCPU*rng.NormFloat64())
	for _, phase := range record.AllPhases {
		if shares[phase] == 0 {
			continue
		}
		n := int(distuv.Poisson{Lambda: shares[phase] * out.CPUS / samplePeriod, Src: rng}.Rand())
		out.Samples += n
		out.Parts = append(out.Parts, record.PhaseTime{Phase: phase, Seconds: float64(n) * samplePeriod})
	}
	return out
}
