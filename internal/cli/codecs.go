package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/codecbench"
	"github.com/tare-bench/tare/internal/environment"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
	"github.com/tare-bench/tare/runner"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/workload"
)

// blockCommand is the word by which a run of codecs starts this program to
// measure one block.
const blockCommand = "codec-block"

// weighing is the flags of tare codecs.
type weighing struct {
	codecs   []string
	baseline string
	batch    int
	seed     uint64
	total    time.Duration
	slice    time.Duration
	blocks   int
	margin   string
	dir      string
	from     string
	message  string
	format   string
}

func (a *app) codecsCommand() *cobra.Command {
	var w weighing
	c := &cobra.Command{
		Use:   "codecs WORKLOAD",
		Short: "Weigh codecs by themselves: bytes, CPU and allocations for a workload's messages",
		Long: `Weigh codecs by themselves, without protocol and socket, on a workload's own
messages: a single one, and a batch. For each codec: bytes, plain and compressed;
CPU, garbage collection included, and allocations to write a message (map it from
a plain struct, encode it) and to read it (decode it, map it to a plain struct).
Contenders take turns, in blocks on fresh processes; ratios have intervals, and
copying the bytes is measured beside them, as the limit.`,
		Example: `  tare codecs orders
  tare codecs orders --codecs json,proto --batch 1000 --for 5m
  tare codecs --from FOLDER --format csv`,
		Args: func(c *cobra.Command, args []string) error {
			if w.from != "" {
				return none(c, args)
			}
			return one("the name of a workload")(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			show, err := a.codecsRenderer(w.format)
			if err != nil {
				return usage(err)
			}
			if w.from != "" {
				return a.reprintCodecs(&w, show)
			}
			return a.codecs(c.Context(), args[0], &w, show)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringSliceVar(&w.codecs, "codecs", nil, "codecs to weigh, separated by commas (default: all that tare stacks lists)")
	f.StringVar(&w.baseline, "baseline", "", "codec that the others are compared with (default: that of "+a.catalog.Baseline+" where it runs, else the first)")
	f.IntVar(&w.batch, "batch", 500, "items of a message that holds many")
	f.Uint64Var(&w.seed, "seed", 1, "seed of messages and order")
	f.DurationVar(&w.total, "for", 2*time.Minute, "time on the clock, all codecs together, at least two rounds of each block")
	f.DurationVar(&w.slice, "slice", 50*time.Millisecond, "how long a step is repeated at a time: where it is short, few collections of garbage fall into it")
	f.IntVar(&w.blocks, "blocks", plan.DefaultBlocks, fmt.Sprintf("how often a process is started anew (a verdict needs %d)", stats.MinBlocks))
	f.StringVar(&w.margin, "margin", "2%", "difference that is too small to matter")
	f.StringVar(&w.dir, "out", "", "folder for the results (default: tare-results/TIME-WORKLOAD-codecs)")
	f.StringVar(&w.from, "from", "", "print stored results again, of a folder or a file, and measure nothing")
	f.StringVar(&w.message, "message", "", "print one kind of message only")
	declareFormat(c, &w.format)
	return c
}

func (a *app) codecsRenderer(format string) (report.CodecsRenderer, error) {
	r, err := a.renderer(format)
	if err != nil {
		return nil, err
	}
	show, ok := r.(report.CodecsRenderer)
	if !ok {
		return nil, fmt.Errorf("--format %s: does not print codecs", format)
	}
	return show, nil
}

// codecBlockCommand measures one block, as codecbench.Fork asks.
func (a *app) codecBlockCommand() *cobra.Command {
	return &cobra.Command{
		Use: blockCommand, Short: "Measure one block of a run of codecs", Hidden: true, Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			return codecbench.Serve(c.Context(), a.In, a.Out, func(h record.CodecHeader) (*codecbench.Bench, error) {
				var names []string
				for _, k := range h.Codecs {
					if k.Name != h.Limit {
						names = append(names, k.Name)
					}
				}
				b, _, err := a.bench(h.Workload, names, h.Batch, h.Seed)
				return b, err
			})
		},
	}
}

// bench binds codecs, all where none are named, to a workload's messages.
func (a *app) bench(name string, codecs []string, batch int, seed uint64) (*codecbench.Bench, []record.Omission, error) {
	found, err := a.catalog.Workload(name)
	if err != nil {
		return nil, nil, usage(err)
	}
	sampler, ok := found.(workload.Sampler)
	if !ok {
		return nil, nil, usage(fmt.Errorf("workload %s gives no messages by themselves; %s", name, samplers(a.catalog)))
	}
	chosen := a.catalog.Codecs
	if len(codecs) > 0 {
		chosen = nil
	}
	for _, name := range codecs {
		k, err := a.catalog.Codec(name)
		if err != nil {
			return nil, nil, usage(err)
		}
		if slices.ContainsFunc(chosen, func(c codec.Codec) bool { return c.Spec().Name == name }) {
			return nil, nil, usage(fmt.Errorf("--codecs: %s stands twice", name))
		}
		chosen = append(chosen, k)
	}
	return codecbench.New(sampler.Samples(batch, seed), chosen, a.catalog.Compressors)
}

func samplers(c catalog.Catalog) string {
	var names []string
	for _, w := range c.Workloads {
		if s, ok := w.(workload.Sampler); ok {
			names = append(names, s.Spec().Name)
		}
	}
	return "these do: " + strings.Join(names, ", ")
}

// codecs measures, and prints what it means. What was measured before an error is
// printed too.
func (a *app) codecs(ctx context.Context, name string, w *weighing, show report.CodecsRenderer) error {
	margin, err := share("--margin", w.margin)
	switch {
	case err != nil:
		return usage(err)
	case w.batch < 1:
		return usage(fmt.Errorf("--batch %d: takes 1 or more", w.batch))
	case w.blocks < 1:
		return usage(fmt.Errorf("--blocks %d: takes 1 or more", w.blocks))
	case w.slice <= 0 || w.total <= 0:
		return usage(errors.New("--slice and --for take more than 0s"))
	}
	b, leftOut, err := a.bench(name, w.codecs, w.batch, w.seed)
	if err != nil {
		return err
	}
	h := record.CodecHeader{
		Format: record.Format, Version: environment.Version(), Started: a.Now(), Command: slices.Concat([]string{"tare"}, a.args),
		Workload: name, Seed: w.seed, Batch: w.batch, SliceS: w.slice.Seconds(), Blocks: w.blocks, Margin: margin,
		Baseline: w.baseline, Limit: codecbench.Limit, Messages: b.Messages(), Codecs: b.Contenders(), LeftOut: leftOut,
		Environment: environment.Facts(), Libraries: environment.Libraries(a.catalog.Modules()),
	}
	if h.Baseline, err = a.baselineCodec(w.baseline, h.Codecs); err != nil {
		return usage(err)
	}
	h.Rounds = codecbench.Rounds(w.total, w.slice, w.blocks, len(h.Messages)*len(h.Codecs))
	if w.dir == "" {
		w.dir = defaultDir(a.Now(), name) + "-codecs"
	}
	run, err := a.weigh(ctx, h, b.Sizes(), w.dir)
	if run == nil || len(run.Trials) == 0 {
		return err
	}
	shown := a.showCodecs(run, w.message, show)
	fmt.Fprintf(a.Err, "results: %s\n", filepath.Join(w.dir, resultsFile))
	return errors.Join(err, shown)
}

// baselineCodec is the codec that was asked for, or the catalogue's own choice.
func (a *app) baselineCodec(asked string, codecs []record.CodecContender) (string, error) {
	runs := func(name string) bool {
		return name != codecbench.Limit && slices.ContainsFunc(codecs, func(c record.CodecContender) bool { return c.Name == name })
	}
	if asked != "" {
		if !runs(asked) {
			return "", fmt.Errorf("--baseline %s: is not among the codecs that run", asked)
		}
		return asked, nil
	}
	if s, err := a.catalog.Stack(a.catalog.Baseline); err == nil && runs(s.Codec.Spec().Name) {
		return s.Codec.Spec().Name, nil
	}
	return codecs[0].Name, nil
}

// weigh measures a run and keeps what it measures. The run is nil where nothing
// could be kept.
func (a *app) weigh(ctx context.Context, h record.CodecHeader, sizes []record.CodecSize, dir string) (*record.CodecRun, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create results folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, resultsFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create results file: %w", err)
	}
	run := &record.CodecRun{}
	keep := func(l record.CodecLine) error {
		if err := record.WriteCodecs(f, l); err != nil {
			return err
		}
		return run.Add(l)
	}
	err = keep(record.CodecLine{Codecs: &h})
	for _, s := range sizes {
		err = errors.Join(err, keep(record.CodecLine{Size: &s}))
	}
	if err != nil {
		return run, errors.Join(err, f.Close())
	}
	machine := watchMachine()
	trials := h.Blocks * h.Rounds * len(h.Messages) * len(h.Codecs)
	shown, block := a.progress(h.Blocks, trials), -1
	err = codecbench.Fork(ctx, append(a.Self[:len(a.Self)-1:len(a.Self)-1], blockCommand), h, func(t record.CodecTrial) error {
		at := runner.Progress{Block: t.Block, Step: runner.StepTrial, Trial: len(run.Trials), Trials: trials, Elapsed: a.Now().Sub(h.Started)}
		if t.Block != block {
			block, at.Step = t.Block, runner.StepStart
		}
		shown.watch(at)
		return keep(record.CodecLine{Trial: &t})
	})
	shown.end()
	end := record.End{Reason: "complete", AtS: a.Now().Sub(h.Started).Seconds(), Machine: machine()}
	switch {
	case ctx.Err() != nil:
		end.Reason, err = "interrupted", errors.New("interrupted; what was measured until then is kept")
	case err != nil:
		end.Reason, end.Error = "failed", err.Error()
	}
	return run, errors.Join(err, keep(record.CodecLine{End: &end}), f.Sync(), f.Close())
}

func (a *app) reprintCodecs(w *weighing, show report.CodecsRenderer) error {
	path := w.from
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, resultsFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	run, err := record.ReadCodecs(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return a.showCodecs(run, w.message, show)
}

func (a *app) showCodecs(run *record.CodecRun, message string, show report.CodecsRenderer) error {
	analysis, err := stats.AnalyzeCodecs(run)
	if err != nil {
		return err
	}
	c := report.NewCodecs(analysis)
	if message != "" && !c.Only(message) {
		return usage(fmt.Errorf("--message %s: the run has no such kind of message", message))
	}
	if err := show.RenderCodecs(a.Out, c); err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	return nil
}
