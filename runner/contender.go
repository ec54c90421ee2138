package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// contender is one scenario's processes: a driver, and a server for each tier.
type contender struct {
	scenario  record.Scenario
	plan      *plan.Plan
	procs     []*process     // the driver, then each tier
	last      []record.Usage // by process, as last read
	fruitless int            // trials in a row in which nothing succeeded
	payload   record.Payload // a sample of what its calls carry
}

// launchAll starts every scenario's processes. On error none is left.
func launchAll(ctx context.Context, p *plan.Plan, where site) ([]*contender, error) {
	all := make([]*contender, len(p.Scenarios))
	starts, startCtx := errgroup.WithContext(ctx)
	for i, s := range p.Scenarios {
		all[i] = &contender{scenario: s, plan: p, procs: make([]*process, 1+len(p.Tiers))}
		starts.Go(func() error { return all[i].launch(startCtx, where) })
	}
	if err := starts.Wait(); err != nil {
		endAll(all)
		return nil, err
	}
	return all, nil
}

// launch starts the last tier first, since each process must know the next.
func (c *contender) launch(ctx context.Context, where site) error {
	p := c.plan
	common := peer.Start{
		Workload: p.Workload, Leg: p.Leg, Params: p.Params,
		InFlight: p.InFlight, TimeoutS: p.Timeout.Seconds(), Admit: p.Admit,
	}
	var next *peer.Next
	for i := len(p.Tiers) - 1; i >= 0; i-- {
		tier := p.Tiers[i]
		s := common
		s.Role, s.Tier, s.Stack, s.Next, s.Workers = peer.Serve, tier.Name, c.stackOf(tier), next, p.Workers
		name := fmt.Sprintf("%s server of %s", tier.Name, c.scenario.Name)
		var err error
		if s.Store, err = where.kept.apart(tier.Name, c.scenario.Name); err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		server, err := launch(ctx, name, where.server(i), s)
		if err != nil {
			return err
		}
		c.procs[1+i] = server
		addr, err := where.reach(i, server.ready.Addr)
		if err != nil {
			return fmt.Errorf("start %s: %w", name, err)
		}
		next = &peer.Next{Stack: s.Stack, Addr: addr}
	}
	s := common
	s.Role, s.Driver, s.Next = peer.Drive, p.Driver, next
	driver, err := launch(ctx, "driver of "+c.scenario.Name, where.driver(), s)
	c.procs[0] = driver
	return err
}

func (c *contender) stackOf(t plan.Tier) string {
	if t.Stack == "" {
		return c.scenario.Stack
	}
	return t.Stack
}

// endAll ends every process of every contender, drivers first, and waits.
func endAll(all []*contender) {
	var ends errgroup.Group
	for _, c := range all {
		ends.Go(func() error {
			for _, p := range c.procs {
				if p != nil {
					p.end()
				}
			}
			return nil
		})
	}
	_ = ends.Wait() // no end reports an error
}

func (c *contender) driver() *process { return c.procs[0] }

// alive says which process is gone that should be there.
func (c *contender) alive() error {
	var errs []error
	for _, p := range c.procs {
		errs = append(errs, p.alive())
	}
	return errors.Join(errs...)
}

// used reads what each process has used since the last reading. So all that a
// process uses is charged to its own calls, what it does shortly after the last
// of them included: a collection of garbage that was under way, an
// acknowledgement.
func (c *contender) used(ctx context.Context) ([]record.Usage, error) {
	since := make([]record.Usage, len(c.procs))
	now := make([]record.Usage, len(c.procs))
	for i, p := range c.procs {
		r, err := p.ask(ctx, peer.Request{Usage: true}, answerGrace)
		if err != nil {
			return nil, err
		}
		if r.Usage == nil {
			return nil, fmt.Errorf("%s did not say what it has used", p.name)
		}
		now[i], since[i] = *r.Usage, *r.Usage
		if c.last != nil {
			since[i] = r.Usage.Sub(c.last[i])
		}
	}
	c.last = now
	return since, nil
}

// StallError says that a contender, whose processes live, answers nothing.
type StallError struct{ Text string }

func (e *StallError) Error() string { return e.Text }

// load has the driver load for one trial. Its error names the contender; a
// trial in which nothing succeeded is a *StallError.
func (c *contender) load(ctx context.Context, t peer.Trial) (*record.Load, error) {
	within := time.Duration(t.DurationS*float64(time.Second)) + c.plan.Timeout + answerGrace
	turns := 1 + max(t.Calls, t.AtLeast)/t.InFlight // if every call took its whole deadline
	within += time.Duration(turns) * c.plan.Timeout
	r, err := c.driver().ask(ctx, peer.Request{Trial: &t}, within)
	if err != nil {
		return nil, errors.Join(c.alive(), err)
	}
	switch {
	case r.Trial == nil:
		return nil, fmt.Errorf("%s did not say what it observed", c.driver().name)
	case r.Trial.OK == 0 && r.Trial.Calls > 0:
		if err := c.alive(); err != nil {
			return nil, err
		}
		return nil, &StallError{fmt.Sprintf("%s answered none of %d calls: %s", c.scenario.Name, r.Trial.Calls, r.Trial.FirstError)}
	}
	return r.Trial, c.alive()
}

// fruitlessAtMost is how many trials in a row may pass without a right answer
// before there is no point in going on.
const fruitlessAtMost = 3

// goOn says whether the run goes on after a trial that ended with err: one or
// two trials that stall are left out of the result, and counted in it.
func (c *contender) goOn(err error) bool {
	var stall *StallError
	switch {
	case err == nil:
		c.fruitless = 0
	case errors.As(err, &stall):
		c.fruitless++
	}
	return err == nil || stall != nil && c.fruitless < fruitlessAtMost
}
