package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tare-bench/tare/workload"
)

// moving is the flags of the commands of tare data.
type moving struct {
	count    int
	seed     uint64
	from, to string
	out      string
	store    string
	rejects  string
}

func (a *app) dataCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "data",
		Short: "Make up records of a workload, and move them between files and stores",
		Long: `Make up records of a workload, turn them from one form of file into another, and
move them into the stores that its services keep them in and out of them.

` + a.formatsHelp(),
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.generateCommand(), a.convertCommand(), a.importCommand(), a.exportCommand())
	return c
}

// formatsHelp lists what files there are.
func (a *app) formatsHelp() string {
	var b strings.Builder
	for _, w := range a.catalog.Workloads {
		h, ok := w.(workload.Holder)
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "Formats of %s:\n", w.Spec().Name)
		for _, f := range h.Dataset().Formats {
			fmt.Fprintf(&b, "  %-18s %s\n", f.Name, f.About)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (a *app) generateCommand() *cobra.Command {
	var m moving
	c := &cobra.Command{
		Use: "generate WORKLOAD", Short: "Make up records, equal for an equal seed", Args: one("the name of a workload"),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := a.dataset(args[0])
			if err != nil {
				return usage(err)
			}
			return a.generate(c.Context(), d, m)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.IntVar(&m.count, "count", 100_000, "how many")
	f.Uint64Var(&m.seed, "seed", 1, "where all chance comes from")
	f.StringVar(&m.to, "format", "", formatUsage)
	f.StringVar(&m.out, "out", "", outUsage)
	return c
}

const (
	formatUsage  = "form of the file (default: the first that tare data --help lists)"
	outUsage     = "file to write, which must not be there (default: standard output)"
	rejectsUsage = "file to keep what is rejected in, as lines of JSON; it must not be there"
)

func (a *app) convertCommand() *cobra.Command {
	var m moving
	c := &cobra.Command{
		Use: "convert FILE", Short: "Turn a file of records into another form", Args: one("a file, or - for standard input"),
		Long: `Turn a file of records into another form. What the other form has no place for is
told on standard error, and so is each record that is rejected, since it cannot be
read or breaks a rule of the schema; the exit code is 1 then.`,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := a.datasetOf(m.from, m.to)
			if err != nil {
				return usage(err)
			}
			return a.convert(c.Context(), d, m, args[0])
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&m.from, "from", "", "form of the file")
	f.StringVar(&m.to, "to", "", "form to turn it into")
	f.StringVar(&m.out, "out", "", outUsage)
	f.StringVar(&m.rejects, "rejects", "", rejectsUsage)
	return c
}

func (a *app) importCommand() *cobra.Command {
	var m moving
	c := &cobra.Command{
		Use: "import WORKLOAD FILE", Short: "Keep the records of a file in a store", Args: two("a workload and a file, or - for standard input"),
		Long: `Keep the records of a file in a store, some hundreds in a commit, as the
workload's services would. Each record that cannot be read or breaks a rule of the
schema is told on standard error and the others are kept; the exit code is 1 then.
To repeat an import is safe: what is kept already stays as it is.`,
		RunE: func(c *cobra.Command, args []string) error {
			d, err := a.dataset(args[0])
			if err != nil {
				return usage(err)
			}
			m.store = cmp.Or(m.store, fmt.Sprintf(a.catalog.ServedIn, args[0]))
			return a.importFile(c.Context(), d, m, args[1])
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&m.store, "store", "", a.storeUsage())
	f.StringVar(&m.from, "format", "", formatUsage)
	f.StringVar(&m.rejects, "rejects", "", rejectsUsage)
	return c
}

func (a *app) exportCommand() *cobra.Command {
	var m moving
	c := &cobra.Command{
		Use: "export WORKLOAD", Short: "Write the records of a store into a file", Args: one("the name of a workload"),
		RunE: func(c *cobra.Command, args []string) error {
			d, err := a.dataset(args[0])
			if err != nil {
				return usage(err)
			}
			m.store = cmp.Or(m.store, fmt.Sprintf(a.catalog.ServedIn, args[0]))
			return a.export(c.Context(), d, m)
		},
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&m.store, "store", "", a.storeUsage())
	f.StringVar(&m.to, "format", "", formatUsage)
	f.StringVar(&m.out, "out", "", outUsage)
	return c
}

func (a *app) storeUsage() string {
	return fmt.Sprintf("store that keeps the records (default: that of tare serve, %s)", fmt.Sprintf(a.catalog.ServedIn, "WORKLOAD"))
}

// two is the argument check of a command that takes two words.
func two(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 2 {
			return usage(fmt.Errorf("%s takes %s, and there are %d words; see %s --help", c.CommandPath(), what, len(args), c.CommandPath()))
		}
		return nil
	}
}

// dataset gives a workload's records.
func (a *app) dataset(name string) (workload.Dataset, error) {
	w, err := a.catalog.Workload(name)
	if err != nil {
		return workload.Dataset{}, err
	}
	h, ok := w.(workload.Holder)
	if !ok {
		var with []string
		for _, w := range a.catalog.Workloads {
			if _, ok := w.(workload.Holder); ok {
				with = append(with, w.Spec().Name)
			}
		}
		return workload.Dataset{}, fmt.Errorf("%s has no records that move in bulk; there is %s", name, strings.Join(with, ", "))
	}
	return h.Dataset(), nil
}

// datasetOf gives that of the workload whose files have both forms.
func (a *app) datasetOf(from, to string) (workload.Dataset, error) {
	if from == "" || to == "" {
		return workload.Dataset{}, errors.New("say --from FORMAT and --to FORMAT; tare data --help lists them")
	}
	err := errors.New("no workload has records that move in bulk")
	for _, w := range a.catalog.Workloads {
		h, ok := w.(workload.Holder)
		if !ok {
			continue
		}
		d := h.Dataset()
		if _, err = format(d, from); err != nil {
			continue
		}
		if _, err = format(d, to); err == nil {
			return d, nil
		}
	}
	return workload.Dataset{}, err
}

// format finds one by name, "" for the first.
func format(d workload.Dataset, name string) (workload.Format, error) {
	var known []string
	for _, f := range d.Formats {
		if name == "" || f.Name == name {
			return f, nil
		}
		known = append(known, f.Name)
	}
	return workload.Format{}, fmt.Errorf("unknown format %q; of %s there is %s", name, d.Item, strings.Join(known, ", "))
}

func (a *app) generate(ctx context.Context, d workload.Dataset, m moving) error {
	f, err := format(d, m.to)
	if err != nil {
		return usage(err)
	}
	if m.count < 0 {
		return usage(fmt.Errorf("--count %d: there is no such number of %s", m.count, d.Item))
	}
	return a.write(m.out, f, func(w workload.RecordWriter) error {
		shown := a.meter("made "+d.Item, int64(m.count))
		defer shown.end()
		for i := range m.count {
			if ctx.Err() != nil {
				return errStopped
			}
			if err := w.Write(d.Make(m.seed, i)); err != nil {
				return err
			}
			shown.step(int64(i)+1, int64(i)+1)
		}
		return nil
	})
}

func (a *app) convert(ctx context.Context, d workload.Dataset, m moving, path string) error {
	to, err := format(d, m.to)
	if err != nil {
		return usage(err)
	}
	var seen *intake
	err = a.write(m.out, to, func(w workload.RecordWriter) (err error) {
		seen, err = a.read(ctx, d, m, path, func(e workload.Entry) error { return w.Write(e.Record) })
		return err
	})
	if err == nil {
		err = seen.verdict()
	}
	return err
}
