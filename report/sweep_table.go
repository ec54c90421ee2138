package report

import (
	"fmt"
	"slices"
)

// sweepTables are the metrics that a sweep shows, and when. Where rates differ,
// throughput is the rate, and the bytes of a call are the same in every row.
var sweepTables = []struct {
	metric   string
	shown    func(loads) bool
	unjudged string // why there may be no ratio
}{
	{"server_cpu_per_call", func(loads) bool { return true }, ""},
	{"throughput", func(l loads) bool { return !l.open }, ""},
	{"bytes_per_second", func(l loads) bool { return !l.open }, ""},
	{"driver_cpu_per_call", func(l loads) bool { return l.bulk }, "where the driver's own calls do not vary, its CPU is compared with nothing"},
	{"server_peak_rss", func(l loads) bool { return l.bulk }, "memory is compared with --calls alone: where time ends the work, a faster stack does more of it"},
	{"latency_p50", func(loads) bool { return true }, ""},
	{"latency_p99", func(l loads) bool { return l.open }, ""},
	{"bytes_sent_per_call", func(l loads) bool { return !l.rates }, ""},
	{"bytes_received_per_call", func(l loads) bool { return !l.rates }, ""},
}

// metrics are those of sweepTables that some point tells.
func (s *Sweep) metrics() []Metric {
	told := make(map[string]Metric)
	for _, p := range s.Points {
		for _, m := range p.Document.Metrics {
			m.Headline = m.Headline || told[m.Name].Headline
			told[m.Name] = m
		}
	}
	var out []Metric
	for _, t := range sweepTables {
		if m, ok := told[t.metric]; ok && t.shown(s.loads()) {
			out = append(out, m)
		}
	}
	return out
}

// Tables has one for each metric: a row for each value, the baseline's level and
// the ratio of each other stack to it. Where rates differ, what was carried of
// them comes first.
func (s *Sweep) Tables() []Table {
	var out []Table
	if s.loads().rates {
		out = append(out, s.goodputTable())
	}
	if s.loads().bulk {
		out = append(out, s.levelTable())
	}
	for _, m := range s.metrics() {
		out = append(out, s.table(m))
	}
	return out
}

// bulkLevels are the metrics of which each stack's level is shown, where calls move
// items in bulk: legs and workers are compared by them, down a column.
var bulkLevels = []string{"throughput", "bytes_per_second", "server_cpu_per_call", "driver_cpu_per_call", "server_peak_rss"}

// levelTable has a row for each stack at each value.
func (s *Sweep) levelTable() Table {
	axes := s.axes()
	t := Table{Title: "levels", Head: append(axes, "stack"), Units: make([]string, len(axes)+1)}
	for _, p := range s.Points {
		for _, one := range p.Document.Scenarios {
			t.Rows = append(t.Rows, append(p.cells(), one.Stack))
		}
	}
	all := s.metrics()
	for _, name := range bulkLevels {
		i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == name })
		if i < 0 {
			continue
		}
		m := all[i]
		unit := scaleFor(m.Unit, s.levels(m))
		t.Head, t.Units = append(t.Head, m.Label), append(t.Units, unit.per(m))
		row := 0
		for _, p := range s.Points {
			for _, one := range p.Document.Scenarios {
				t.Rows[row] = append(t.Rows[row], cell(one.Metrics[m.Name], unit))
				row++
			}
		}
	}
	return t
}

// per is the name of a unit, and what it is by.
func (u scale) per(m Metric) string {
	if m.Per == "" {
		return u.name
	}
	return u.name + "/" + m.Per
}

func (s *Sweep) table(m Metric) Table {
	axes := s.axes()
	t := Table{Title: m.Label, Head: axes, Units: make([]string, len(axes)), Words: len(axes) + 1}
	rates := s.loads().rates
	if rates {
		t.Head, t.Units, t.Words = append(t.Head, "rate"), append(t.Units, "calls/s"), t.Words+1
	}
	unit := scaleFor(m.Unit, s.levels(m))
	t.Head, t.Units = append(t.Head, s.Baseline), append(t.Units, unit.per(m))
	others := slices.DeleteFunc(slices.Clone(s.Stacks), func(stack string) bool { return stack == s.Baseline })
	for _, stack := range others {
		t.Head, t.Units = append(t.Head, stack), append(t.Units, "")
	}
	for _, p := range s.Points {
		row := p.cells()
		if rates {
			row = append(row, p.rate())
		}
		level := p.level(s.Baseline, m)
		row = append(row, cell(level, unit))
		t.note(level.Reason)
		for _, stack := range others {
			c := p.Document.Find(stack, m.Name)
			if c != nil && c.Baseline != s.Baseline {
				c = nil
			}
			text := c.inRow()
			if alone := p.level(stack, m); c == nil && alone.Value != nil {
				text = withUnit(alone, unit, m.Per)
				t.note(unjudged(m))
			}
			row = append(row, text)
			if c != nil {
				t.note(c.Ratio.Reason)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// unjudged says why a level may stand in the place of a ratio.
func unjudged(m Metric) string {
	for _, t := range sweepTables {
		if t.metric == m.Name {
			return t.unjudged
		}
	}
	return ""
}

// note keeps why a cell is empty, each reason once.
func (t *Table) note(why string) {
	if why != "" && !slices.Contains(t.Notes, why) {
		t.Notes = append(t.Notes, why)
	}
}

func (s *Sweep) levels(m Metric) []float64 {
	var out []float64
	for _, p := range s.Points {
		if v := p.level(s.Baseline, m).Value; v != nil {
			out = append(out, *v)
		}
	}
	return out
}

func (p Point) level(stack string, m Metric) Value {
	for _, s := range p.Document.Scenarios {
		if s.Stack == stack {
			return s.Metrics[m.Name]
		}
	}
	return Value{}
}

// rate is what an open loop offers.
func (p Point) rate() string {
	if rate := p.Document.Conditions.Rate; rate > 0 {
		return count(rate)
	}
	return "closed loop"
}

// inRow is a comparison in one cell: "0.71x (0.68 to 0.75) lower, better".
func (c *Comparison) inRow() string {
	switch {
	case c == nil:
		return "–"
	case c.Ratio.Value == nil:
		return c.Word()
	case c.Ratio.Low == nil:
		return Ratio(c.Ratio) + " " + c.Word()
	}
	return fmt.Sprintf("%s (%s) %s", Ratio(c.Ratio), RatioInterval(c.Ratio), c.Word())
}

// BoundsTable is the table of the bounds that each point was held to.
func (s *Sweep) BoundsTable() Table {
	t := Table{Words: 1}
	for _, p := range s.Points {
		one := p.Document.BoundsTable()
		t.Title, t.Head = one.Title, append([]string{s.Axis}, one.Head...)
		for _, row := range one.Rows {
			t.Rows = append(t.Rows, append([]string{p.Value}, row...))
		}
		for _, why := range one.Notes {
			t.note(why)
		}
	}
	return t
}
