package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Table is text in cells, for a renderer to align.
type Table struct {
	Title string
	Head  []string
	Units []string   // a second line of the head; nil for none
	Rows  [][]string // the first cell names the row
	Words int        // columns from this one on hold words; 0 for none
	Notes []string   // why cells are empty
}

// mainColumns are what most readers look for, in this order.
var mainColumns = []string{
	"throughput", "latency_p50", "latency_p99", "server_cpu_per_call", "driver_cpu_per_call",
	"bytes_sent_per_call", "bytes_received_per_call", "connections_opened",
}

// bulkColumns are the same where calls move items in bulk, for which servers need
// room.
var bulkColumns = []string{
	"throughput", "bytes_per_second", "latency_p50", "latency_p99", "server_cpu_per_call", "driver_cpu_per_call",
	"server_peak_rss", "bytes_sent_per_call", "bytes_received_per_call", "connections_opened",
}

func (d *Document) mainColumns() []string {
	if d.Conditions.Item != "" {
		return bulkColumns
	}
	return mainColumns
}

// Main is the table of levels: a row for each stack.
func (d *Document) Main() Table {
	columns := d.mainColumns()
	return d.levels(func(m Metric) int { return slices.Index(columns, m.Name) })
}

// More is the table of the other levels.
func (d *Document) More() Table {
	columns := d.mainColumns()
	return d.levels(func(m Metric) int {
		if slices.Contains(columns, m.Name) {
			return -1
		}
		return len(columns)
	})
}

// levels makes a table of the metrics whose place is not below 0.
func (d *Document) levels(place func(Metric) int) Table {
	var shown []Metric
	for _, m := range d.Metrics {
		if place(m) >= 0 {
			shown = append(shown, m)
		}
	}
	slices.SortStableFunc(shown, func(a, b Metric) int { return place(a) - place(b) })
	t := Table{Head: []string{"stack"}, Units: []string{""}}
	for _, s := range d.Scenarios {
		t.Rows = append(t.Rows, []string{s.Stack})
	}
	for _, m := range shown {
		unit := scaleFor(m.Unit, d.valuesOf(m.Name))
		t.Head, t.Units = append(t.Head, m.Label), append(t.Units, unit.per(m))
		why := "" // the first scenario's reason speaks for the column
		for i, s := range d.Scenarios {
			v := s.Metrics[m.Name]
			text := cell(v, unit)
			if m.ByCall && v.Value != nil && *v.Value > 0 && s.Calls > 0 {
				text += fmt.Sprintf(" (%s/call)", byCall(*v.Value/float64(s.Calls)))
			}
			t.Rows[i] = append(t.Rows[i], text)
			why = cmp.Or(why, v.Reason)
		}
		if why != "" {
			t.Notes = append(t.Notes, why)
		}
	}
	return t
}

func (d *Document) valuesOf(metric string) []float64 {
	var out []float64
	for _, s := range d.Scenarios {
		if v := s.Metrics[metric].Value; v != nil {
			out = append(out, *v)
		}
	}
	return out
}

// widest is the half-width, as a share, up to which ± is a fair picture of an
// interval that is even on a logarithmic scale.
const widest = 0.5

// negligible is a half-width that three digits do not show.
const negligible = 0.0005

// cell shows a level with its interval.
func cell(v Value, unit scale) string {
	if v.Value == nil {
		return "–"
	}
	if v.Exact {
		if v.Low != nil && number(*v.Low/unit.of) != number(*v.High/unit.of) {
			return number(*v.Low/unit.of) + " to " + number(*v.High/unit.of)
		}
		if unit.name == "" || unit.of == 1 {
			return count(*v.Value)
		}
		return number(*v.Value / unit.of)
	}
	text := number(*v.Value / unit.of)
	if v.Low == nil {
		return text
	}
	half := *v.High / *v.Value - 1
	switch {
	case half < negligible:
		return text
	case half <= widest:
		return fmt.Sprintf("%s ±%s", text, percent(half))
	}
	return fmt.Sprintf("%s (%s to %s)", text, number(*v.Low/unit.of), number(*v.High/unit.of))
}

