// Package csv renders a report as tidy data, for plots and tables of one's own:
// a row for each metric of each stack, and of each value of a sweep. Numbers are
// in base units and whole; what is not known is empty.
package csv

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/tare-bench/tare/report"
)

// Columns are the same for a run by itself, where axis and axis_value are empty.
// Rate is that of an open loop. A ratio is to the baseline, as it was judged.
var Columns = []string{
	"axis", "axis_value", "rate", "stack", "metric", "unit", "low", "value", "high",
	"ratio_low", "ratio_value", "ratio_high", "verdict",
}

// Renderer is a report.Renderer.
type Renderer struct{}

// Render writes d.
func (Renderer) Render(w io.Writer, d *report.Document) error { return write(w, d) }

// RenderSweep writes the points of a sweep below each other.
func (Renderer) RenderSweep(w io.Writer, s *report.Sweep) error {
	var all []*report.Document
	for _, p := range s.Points {
		all = append(all, p.Document)
	}
	return write(w, all...)
}

func write(w io.Writer, all ...*report.Document) error {
	rows := [][]string{Columns}
	for _, d := range all {
		rows = append(rows, rowsOf(d)...)
	}
	if err := csv.NewWriter(w).WriteAll(rows); err != nil {
		return fmt.Errorf("render CSV: %w", err)
	}
	return nil
}

func rowsOf(d *report.Document) (rows [][]string) {
	axis, value := "", ""
	if s := d.Conditions.Sweep; s != nil {
		axis, value = s.Axis, s.Value
	}
	rate := ""
	if d.Conditions.Rate > 0 {
		rate = number(&d.Conditions.Rate)
	}
	for _, s := range d.Scenarios {
		for _, m := range d.Metrics {
			level, told := s.Metrics[m.Name]
			if !told {
				continue
			}
			row := []string{axis, value, rate, s.Stack, m.Name, m.Unit, number(level.Low), number(level.Value), number(level.High)}
			ratio, verdict := report.Value{}, ""
			if c := d.Find(s.Stack, m.Name); c != nil {
				ratio, verdict = c.Ratio, c.Verdict
			}
			rows = append(rows, append(row, number(ratio.Low), number(ratio.Value), number(ratio.High), verdict))
		}
	}
	return rows
}

// number is exact: reading it gives the same float64.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}
