package runner

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// profiles gives each scenario its profiled trial, if there are any. They are
// the last of their block, so that no other comes after a profile.
func (r *run) profiles(ctx context.Context, all []*contender, block int, round *plan.Round) error {
	if round == nil {
		return nil
	}
	r.watch(StepProfile, block, "")
	for _, t := range round.Trials {
		rec := record.Profile{Block: block, Scenario: t.Scenario, Seed: round.Seed, AtS: r.at()}
		c := all[t.Scenario]
		observed, phases, err := c.profile(ctx, ask(r.plan, t, round.Seed))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !c.goOn(err) {
			return fmt.Errorf("profile %s: %w", c.scenario.Name, err)
		}
		if err != nil { // it stalled: it tells nothing
			continue
		}
		rec.Calls, rec.Items, rec.Processes = observed.Calls, observed.Items, phases
		if err := r.Keep(record.Line{Profile: &rec}); err != nil {
			return err
		}
	}
	return nil
}

// profile loads for one trial while the processes sample their own CPU, as far
// as they know how to: the phases of one that does not are nil.
func (c *contender) profile(ctx context.Context, t peer.Trial) (*record.Load, []*record.Phases, error) {
	began, err := c.tell(ctx, peer.ProfileBegin, func(*process) bool { return true })
	if err != nil {
		return nil, nil, err
	}
	observed, failure := c.load(ctx, t)
	ended, err := c.tell(ctx, peer.ProfileEnd, func(p *process) bool { return began[p] != nil })
	if err := errors.Join(failure, err); err != nil {
		return nil, nil, err
	}
	phases := make([]*record.Phases, len(c.procs))
	for i, p := range c.procs {
		if reply := ended[p]; reply != nil {
			phases[i] = reply.Profile
		}
	}
	return observed, phases, nil
}

// tell asks all of the processes at once that it is to be asked of, and leaves
// out those that answer with an error. One that does not answer is an error.
func (c *contender) tell(ctx context.Context, what string, of func(*process) bool) (map[*process]*peer.Reply, error) {
	replies := make([]*peer.Reply, len(c.procs))
	asking, askCtx := errgroup.WithContext(ctx)
	for i, p := range c.procs {
		if !of(p) {
			continue
		}
		asking.Go(func() error {
			var reply peer.Reply
			if err := p.exchange(askCtx, peer.Request{Profile: what}, &reply, answerGrace); err != nil {
				return err
			}
			if reply.Error == "" {
				replies[i] = &reply
			}
			return nil
		})
	}
	if err := asking.Wait(); err != nil {
		return nil, errors.Join(c.alive(), err)
	}
	told := make(map[*process]*peer.Reply, len(c.procs))
	for i, p := range c.procs {
		if replies[i] != nil {
			told[p] = replies[i]
		}
	}
	return told, nil
}