// withUnit is cell in a sentence, where no head tells the unit.
func withUnit(v Value, unit scale, per string) string {
	name := unit.name
	if per != "" {
		name += "/" + per
	}
	number, interval, _ := strings.Cut(cell(v, unit), " ")
	return strings.TrimSpace(number + " " + name + " " + interval)
}

// byCall shows how many there are a call, in two places: what matters is whether
// it is near 0 or near 1.
func byCall(v float64) string {
	const least = 0.01
	if v < least {
		return "<0.01"
	}
	return places(v, 2)
}

// Tiers is the table of the servers' parts of the CPU per call, or item; it has no rows
// where each stack has one server.
func (d *Document) Tiers() Table {
	t := Table{Title: "server CPU by tier", Head: []string{"stack"}, Units: []string{""}}
	var all []float64
	for _, s := range d.Scenarios {
		for _, tier := range s.Tiers {
			if tier.CPU.Value != nil {
				all = append(all, *tier.CPU.Value)
			}
		}
	}
	unit := scaleFor("s", all)
	for _, s := range d.Scenarios {
		if len(s.Tiers) == 0 {
			continue
		}
		row := []string{s.Stack}
		for i, tier := range s.Tiers {
			if len(t.Head) == i+1 {
				t.Head, t.Units = append(t.Head, tier.Name), append(t.Units, unit.name+"/"+d.Conditions.unit())
			}
			row = append(row, cell(tier.CPU, unit))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// Against makes a table of ratios for each stack that is compared.
func (d *Document) Against() []Table {
	var out []Table
	for _, s := range d.Scenarios {
		t := Table{
			Title: fmt.Sprintf("%s against %s", s.Stack, d.Baseline),
			Head:  []string{"", "ratio", "interval", "verdict"},
			Words: 3,
		}
		for _, m := range d.Metrics {
			if c := d.Find(s.Stack, m.Name); c != nil {
				t.Rows = append(t.Rows, []string{m.Label, Ratio(c.Ratio), RatioInterval(c.Ratio), c.Word()})
				if m.Name == "server_cpu_per_call" {
					t.Rows = append(t.Rows, s.tierRatios()...)
				}
				if c.Ratio.Reason != "" && !slices.Contains(t.Notes, c.Ratio.Reason) {
					t.Notes = append(t.Notes, c.Ratio.Reason)
				}
			}
		}
		if len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// tierRatios are rows below the servers' CPU: what of it is each tier's.
func (s Scenario) tierRatios() [][]string {
	var out [][]string
	for _, tier := range s.Tiers {
		if tier.Ratio != nil {
			out = append(out, []string{"  of which " + tier.Name, Ratio(*tier.Ratio), RatioInterval(*tier.Ratio), "not judged"})
		}
	}
	return out
}

// Word is the verdict in a few words: "lower, better".
func (c *Comparison) Word() string {
	switch {
	case c.Better != nil && *c.Better:
		return c.Verdict + ", better"
	case c.Better != nil:
		return c.Verdict + ", worse"
	case c.Needs != nil && c.Needs.Detects != nil && c.Needs.Blocks != nil:
		return fmt.Sprintf("%s, ±%s", c.Verdict, percent(*c.Needs.Detects))
	}
	return string(c.verdict())
}

// Reading says how to read the figures.
func (d *Document) Reading() string { return d.reading(d.Conditions.call()) }

// reading is Reading, with latency that of a whole call, or whatever it is called.
func (d *Document) reading(whole string) string {
	c := d.Conditions
	text := fmt.Sprintf("Ratios are paired by round, and their intervals come from restarts. In %s of such runs no \"higher\" and no \"lower\" is false, "+
		"all of them taken together (Holm's correction: half of the error for server CPU, half for all else); each interval is as wide as it was judged. "+
		"± is half of a level's own %s interval. Differences within %s count as the same.",
		percent(c.Confidence), percent(c.Confidence), percent(c.Margin))
	if c.Item != "" {
		text += fmt.Sprintf(" Costs and rates are by the %s; latency is that of a whole %s.", c.Item, whole)
	}
	if slices.ContainsFunc(d.Scenarios, func(s Scenario) bool { return len(s.tierRatios()) > 0 }) {
		text += fmt.Sprintf(" What is not judged has a plain %s interval, and may be false by chance.", percent(c.Confidence))
	}
	return text
}
