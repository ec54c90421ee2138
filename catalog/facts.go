package catalog

import (
	"fmt"
	"slices"

	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// Facts answers what a plan asks of a catalogue. It is a plan.Facts.
type Facts struct{ Catalog }

// Workload gives what a workload says of itself.
func (f Facts) Workload(name string) (workload.Spec, error) {
	w, err := f.Catalog.Workload(name)
	if err != nil {
		return workload.Spec{}, err
	}
	return w.Spec(), nil
}

// Stack gives a stack's factors; an error says that it is misspelt.
func (f Facts) Stack(name string) (map[string]string, error) {
	s, err := f.Catalog.Stack(name)
	if err != nil {
		return nil, err
	}
	return s.Factors(), nil
}

// Transport says how a stack's calls travel.
func (f Facts) Transport(name string, inFlight int) *plan.Transport {
	s, err := f.Catalog.Stack(name)
	if err != nil || s.Protocol.Spec().Transport == nil {
		return nil
	}
	t := plan.Transport(s.Protocol.Spec().Transport(s.Options(inFlight)))
	return &t
}

// Remark is what the stack's codec has to be told of.
func (f Facts) Remark(name string) string {
	s, err := f.Catalog.Stack(name)
	if err != nil {
		return ""
	}
	return s.Codec.Spec().Remark
}

// DefaultBaseline is the stack that others are compared with by default.
func (f Facts) DefaultBaseline() string { return f.Baseline }

// Able says why a stack cannot carry a leg with a driver, or nil.
func (f Facts) Able(name string, leg workload.Leg, driver string) error {
	s, err := f.Catalog.Stack(name)
	if err != nil {
		return err
	}
	for i, t := range leg.Tiers {
		stack := s
		if t.Stack != workload.Varied {
			if stack, err = f.Catalog.Stack(t.Stack); err != nil {
				return err
			}
		}
		why := stack.carries(t.Calls)
		if why == nil && i == 0 && driver == plan.Lean {
			why = stack.leans(t.Calls)
		}
		if why != nil {
			return fmt.Errorf("%w: %w", plan.ErrLeftOut, why)
		}
	}
	return nil
}

// carries says why the stack cannot carry calls of some methods, or nil.
func (s Stack) carries(methods []*rpc.Method) error {
	p, k := s.Protocol.Spec(), s.Codec.Spec()
	if !slices.Equal(p.Codecs, protocol.AnyCodec) && !slices.Contains(p.Codecs, k.Name) {
		return fmt.Errorf("%s takes no other codec than %v", p.Name, p.Codecs)
	}
	if s.Compressor != nil && p.Uncompressed != "" {
		return fmt.Errorf("%s takes no compressor: %s", p.Name, p.Uncompressed)
	}
	for _, m := range methods {
		if err := p.CanCarry(m.Kind, s.Settings); err != nil {
			return err
		}
		for _, t := range []*rpc.Type{m.In, m.Out} {
			if _, err := s.Codec.Bind(t); err != nil {
				return fmt.Errorf("%s cannot carry %s: %w", k.Name, t.Name, err)
			}
		}
	}
	return nil
}

// leans says why the lean driver cannot call some methods over the stack, or nil.
func (s Stack) leans(methods []*rpc.Method) error {
	framer, ok := s.Protocol.(protocol.Framer)
	if !ok {
		return fmt.Errorf("the lean driver does not speak %s", s.Protocol.Spec().Name)
	}
	for _, m := range methods {
		if m.Kind != rpc.Unary {
			return fmt.Errorf("the lean driver makes unary calls, and %s is a %v", m.Name, m.Kind)
		}
	}
	_, err := framer.Carriage(s.Options(1))
	return err
}
