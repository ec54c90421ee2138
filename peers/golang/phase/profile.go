package phase

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/google/pprof/profile"

	"github.com/tare-bench/tare/record"
)

// A goroutine that works for calls to the next tier bears this label, and so do
// those that it starts, such as the readers of its connections.
const (
	toward = "toward"
	next   = "next"
)

// TowardNext is a context whose labels say that what bears them works for calls
// to the next tier.
func TowardNext() context.Context {
	return pprof.WithLabels(context.Background(), pprof.Labels(toward, next))
}

// onWire are the phases that a tier has toward its caller and toward the next.
var onWire = []record.Phase{
	record.PhaseKernel, record.PhaseLibrary, record.PhaseCompress,
	record.PhaseEncode, record.PhaseDecode, record.PhaseMap,
}

// Charge reads a CPU profile as runtime/pprof writes it, and charges each of
// its samples to a phase. CPUS is the caller's to fill in.
func (r Rules) Charge(written io.Reader) (*record.Phases, error) {
	p, err := profile.Parse(written)
	if err != nil {
		return nil, fmt.Errorf("read CPU profile: %w", err)
	}
	return r.charge(p)
}

func (r Rules) charge(p *profile.Profile) (*record.Phases, error) {
	if len(p.SampleType) == 0 || p.Period <= 0 {
		return nil, errors.New("read CPU profile: it has no samples of a known period")
	}
	period := time.Duration(p.Period).Seconds()
	out := &record.Phases{PeriodS: period, Parts: []record.PhaseTime{}}
	type key struct {
		phase record.Phase
		next  bool
	}
	counts := make(map[key]int)
	for _, s := range p.Sample {
		n := int(s.Value[0])
		k := key{phase: r.Of(functions(s))}
		k.next = slices.Contains(onWire, k.phase) && s.HasLabel(toward, next)
		counts[k] += n
		out.Samples += n
	}
	for _, phase := range record.AllPhases {
		for _, next := range []bool{false, true} {
			if n := counts[key{phase, next}]; n > 0 {
				out.Parts = append(out.Parts, record.PhaseTime{Phase: phase, Next: next, Seconds: float64(n) * period})
			}
		}
	}
	return out, nil
}

// functions names those on a sample's stack, the leaf first, what is inlined
// before what it is inlined in.
func functions(s *profile.Sample) []string {
	var names []string
	for _, l := range s.Location {
		for _, line := range l.Line {
			if line.Function != nil {
				names = append(names, line.Function.Name)
			}
		}
	}
	return names
}
