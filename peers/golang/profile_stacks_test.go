//go:build !race

// Much of what the race detector does has no stack of Go's, and is slow.

package golang

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/peers/golang/phase"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// In real profiles of every protocol, every codec and every compressor, each phase
// that there must be is seen, and what a codec does is nowhere else.
func TestPhasesOfEveryStack(t *testing.T) {
	c := catalog.Default()
	r := phase.NewRules(c, record.PhaseHandler)
	w := c.Workloads[0].Spec()
	leg := w.Legs[len(w.Legs)-1]
	first := func(s catalog.Stack) bool { // a codec shows on one protocol, and a protocol with one codec
		return s.Protocol == c.Protocols[0] || s.Codec == c.Codecs[0]
	}
	for _, stack := range innocents(t, c) {
		if s, err := c.Stack(stack); err != nil || !first(s) || (catalog.Facts{Catalog: c}).Able(stack, leg, plan.Native) != nil {
			continue
		}
		t.Run(stack, func(t *testing.T) {
			all, p := chained(t, c, leg.Name, stack)
			must := []record.Phase{record.PhaseKernel, record.PhaseLibrary, record.PhaseEncode, record.PhaseDecode, record.PhaseValidate}
			if p.Scenarios[0].Factors["compressor"] != "none" {
				must = append(must, record.PhaseCompress)
			}
			sampled := all.sampled(t, func(p *profile.Profile) bool {
				phases := charge(t, r, p)
				return !slices.ContainsFunc(must, func(m record.Phase) bool { return seconds(phases, m) == 0 })
			})
			phases := charge(t, r, sampled)
			if got, want := phases.Sampled(), float64(phases.Samples)*phases.PeriodS; math.Abs(got-want) > 1e-9 {
				t.Errorf("the phases make %v s, the samples %v s", got, want)
			}
			steps := slices.Concat(codec.MapMethods, codec.EncodeMethods, codec.DecodeMethods)
			inCodec := []record.Phase{record.PhaseMap, record.PhaseEncode, record.PhaseDecode, record.PhaseCollect}
			for _, s := range sampled.Sample {
				stack := names(s)
				is := slices.ContainsFunc(stack, func(name string) bool {
					return strings.Contains(name, "tare/codec/") && slices.ContainsFunc(steps, func(m string) bool { return strings.HasSuffix(name, "."+m) })
				})
				if got := r.Of(stack); is && !slices.Contains(inCodec, got) {
					t.Errorf("a codec's work is charged to %s: %v", got, stack)
				}
			}
			if other := seconds(phases, record.PhaseOther); other > 0.2*phases.Sampled() {
				t.Errorf("other is %.2g of %.2g s", other, phases.Sampled())
			}
		})
	}
}
