package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/tare-bench/tare/calibrate"
	"github.com/tare-bench/tare/report"
)

func (a *app) calibrateCommand() *cobra.Command {
	var only []string
	var format string
	var runs int
	c := &cobra.Command{
		Use:   "calibrate",
		Short: "Weigh known weights, to show whether tare weighs right on this machine",
		Long: `Weigh known weights: each has a truth that follows from a formula, and a
tolerance. They are weighed by real processes over real sockets. A machine that
is busy with other work fails some of them, and would spoil a comparison too.

The weights are:
` + weightList(),
		Example: `  tare calibrate
  tare calibrate --only wait,stall
  tare calibrate --only same --runs 40`,
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			write, err := weightsFormat(format)
			if err != nil {
				return usage(err)
			}
			chosen, err := calibrate.Choose(only)
			if err != nil {
				return usage(fmt.Errorf("--only: %w", err))
			}
			if runs < 1 {
				return usage(fmt.Errorf("--runs %d: takes 1 or more", runs))
			}
			return a.calibrate(c.Context(), chosen, runs, write)
		},
	}
	c.Flags().StringSliceVar(&only, "only", nil, "weights to weigh, separated by commas (default: all but the long ones)")
	c.Flags().IntVar(&runs, "runs", 5, "runs of a stack against itself")
	c.Flags().StringVar(&format, "format", weightsFormats[0].name, "text or json")
	return c
}

func weightList() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, k := range calibrate.Weights {
		long := ""
		if k.Long {
			long = " (only where named)"
		}
		fmt.Fprintf(w, "  %s\t%s%s\n", k.Name, k.About, long)
		fmt.Fprintf(w, "  \t  %s\n", k.Formula)
	}
	_ = w.Flush() // a Builder takes all
	return b.String()
}

var errUntrue = errors.New("some weights are outside their tolerance; on a machine with other work that may be its doing: repeat them with --only")

// calibrate weighs the chosen weights. What was read before an error is printed.
func (a *app) calibrate(ctx context.Context, chosen []*calibrate.Weight, runs int, write weightsWriter) error {
	known, err := calibrate.Catalog(a.catalog)
	if err != nil {
		return err
	}
	var name string
	scale, err := calibrate.NewScale(known, append(a.Self[:len(a.Self):len(a.Self)], "--"+knownFlag), runs,
		func(step string) { fmt.Fprintf(a.Err, "%s: %s\n", name, step) })
	if err != nil {
		return err
	}
	var results []calibrate.Result
	failed := 0
	for _, w := range chosen {
		name = w.Name
		fmt.Fprintf(a.Err, "%s: %s\n", w.Name, w.About)
		r, weighed := w.Weigh(ctx, scale)
		if ctx.Err() != nil {
			err = errors.New("interrupted")
			break
		}
		if weighed != nil {
			err = errors.Join(err, weighed)
			continue
		}
		failed += r.Failed()
		results = append(results, r)
	}
	if failed > 0 {
		err = errors.Join(err, errUntrue)
	}
	return errors.Join(err, write(a.Out, results))
}

// weightsWriter prints the readings of weights.
type weightsWriter func(io.Writer, []calibrate.Result) error

// weightsFormats are what the table of weights can be printed as, the default
// first.
var weightsFormats = []struct {
	name  string
	write weightsWriter
}{
	{"text", writeWeights},
	{"json", encodeWeights},
}

func weightsFormat(name string) (weightsWriter, error) {
	for _, f := range weightsFormats {
		if f.name == name {
			return f.write, nil
		}
	}
	return nil, fmt.Errorf("--format %s: takes %s or %s", name, weightsFormats[0].name, weightsFormats[1].name)
}

func writeWeights(out io.Writer, results []calibrate.Result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WEIGHT\tWHAT\tTRUTH\tMEASURED\tTOLERANCE\tVERDICT\tNOTE")
	for _, r := range results {
		for _, reading := range r.Readings {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Weight.Name, reading.What,
				report.Figure(reading.Truth, reading.Unit), report.Figure(reading.Measured, reading.Unit),
				tolerance(reading), reading.Verdict(), reading.Note)
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print weights: %w", err)
	}
	return nil
}

func tolerance(r calibrate.Reading) string {
	switch {
	case r.Verdict() == calibrate.Shown:
		return "–"
	case r.Low == r.High:
		return "exact"
	}
	return report.Figure(r.Low, r.Unit) + " to " + report.Figure(r.High, r.Unit)
}

// weightRow is a reading in JSON, where a number that there is not is null.
type weightRow struct {
	Weight    string            `json:"weight"`
	What      string            `json:"what"`
	Unit      string            `json:"unit"`
	Truth     *float64          `json:"truth"`
	Measured  *float64          `json:"measured"`
	Low       *float64          `json:"low"`
	High      *float64          `json:"high"`
	Verdict   calibrate.Verdict `json:"verdict"`
	Note      string            `json:"note,omitempty"`
	Formula   string            `json:"formula"`
	Procedure string            `json:"procedure"`
}

func encodeWeights(out io.Writer, results []calibrate.Result) error {
	rows := []weightRow{}
	for _, r := range results {
		for _, reading := range r.Readings {
			rows = append(rows, weightRow{
				Weight: r.Weight.Name, What: reading.What, Unit: reading.Unit,
				Truth: finite(reading.Truth), Measured: finite(reading.Measured),
				Low: finite(reading.Low), High: finite(reading.High),
				Verdict: reading.Verdict(), Note: reading.Note, Formula: r.Weight.Formula, Procedure: r.Weight.About,
			})
		}
	}
	e := json.NewEncoder(out)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	if err := e.Encode(rows); err != nil {
		return fmt.Errorf("print weights: %w", err)
	}
	return nil
}

func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
