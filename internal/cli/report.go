package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
	"github.com/tare-bench/tare/report/csv"
	reportjson "github.com/tare-bench/tare/report/json"
	"github.com/tare-bench/tare/report/markdown"
	"github.com/tare-bench/tare/report/text"
	"github.com/tare-bench/tare/stats"
)

// formats are what a report can be printed as, the default first.
var formats = []struct {
	name     string
	renderer func(*app) report.Renderer
}{
	{"text", func(a *app) report.Renderer { return a.textRenderer() }},
	{"json", func(*app) report.Renderer { return reportjson.Renderer{} }},
	{"markdown", func(*app) report.Renderer { return markdown.Renderer{} }},
	{"csv", func(*app) report.Renderer { return csv.Renderer{} }},
}

// pipeWidth is how wide text is where there is no terminal to say.
const pipeWidth = 120

// textRenderer fits the terminal. NO_COLOR is as no-color.org has it.
func (a *app) textRenderer() text.Renderer {
	columns, ok := a.Terminal(a.Out)
	if !ok {
		return text.Renderer{Width: pipeWidth}
	}
	return text.Renderer{Width: columns, Colour: a.Env("NO_COLOR") == ""}
}

func formatNames() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

func declareFormat(c *cobra.Command, format *string) {
	c.Flags().StringVar(format, "format", formats[0].name, "what standard output gets: "+formatNames())
}

func (a *app) renderer(format string) (report.Renderer, error) {
	for _, f := range formats {
		if f.name == format {
			return f.renderer(a), nil
		}
	}
	return nil, fmt.Errorf("--format %s: takes %s", format, formatNames())
}

func (a *app) reportCommand() *cobra.Command {
	var format string
	var failIf []string
	c := &cobra.Command{
		Use:   "report FOLDER [NEWER]",
		Short: "Print stored results again, or what has changed between two runs",
		Long: `Print stored results again: those of a folder, or of a results.jsonl; of a
sweep's folder all its points together. With two, compare the second, newer run
with the first: the same stacks, by levels.`,
		Args: oneOrTwo("a results folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			render, err := a.renderer(format)
			if err != nil {
				return usage(err)
			}
			if len(args) > 1 {
				if len(failIf) > 0 {
					return usage(errors.New("--fail-if is of one run: give its folder alone"))
				}
				return a.changes(args[0], args[1], format, render)
			}
			return a.reprint(args[0], failIf, render)
		},
	}
	declareBounds(c, &failIf)
	declareFormat(c, &format)
	return c
}

// reprint prints stored results again. A point of a sweep that cannot be read takes
// nothing from the others, and is an error all the same.
func (a *app) reprint(folder string, failIf []string, r report.Renderer) error {
	runs, unread, err := readPoints(folder)
	show, failed := a.showSweep, errors.Join(unread...)
	if err == nil && len(runs) == 0 {
		show = a.show
		if err = failed; err == nil {
			runs, err = readAlone(folder)
		}
	}
	if err != nil {
		return err
	}
	set, err := bounds(failIf, runs[0].Header.Scenarios)
	if err != nil {
		return err
	}
	shown := show(runs, r, set)
	if failed != nil && errors.Is(shown, errBroken) { // not only a bound is broken, which has been said
		return failed
	}
	return errors.Join(failed, shown)
}

// changes prints what has changed between two runs.
func (a *app) changes(older, newer, format string, r report.Renderer) error {
	printer, ok := r.(report.ChangesRenderer)
	if !ok {
		return usage(fmt.Errorf("--format %s: prints one run", format))
	}
	for _, folder := range []string{older, newer} {
		runs, unread, err := readPoints(folder)
		if err = cmp.Or(err, refuseSweep(folder, runs), errors.Join(unread...)); err != nil {
			return err
		}
	}
	before, err := readResults(older)
	if err != nil {
		return err
	}
	after, err := readResults(newer)
	if err != nil {
		return err
	}
	c, err := stats.CompareRuns(before, after)
	if err != nil {
		return fmt.Errorf("compare %s with %s: %w", newer, older, err)
	}
	if err := printer.RenderChanges(a.Out, report.NewChanges(c)); err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	return nil
}

// show prints what one run means, and says which bounds it does not keep.
func (a *app) show(runs []*record.Run, r report.Renderer, set []stats.Bound) error {
	d, err := document(runs[0], set)
	if err != nil {
		return err
	}
	if err := r.Render(a.Out, d); err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	return a.tell("", d.Bounds)
}

// showSweep prints what the points of a sweep mean, those that measured something,
// and says at which of them which bounds are not kept.
func (a *app) showSweep(runs []*record.Run, r report.Renderer, set []stats.Bound) error {
	var points []*report.Document
	var failed error
	for _, run := range runs {
		if len(run.Trials) == 0 {
			continue // it was ended before its first; the report says that it is missing
		}
		d, err := document(run, set)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", pointName(run), err))
			continue
		}
		points = append(points, d)
	}
	if len(points) == 0 {
		return cmp.Or(failed, errors.New("no point of the sweep gave a result"))
	}
	if err := r.RenderSweep(a.Out, report.NewSweep(points)); err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	var broken error
	for _, d := range points {
		s := d.Conditions.Sweep
		broken = errors.Join(broken, a.tell(fmt.Sprintf("at %v: ", s), d.Bounds))
	}
	if failed != nil {
		return failed
	}
	return broken
}

// document says what a run means, and what became of the bounds that are set.
func document(run *record.Run, set []stats.Bound) (*report.Document, error) {
	analysis, err := stats.Analyze(run)
	if err != nil {
		return nil, err
	}
	outcomes, err := analysis.Check(set)
	if err != nil {
		return nil, err
	}
	d := report.New(analysis)
	d.Bounds = report.Judged(outcomes, run.Header)
	return d, nil
}

// planFormats are what a plan can be printed as, the default first.
var planFormats = []struct {
	name  string
	write func(io.Writer, *plan.Series) error
}{
	{"text", func(w io.Writer, s *plan.Series) error { return s.Text(w) }},
	{"json", func(w io.Writer, s *plan.Series) error {
		e := json.NewEncoder(w)
		e.SetIndent("", " ")
		if len(s.Points) == 1 && s.Pilots() == 0 {
			return e.Encode(s.Points[0].Plan)
		}
		return e.Encode(s)
	}},
}

func (a *app) printPlan(s *plan.Series, format string) error {
	for _, f := range planFormats {
		if f.name == format {
			if err := f.write(a.Out, s); err != nil {
				return fmt.Errorf("print plan: %w", err)
			}
			return nil
		}
	}
	return usage(fmt.Errorf("--format %s: a plan is printed as %s or %s", format, planFormats[0].name, planFormats[1].name))
}

func (a *app) facts() catalog.Facts { return catalog.Facts{Catalog: a.catalog} }
