package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tare-bench/tare/internal/environment"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
	"github.com/tare-bench/tare/runner"
	"github.com/tare-bench/tare/stats"
)

func (a *app) planCommand() *cobra.Command {
	var e experiment
	var format string
	c := &cobra.Command{
		Use:   "plan WORKLOAD",
		Short: "Show what compare would run with the same flags, and what it would leave out",
		Args:  one("the name of a workload"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := a.plan(&e, c.Flags(), args[0])
			if err != nil {
				return err
			}
			return a.printPlan(p, format)
		},
	}
	e.declare(c, a.catalog)
	c.Flags().StringVar(&format, "format", planFormats[0].name, "text, or json for every trial")
	return c
}

func (a *app) compareCommand() *cobra.Command {
	var e experiment
	var dir, format, pin string
	var peerWords, failIf []string
	c := &cobra.Command{
		Use:   "compare WORKLOAD",
		Short: "Run a workload's stacks head to head and print the verdict",
		Example: `  tare compare orders
  tare compare orders --stacks grpc+proto,rest+json --calls 1000000 --in-flight 100
  tare compare orders --stacks grpc+proto,rest+json --rate 2000
  tare compare orders --leg payment --driver lean --precision 3%`,
		Args: one("the name of a workload"),
		RunE: func(c *cobra.Command, args []string) error {
			render, err := a.renderer(format)
			if err != nil {
				return usage(err)
			}
			p, err := a.plan(&e, c.Flags(), args[0])
			if err != nil {
				return err
			}
			peers, err := foreign(peerWords, p)
			if err != nil {
				return usage(err)
			}
			set, err := bounds(failIf, p.Scenarios)
			if err != nil {
				return err
			}
			where, err := pinned(pin)
			if err != nil {
				return err
			}
			return a.compare(c.Context(), p, processes{peers, where}, dir, render, set)
		},
	}
	e.declare(c, a.catalog)
	c.Flags().StringVar(&dir, "out", "", "folder for the results (default: tare-results/TIME-WORKLOAD)")
	c.Flags().StringArrayVar(&peerWords, "peer", nil, "TIER=COMMAND: have another program, which speaks the peer protocol, serve a tier; may be repeated")
	c.Flags().StringVar(&pin, "pin", pinAuto, fmt.Sprintf("keep the driver and the servers on cores of their own: %s, %s, or %s, which does so from %d cores on",
		pinOn, pinOff, pinAuto, enoughCores))
	declareBounds(c, &failIf)
	declareFormat(c, &format)
	return c
}

// processes are what runs, and where.
type processes struct {
	peers map[string][]string // words that start a tier, where another program serves it
	where record.Pinned
}

// foreign gives the words that start each tier which another program serves. A
// shell takes the command apart, as the person who typed it expects.
func foreign(words []string, p *plan.Plan) (map[string][]string, error) {
	commands, err := pairs("--peer", words)
	if err != nil {
		return nil, err
	}
	peers := make(map[string][]string, len(commands))
	for tier, command := range commands {
		if !slices.ContainsFunc(p.Tiers, func(t plan.Tier) bool { return t.Name == tier }) {
			return nil, fmt.Errorf("--peer %s: leg %s has no such tier", tier, p.Leg)
		}
		peers[tier] = []string{"sh", "-c", "exec " + command}
	}
	return peers, nil
}

// plan designs the experiment that the flags ask for. Every error of it is one
// of usage.
func (a *app) plan(e *experiment, given *pflag.FlagSet, workload string) (*plan.Plan, error) {
	r, err := e.resolve(given, workload)
	if err != nil {
		return nil, err
	}
	if _, err := a.catalog.Store(r.Store); err != nil {
		return nil, usage(fmt.Errorf("--store %w", err))
	}
	p, err := plan.New(r, a.facts())
	return p, usage(err)
}

// compare carries p out, keeps what it measures, and prints what it means. What
// was measured before an error is printed too.
func (a *app) compare(ctx context.Context, p *plan.Plan, run processes, dir string, render report.Renderer, set []stats.Bound) error {
	started := a.Now()
	if dir == "" {
		dir = defaultDir(started, p.Workload)
	}
	kept, err := createResults(dir)
	if err != nil {
		return err
	}
	header := p.Header()
	header.Version = environment.Version()
	header.Started = started
	header.Command = a.again(p)
	header.Pinned = run.where
	header.Environment = environment.Facts()
	header.Libraries = environment.Libraries(a.catalog.Modules())
	if err := kept.keep(record.Line{Header: &header}); err != nil {
		return errors.Join(err, kept.close())
	}
	for _, n := range p.Notes {
		fmt.Fprintf(a.Err, "note: %s\n", n)
	}
	shown := a.progress(len(p.Blocks), p.Trials())
	machine := watchMachine()
	err = runner.Run(ctx, p, runner.Options{
		Peer: a.Self, Peers: run.peers, Pinned: run.where, Started: started, Keep: kept.keep, Watch: shown.watch,
		Enough:  func() bool { return p.Precision > 0 && stats.Precise(&kept.run, p.Precision) },
		Machine: machine,
	})
	shown.end()
	err = errors.Join(err, kept.close())
	if ctx.Err() != nil {
		err = errInterrupted
	}
	if len(kept.run.Trials) > 0 {
		shown := a.show(&kept.run, render, set)
		if err == nil || !errors.Is(shown, errBroken) { // a run that failed has not only broken a bound
			err = errors.Join(err, shown)
		}
	}
	fmt.Fprintf(a.Err, "results: %s\n", kept.path())
	return err
}

// again gives the words that make this run again: those that were typed, and the
// seed where it was drawn.
func (a *app) again(p *plan.Plan) []string {
	words := slices.Concat([]string{"tare"}, a.args)
	if i := slices.Index(words, "--seed=0"); i >= 0 {
		words[i] = fmt.Sprintf("--seed=%d", p.Seed)
	}
	if i := slices.Index(words, "--seed"); i >= 0 && i+1 < len(words) {
		words[i+1] = fmt.Sprint(p.Seed)
	}
	return words
}

var errInterrupted = errors.New("interrupted; what was measured until then is kept")
