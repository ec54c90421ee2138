package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tare-bench/tare/internal/environment"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/runner"
	"github.com/tare-bench/tare/stats"
)

// comparison is all that one command measures, and how.
type comparison struct {
	requests []plan.Request // for each point of the series
	series   *plan.Series
	run      processes
	stores   []string // addresses, for each point, with what is secret in them
	dir      string
}

// pilotName is where a pilot's results go, in the folder of what it is for.
const pilotName = "pilot"

// sweeps says whether there is a folder for each point.
func (c *comparison) sweeps() bool { return c.requests[0].Sweep != nil }

// at are the processes of a point.
func (c *comparison) at(point int) processes {
	run := c.run
	run.store = c.stores[point]
	return run
}

// folder is where the results of a point go.
func (c *comparison) folder(point int) string {
	if s := c.requests[point].Sweep; s != nil {
		return filepath.Join(c.dir, fmt.Sprintf("%02d-%s", s.Index+1, asName(strings.ReplaceAll(s.Value, record.Crossed, "-"))))
	}
	return c.dir
}

// asName is a value as a part of a file's name.
func asName(value string) string {
	const longest = 60
	plain := func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,%", r) {
			return r
		}
		return '_'
	}
	name := strings.Map(plain, value)
	return name[:min(len(name), longest)]
}

// pilotFolder is where the pilot before a point goes: with the point that it is
// for, or with all of them.
func (c *comparison) pilotFolder(point int) string {
	if c.series.Pilots() == 1 {
		return filepath.Join(c.dir, pilotName)
	}
	return filepath.Join(c.folder(point), pilotName)
}

// measure carries the points out in turn and keeps what they measure. It stops at
// the first that fails; the runs that were begun are given all the same.
func (a *app) measure(ctx context.Context, c *comparison) (runs []*record.Run, err error) {
	if c.sweeps() {
		if err := tryLinks(links, c.series); err != nil {
			return nil, err
		}
	}
	var pilot *record.Pilot
	for i, r := range c.requests {
		p := c.series.Points[i].Plan
		if before := c.series.Points[i].Pilot; before != nil {
			if pilot, err = a.pilot(ctx, before, c, i); err != nil {
				return runs, fmt.Errorf("pilot in %s: %w", c.pilotFolder(i), err)
			}
		}
		if r.RateShare > 0 {
			r.Pilot = pilot
			if p, err = plan.New(r, a.facts()); err != nil {
				return runs, usage(err)
			}
		}
		if s := r.Sweep; s != nil {
			fmt.Fprintf(a.Err, "%v: value %d of %d\n", s, s.Index+1, s.Of)
		}
		for _, n := range p.Notes {
			fmt.Fprintf(a.Err, "note: %s\n", n)
		}
		run, err := a.run(ctx, p, c.at(i), c.folder(i))
		if run != nil {
			runs = append(runs, run)
		}
		if s := r.Sweep; err != nil && s != nil {
			err = fmt.Errorf("at %v: %w", s, err)
		}
		if err != nil {
			return runs, err
		}
	}
	return runs, nil
}

// pilot finds what a rate is a share of.
func (a *app) pilot(ctx context.Context, p *plan.Plan, c *comparison, point int) (*record.Pilot, error) {
	fmt.Fprintf(a.Err, "pilot: what each stack carries with %d in flight\n", p.InFlight)
	run, err := a.run(ctx, p, c.at(point), c.pilotFolder(point))
	if err != nil {
		return nil, err
	}
	found, err := stats.Slowest(run)
	if err == nil {
		fmt.Fprintf(a.Err, "pilot: %s is the slowest, at %.0f calls/s\n", found.Stack, found.Throughput)
	}
	return found, err
}

// run carries one plan out and keeps what it measures in a folder. The run is nil
// where nothing could be kept.
func (a *app) run(ctx context.Context, p *plan.Plan, run processes, dir string) (out *record.Run, err error) {
	header := p.Header()
	across, unlink, err := a.openLink(links, p, &header)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, unlink()) }()
	started := a.Now()
	kept, err := createResults(dir)
	if err != nil {
		return nil, err
	}
	header.Version = environment.Version()
	header.Started = started
	header.Command = a.again(p)
	header.Pinned = run.where
	header.Environment = environment.Facts()
	header.Libraries = environment.Libraries(a.catalog.Modules())
	if err := kept.keep(record.Line{Header: &header}); err != nil {
		return nil, errors.Join(err, kept.close())
	}
	stores, err := a.stores(run.store)
	if err != nil {
		return nil, errors.Join(err, kept.close())
	}
	shown := a.progress(len(p.Blocks), p.Trials())
	machine := watchMachine()
	err = runner.Run(ctx, p, runner.Options{
		Peer: a.Self, Peers: run.peers, Pinned: run.where, Link: across, Stores: stores, Started: started, Keep: kept.keep, Watch: shown.watch,
		Enough:  func() bool { return p.Precision > 0 && stats.Precise(&kept.run, p.Precision) },
		Machine: machine,
	})
	shown.end()
	err = errors.Join(err, kept.close())
	if ctx.Err() != nil {
		ended := &interruptedError{}
		if len(kept.run.Trials) > 0 {
			ended.folder = dir
		}
		var left *runner.LeftoverError
		errors.As(err, &left)
		if err = ended; left != nil {
			err = errors.Join(ended, left)
		}
	}
	return &kept.run, err
}

// fresh refuses a folder that holds something: results in several folders must be
// of one command.
func fresh(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("create results folder: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("create results folder: %s is not empty: %w", dir, fs.ErrExist)
	}
	return nil
}
