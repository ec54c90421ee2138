package cli

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/stats"
)

// experiment is the flags that say what to compare. Each is declared here alone;
// compare and plan share them.
type experiment struct {
	request   plan.Request
	phases    time.Duration
	params    []string
	rate      string
	sweep     []string
	precision string
	margin    string
}

func (e *experiment) declare(c *cobra.Command, known catalog.Catalog) {
	f, r := c.Flags(), &e.request
	f.SortFlags = false
	f.StringSliceVar(&r.Stacks, "stacks", nil, "stacks to compare, separated by commas (default: the workload's own choice)")
	f.StringVar(&r.Baseline, "baseline", "", fmt.Sprintf("stack that the others are compared with (default: %s where it runs, else the first)", known.Baseline))
	f.StringVar(&r.Leg, "leg", "", "which of the workload's services to load (default: all of them, from the first)")
	f.StringVar(&r.Link, "link", "", "emulated network between the server that the compared stacks reach and its caller (default: loopback): "+link.Takes())
	f.IntVar(&r.InFlight, "in-flight", 0, fmt.Sprintf(
		"closed loop with so many callers (default %d); with --rate: at most so many calls at once (default %d)",
		plan.DefaultInFlight, plan.DefaultSlots))
	f.IntVar(&r.Workers, "workers", 0, "processors that each server process uses at once: 1 for single-threaded servers (default: all that there are)")
	f.IntVar(&r.Admit, "admit", 0, fmt.Sprintf(
		"calls that each service works for at once, and as many that wait; more are refused (default %d, and never fewer than a closed loop has)",
		plan.DefaultAdmit))
	f.StringVar(&e.rate, "rate", "", "open loop with so many arrivals per second; 50%: half of what the slowest stack carries, which a pilot finds")
	f.StringVar(&r.Arrivals, "arrivals", "", fmt.Sprintf("arrivals of the open loop: %s (default) or %s", plan.Poisson, plan.Constant))
	f.IntVar(&r.Calls, "calls", 0, "exact work: so many calls on each stack")
	f.DurationVar(&r.For, "for", 0, fmt.Sprintf(
		"time under load, all stacks together (default %v; with --precision at most, default %v)",
		plan.DefaultFor, plan.DefaultBound))
	f.StringVar(&e.precision, "precision", "", "run until every headline interval is this narrow: 3%")
	f.StringVar(&r.Driver, "driver", plan.Native, "native: the client library that the stack's users have; lean: prepared bytes at the least cost")
	f.StringArrayVar(&e.params, "param", nil, "parameter of the workload, NAME=VALUE; may be repeated")
	f.StringArrayVar(&e.sweep, "sweep", nil, "AXIS=VALUE,VALUE: a run for each value, and a table of them all; given twice, a run for each pair of values; axes: "+axisNames())
	f.StringVar(&r.Store, "store", "", fmt.Sprintf("what the services keep their records in, each server apart from the others; tare stacks lists the kinds (default %s)", known.KeptIn))
	f.DurationVar(&r.Timeout, "timeout", plan.DefaultTimeout, "deadline of each call")
	f.Uint64Var(&r.Seed, "seed", 1, "seed of calls, arrivals and order; 0 draws one")
	f.DurationVar(&r.Slice, "slice", 0, "length of a trial (default: what suits the workload; 2s or more with --rate)")
	f.DurationVar(&e.phases, phasesFlag, 0, "length of a profiled trial, which tells how CPU divides; each stack has one a block (default: up to 1s, within --for; none with --calls); 0s for none")
	f.IntVar(&r.Blocks, "blocks", 0, fmt.Sprintf(
		"how often all processes are started anew (default %d; a verdict needs %d)", plan.DefaultBlocks, stats.MinBlocks))
	f.StringVar(&e.margin, "margin", fmt.Sprintf("%g%%", 100*plan.DefaultMargin), "differences within this margin are the same")
}

// requests completes the request from the flags and the workload's name. There is
// one for each value of a sweep. Every error of it is one of usage.
func (e *experiment) requests(given *pflag.FlagSet, workload string) ([]plan.Request, error) {
	r, err := e.resolve(given, workload)
	if err != nil {
		return nil, usage(err)
	}
	all, err := swept(r, e.sweep)
	return all, usage(err)
}

func (e *experiment) resolve(given *pflag.FlagSet, workload string) (plan.Request, error) {
	r := e.request
	r.Workload = workload
	if err := refuseZeros(given); err != nil {
		return r, err
	}
	if given.Changed(phasesFlag) {
		r.Phases = &e.phases
	}
	if r.Seed == 0 {
		r.Seed = rand.Uint64()
	}
	if given.Changed("rate") {
		if err := setRate(&r, e.rate); err != nil {
			return r, fmt.Errorf("--rate %s: %w", e.rate, err)
		}
	}
	var err error
	if r.Params, err = pairs("--param", e.params); err != nil {
		return r, err
	}
	if r.Margin, err = share("--margin", e.margin); err != nil {
		return r, err
	}
	if e.precision != "" {
		if r.Precision, err = share("--precision", e.precision); err != nil {
			return r, err
		}
	}
	return r, nil
}

const phasesFlag = "phases"

// takeZero are the flags to which a zero says something.
var takeZero = []string{"seed", phasesFlag}

// refuseZeros refuses a zero that was typed where only a flag that was not typed
// means the default.
func refuseZeros(given *pflag.FlagSet) (err error) {
	zeros := map[string]bool{"0": true, "0s": true}
	given.Visit(func(f *pflag.Flag) {
		if zeros[f.Value.String()] && !slices.Contains(takeZero, f.Name) {
			err = fmt.Errorf("--%s %s: takes more than 0", f.Name, f.Value)
		}
	})
	return err
}

func pairs(flag string, words []string) (map[string]string, error) {
	all := make(map[string]string, len(words))
	for _, word := range words {
		name, value, found := strings.Cut(word, "=")
		if !found || name == "" {
			return nil, fmt.Errorf("%s %s is not NAME=VALUE", flag, word)
		}
		all[name] = value
	}
	return all, nil
}

// share reads "3%" or "0.03", more than 0 and less than 1.
func share(flag, text string) (float64, error) {
	x, err := percent(flag, text)
	if err == nil && x >= 1 {
		err = fmt.Errorf("%s %s is not between 0%% and 100%%", flag, text)
	}
	return x, err
}

// percent reads "150%" or "1.5", more than 0.
func percent(flag, text string) (float64, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	var x float64
	if _, err := fmt.Sscanf(number+"\n", "%g\n", &x); err != nil {
		return 0, fmt.Errorf("%s %s is not a share such as 3%%", flag, text)
	}
	if percent {
		x /= 100
	}
	if !(x > 0) {
		return 0, fmt.Errorf("%s %s is not above 0%%", flag, text)
	}
	return x, nil
}
