package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/store"
)

func (a *app) planCommand() *cobra.Command {
	var e experiment
	var format string
	c := &cobra.Command{
		Use:   "plan WORKLOAD",
		Short: "Show what compare would run with the same flags, and what it would leave out",
		Args:  one("the name of a workload"),
		RunE: func(c *cobra.Command, args []string) error {
			_, _, s, err := a.plan(&e, c.Flags(), args[0])
			if err != nil {
				return err
			}
			return a.printPlan(s, format)
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
  tare compare orders --stacks grpc+proto,rest+json --rate 50%
  tare compare orders --leg payment --sweep in-flight=1,4,16,64
  tare compare orders --leg payment --driver lean --precision 3%`,
		Args: one("the name of a workload"),
		RunE: func(c *cobra.Command, args []string) error {
			render, err := a.renderer(format)
			if err != nil {
				return usage(err)
			}
			requests, addresses, series, err := a.plan(&e, c.Flags(), args[0])
			if err != nil {
				return err
			}
			first := series.Points[0].Plan
			peers, err := foreign(peerWords, series)
			if err != nil {
				return usage(err)
			}
			set, err := bounds(failIf, first.Scenarios)
			if err != nil {
				return err
			}
			where, err := pinned(pin)
			if err != nil {
				return err
			}
			return a.compare(c.Context(), &comparison{requests, series, processes{peers: peers, where: where}, addresses, dir}, render, set)
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
	store string // address of a point's, with what is secret in it
}

// foreign gives the words that start each tier which another program serves. A
// shell takes the command apart, as the person who typed it expects.
func foreign(words []string, s *plan.Series) (map[string][]string, error) {
	commands, err := pairs("--peer", words)
	if err != nil {
		return nil, err
	}
	peers := make(map[string][]string, len(commands))
	for tier, command := range commands {
		if !slices.ContainsFunc(s.Points, func(p plan.Point) bool { return p.Plan.Serves(tier) }) {
			return nil, fmt.Errorf("--peer %s: leg %s has no such tier", tier, s.Points[0].Plan.Leg)
		}
		peers[tier] = []string{"sh", "-c", "exec " + command}
	}
	return peers, nil
}

// plan designs the experiments that the flags ask for. Every error of it is one
// of usage.
func (a *app) plan(e *experiment, given *pflag.FlagSet, workload string) (requests []plan.Request, stores []string, s *plan.Series, err error) {
	if requests, err = e.requests(given, workload); err != nil {
		return nil, nil, nil, err
	}
	if stores, err = a.takeStores(requests); err != nil {
		return nil, nil, nil, usage(fmt.Errorf("--store %w", err))
	}
	s, err = plan.NewSeries(requests, a.facts())
	return requests, stores, s, usage(err)
}

// compare measures, and prints what it means. What was measured before an error
// is printed too.
func (a *app) compare(ctx context.Context, c *comparison, render report.Renderer, set []stats.Bound) error {
	if c.dir == "" {
		c.dir = defaultDir(a.Now(), c.requests[0].Workload)
	}
	where, show := filepath.Join(c.dir, resultsFile), a.show
	if c.sweeps() {
		where, show = c.dir, a.showSweep
	}
	if c.sweeps() || c.series.Pilots() > 0 {
		if err := fresh(c.dir); err != nil {
			return err
		}
	}
	runs, err := a.measure(ctx, c)
	if len(runs) == 0 {
		return err
	}
	told := slices.DeleteFunc(slices.Clone(runs), func(r *record.Run) bool { return len(r.Trials) == 0 })
	if len(told) > 0 {
		shown := show(told, render, set)
		var interrupted *interruptedError
		if c.sweeps() && errors.As(err, &interrupted) {
			interrupted.folder = c.dir // with all points
		}
		if err == nil || !errors.Is(shown, errBroken) { // a run that failed has not only broken a bound
			err = errors.Join(err, shown)
		}
	}
	fmt.Fprintf(a.Err, "results: %s\n", where)
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
	for i := range words {
		words[i] = store.Redact(words[i])
	}
	return words
}

// interruptedError is of a run that was ended from outside. Its folder can be
// reported; "" where nothing was measured.
type interruptedError struct{ folder string }

func (e *interruptedError) Error() string { return "interrupted; what was measured until then is kept" }
