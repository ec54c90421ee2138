package calibrate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tare-bench/tare/calibrate/known"
	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/runner"
	"github.com/tare-bench/tare/workload"
)

// Catalog adds the known servers to c: its baseline's protocol with weights.
func Catalog(c catalog.Catalog) (catalog.Catalog, error) {
	base, err := c.Stack(c.Baseline)
	if err != nil {
		return c, err
	}
	p, ok := base.Protocol.(known.Base)
	if !ok {
		return c, fmt.Errorf("the lean driver does not speak %s", c.Baseline)
	}
	c.Protocols = append(c.Protocols[:len(c.Protocols):len(c.Protocols)], known.Protocol{Base: p})
	return c, nil
}

// Scale is what the weights are weighed with.
type Scale struct {
	catalog  catalog.Catalog
	peer     []string // the words that start a process of it
	runs     int      // of a stack against itself
	spec     workload.Spec
	leg      workload.Leg // with one tier alone: nothing stands between driver and known server
	unladen  string       // the known server's stack, without a weight
	progress func(text string)
}

// NewScale makes one of a catalogue that has the known servers. The words peer
// start a process that has the same; progress is told each step.
func NewScale(c catalog.Catalog, peer []string, runs int, progress func(string)) (*Scale, error) {
	base, err := c.Stack(c.Baseline)
	if err != nil {
		return nil, err
	}
	s := &Scale{catalog: c, peer: peer, runs: runs, progress: progress, unladen: known.Name + "+" + base.Codec.Spec().Name}
	for _, w := range c.Workloads {
		for _, leg := range w.Spec().Legs {
			if len(leg.Tiers) == 1 {
				s.spec, s.leg = w.Spec(), leg
				return s, nil
			}
		}
	}
	return nil, errors.New("no workload has a leg of one tier")
}

// laden is the stack of a known server with one setting.
func (s *Scale) laden(setting string, value any) string {
	return fmt.Sprintf("%s@%s=%v", s.unladen, setting, value)
}

// experiment is what to plan for a weight.
type experiment struct {
	stacks   []string
	driver   string // native, if not given
	inFlight int
	rate     float64
	arrivals string
	slice    time.Duration
	rounds   int // of each block
	blocks   int
	seeds    []uint64 // of the rounds, where they are not drawn
}

func (s *Scale) plan(e experiment) (*plan.Plan, error) {
	round := e.slice * time.Duration(len(e.stacks))
	p, err := plan.New(plan.Request{
		Workload: s.spec.Name, Leg: s.leg.Name, Store: s.catalog.KeptIn, Stacks: e.stacks, Driver: e.driver,
		InFlight: e.inFlight, Rate: e.rate, Arrivals: e.arrivals, Slice: e.slice, Blocks: e.blocks, Seed: 1,
		For: max(time.Second, round*time.Duration(e.blocks*(e.rounds+1))), Phases: new(time.Duration(0)),
	}, catalog.Facts{Catalog: s.catalog})
	if err != nil {
		return nil, err
	}
	for i := range p.Blocks {
		p.Blocks[i].Rounds = p.Blocks[i].Rounds[:e.rounds]
		for j, seed := range e.seeds {
			p.Blocks[i].Rounds[j].Seed = seed
		}
	}
	return p, nil
}

// run carries an experiment out. look sees each line as it is kept, while all
// processes stand still; it may be nil.
func (s *Scale) run(ctx context.Context, e experiment, look func(record.Line) error) (*record.Run, error) {
	p, err := s.plan(e)
	if err != nil {
		return nil, err
	}
	run := new(record.Run)
	header := p.Header()
	keep := func(l record.Line) error {
		if err := run.Add(l); err != nil {
			return err
		}
		if look != nil {
			return look(l)
		}
		return nil
	}
	if err := keep(record.Line{Header: &header}); err != nil {
		return nil, err
	}
	err = runner.Run(ctx, p, runner.Options{
		Peer: s.peer, Started: time.Now(), Keep: keep,
		Watch: func(runner.Progress) {}, Enough: func() bool { return false },
	})
	return run, err
}

// merged is the latencies of a scenario's trials together.
func merged(run *record.Run, scenario int) record.Histogram {
	h := record.NewHistogram()
	for _, t := range trialsOf(run, scenario) {
		h.Merge(t.Load.Latency)
	}
	return h
}

// trialsOf gives the trials of a scenario that have a Load, in order.
func trialsOf(run *record.Run, scenario int) (all []record.Trial) {
	for _, t := range run.Trials {
		if t.Scenario == scenario && t.Load != nil {
			all = append(all, t)
		}
	}
	return all
}
