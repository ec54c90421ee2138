// Package runner carries a plan out: it starts the processes, lets each
// scenario have its turns, and hands on a record of each. It makes no call and
// knows no protocol; every process that it starts is ended before it returns.
package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// Options are the runner's effects.
type Options struct {
	Peer    []string                  // the words that start a process,
	Peers   map[string][]string       // but for tiers that another program serves
	Pinned  record.Pinned             // which processors they may run on
	Link    link.Network              // that the compared stacks' calls cross; nil for loopback
	Stores  Stores                    // one for each server; nil: all are given the plan's address
	Started time.Time                 // when the run began: times in records count from it
	Keep    func(record.Line) error   // keeps a line for good before it returns
	Watch   func(Progress)            // sees each step
	Enough  func() bool               // asked after each block: whether the answer is precise enough
	Machine func() map[string]float64 // asked once, when all processes have ended, for record.End; nil for none
}

// Progress is a step of the run.
type Progress struct {
	Step     string // one of the constants below
	Block    int
	Scenario string        // whose turn it is, at a trial
	Trial    int           // trials done
	Trials   int           // trials planned
	Elapsed  time.Duration // since Options.Started
}

// Steps of a run.
const (
	StepStart  = "start"
	StepCheck  = "check answers"
	StepWarmUp = "warm up"
	StepTrial  = "trial"
	// StepProfile is that of all profiled trials of a block.
	StepProfile = "profile"
)

// Ends of a run, for record.End.
const (
	complete    = "complete"
	precise     = "precise"
	interrupted = "interrupted"
	failed      = "failed"
)

// Run carries p out. However it ends, the last line kept says how. When ctx
// ends it stops at once and returns ctx's error; what was measured is kept. A
// *LeftoverError beside it names stores that could not be removed.
func Run(ctx context.Context, p *plan.Plan, o Options) error {
	r := &run{plan: p, Options: o, trials: p.Trials()}
	reason, err := failed, p.Ready()
	if err == nil {
		reason, err = r.blocks(ctx)
		err = errors.Join(err, r.leftover())
	}
	end := record.End{Reason: reason, AtS: r.at()}
	if o.Machine != nil {
		end.Machine = o.Machine()
	}
	if o.Link != nil {
		used := o.Link.Used()
		end.Link = &used
	}
	if err != nil {
		end.Error = err.Error()
	}
	return errors.Join(err, o.Keep(record.Line{End: &end}))
}

type run struct {
	Options
	plan   *plan.Plan
	trials int // planned
	done   int
	round  int     // through the whole run
	left   []error // why stores could not be removed
}

func (r *run) at() float64 { return time.Since(r.Started).Seconds() }

func (r *run) watch(step string, block int, scenario string) {
	r.Watch(Progress{
		Step: step, Block: block, Scenario: scenario,
		Trial: r.done, Trials: r.trials, Elapsed: time.Since(r.Started),
	})
}

func (r *run) blocks(ctx context.Context) (string, error) {
	for i, b := range r.plan.Blocks {
		if err := r.block(ctx, i, b); err != nil {
			if ctx.Err() != nil {
				return interrupted, ctx.Err()
			}
			return failed, err
		}
		if i+1 < len(r.plan.Blocks) && r.Enough() {
			return precise, nil
		}
	}
	return complete, nil
}

// block runs its rounds on processes of its own.
func (r *run) block(ctx context.Context, index int, b plan.Block) error {
	r.watch(StepStart, index, "")
	kept := &kept{run: r, block: index}
	defer kept.remove(ctx) // once its processes have ended
	ctx, done := context.WithCancel(ctx)
	defer done() // likewise
	all, err := launchAll(ctx, r.plan, r.site(ctx, kept))
	if err != nil {
		return err
	}
	defer endAll(all)

	r.watch(StepCheck, index, "")
	if err := checkAnswers(ctx, all); err != nil {
		return err
	}
	r.watch(StepWarmUp, index, "")
	head := record.Block{Index: index}
	for _, c := range all {
		w, err := c.warmUp(ctx, r.plan, index)
		if err != nil {
			return fmt.Errorf("warm up: %w", err)
		}
		head.Warmups = append(head.Warmups, w)
		head.Peers = append(head.Peers, c.describe())
		head.Payloads = append(head.Payloads, c.payload)
	}
	if err := r.Keep(record.Line{Block: &head}); err != nil {
		return err
	}
	for _, round := range b.Rounds {
		for position, t := range round.Trials {
			if err := r.trial(ctx, all[t.Scenario], index, position, round, t); err != nil {
				return err
			}
		}
		r.round++
	}
	return r.profiles(ctx, all, index, b.Profiled)
}

func (r *run) trial(ctx context.Context, c *contender, block, position int, round plan.Round, t plan.Trial) error {
	rec := record.Trial{
		Block: block, Round: r.round, Position: position,
		Scenario: t.Scenario, Seed: round.Seed, AtS: r.at(),
	}
	observed, err := c.load(ctx, ask(r.plan, t, round.Seed))
	if ctx.Err() != nil { // cut short: not a trial
		return ctx.Err()
	}
	rec.Load = observed
	if err != nil {
		rec.Failed = err.Error()
	}
	if !c.goOn(err) {
		return errors.Join(err, r.Keep(record.Line{Trial: &rec}))
	}
	if rec.Processes, err = c.used(ctx); err != nil {
		return err
	}
	rec.Wire, rec.WireFar = c.wire(rec.Processes)
	if err := r.Keep(record.Line{Trial: &rec}); err != nil {
		return err
	}
	r.done++
	r.watch(StepTrial, block, c.scenario.Name)
	return nil
}

// wire gives what crossed the leg that the stack varies, as its caller and as
// its server counted it.
func (c *contender) wire(used []record.Usage) (near, far record.Wire) {
	varied := 0
	for i, t := range c.plan.Tiers {
		if t.Stack == "" {
			varied = i
		}
	}
	return used[varied].Dialed, used[varied+1].Accepted
}

func (c *contender) describe() []record.Process {
	var all []record.Process
	for i, p := range c.procs {
		role := peer.Drive
		if i > 0 {
			role = c.plan.Tiers[i-1].Name
		}
		all = append(all, record.Process{Role: role, PID: p.ready.PID, Runtime: p.ready.Runtime, Addr: p.ready.Addr, Workers: p.ready.Workers})
	}
	return all
}
