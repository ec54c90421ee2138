package report

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/tare-bench/tare/stats"
)

// ChangesRenderer writes a comparison of two runs in one format.
type ChangesRenderer interface {
	RenderChanges(w io.Writer, c *Changes) error
}

// Changes is all that a comparison of two runs says, as data.
type Changes struct {
	Format     int          `json:"format"`
	Workload   string       `json:"workload"`
	Leg        string       `json:"leg"`
	Load       string       `json:"load"` // in words
	Old        Side         `json:"old"`
	New        Side         `json:"new"`
	Margin     float64      `json:"margin"`
	Confidence float64      `json:"confidence"` // of all verdicts together
	Summary    []string     `json:"summary"`    // sentences
	Stacks     []string     `json:"stacks"`     // in both
	OnlyOld    []string     `json:"only_old"`
	OnlyNew    []string     `json:"only_new"`
	Changes    []Change     `json:"changes"`
	Differs    []Difference `json:"differs"` // of what the two ran on
	Reading    string       `json:"reading"`
}

// Side is one of the two runs.
type Side struct {
	Started  time.Time          `json:"started"`
	Version  string             `json:"version"`
	Blocks   int                `json:"blocks"`
	Machine  map[string]float64 `json:"machine,omitempty"`
	Warnings []Finding          `json:"warnings"`
}

// Change is one metric of one stack, the newer run over the older.
type Change struct {
	Stack      string  `json:"stack"`
	Metric     string  `json:"metric"`
	Old        Value   `json:"old"`
	New        Value   `json:"new"`
	Ratio      Value   `json:"ratio"`
	Confidence float64 `json:"confidence,omitempty"` // of Ratio by itself; 1 where the metric is exact
	Verdict    string  `json:"verdict"`
	Better     *bool   `json:"better,omitempty"`
	Sentence   string  `json:"sentence"`
	label, per string
}

// Difference is something that the runs do not share.
type Difference struct {
	Name string `json:"name"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// NewChanges says what a comparison of two runs means.
func NewChanges(c *stats.Changes) *Changes {
	h := c.New.Run.Header
	out := &Changes{
		Format: Format, Workload: h.Workload, Leg: h.Leg, Load: load(h), Old: side(c.Old), New: side(c.New),
		Margin: c.Margin, Confidence: c.Confidence, Summary: []string{}, Stacks: orEmpty(c.Stacks),
		OnlyOld: orEmpty(c.OnlyOld), OnlyNew: orEmpty(c.OnlyNew), Changes: []Change{}, Differs: []Difference{},
	}
	for _, one := range c.All {
		shown := change(one, c)
		out.Changes = append(out.Changes, shown)
		if shown.Better != nil {
			out.Summary = append(out.Summary, shown.Sentence)
		}
	}
	if len(out.Summary) == 0 {
		out.Summary = append(out.Summary, "Nothing is higher or lower beyond doubt.")
	}
	for _, d := range c.Differs {
		out.Differs = append(out.Differs, Difference(d))
	}
	out.Reading = fmt.Sprintf("Ratios are new over old, with intervals from the blocks of both runs (Welch), and verdicts that hold in %s of such "+
		"comparisons taken together (Holm's correction). Differences within %s count as the same. The two runs were made at different times: "+
		"a ratio is that of the stack only as far as the machine, and what else it did, was the same. Stacks within one run are compared on firmer ground.",
		percent(c.Confidence), percent(c.Margin))
	return out
}

func side(a *stats.Analysis) Side {
	s := Side{Started: a.Run.Header.Started, Version: a.Run.Header.Version, Blocks: a.Blocks, Warnings: findings(a.Warnings)}
	if a.Run.End != nil {
		s.Machine = a.Run.End.Machine
	}
	return s
}

func change(c stats.Change, all *stats.Changes) Change {
	m := c.Metric.In(all.New.Run.Header)
	out := Change{
		Stack: c.Stack, Metric: m.Name, Old: value(c.Old, m.Unit), New: value(c.New, m.Unit), Ratio: value(c.Ratio, ""),
		Confidence: c.Confidence, Verdict: string(c.Verdict), label: m.Label, per: m.Per,
	}
	exact := m.Kind == stats.Exact
	out.Old.Exact, out.New.Exact, out.Ratio.Exact, out.Ratio.Reason = exact, exact, exact, c.Reason
	if !m.Neutral && (c.Verdict == stats.Higher || c.Verdict == stats.Lower) {
		better := (c.Verdict == stats.Higher) == m.HigherBetter
		out.Better = &better
	}
	of := fmt.Sprintf("the %s of %s", m.Noun, c.Stack)
	bounds := fmt.Sprintf("%s (%s, %s)", Ratio(out.Ratio), RatioInterval(out.Ratio), percent(all.Confidence))
	if exact {
		bounds = Ratio(out.Ratio) + " (exact)"
	}
	switch {
	case c.Verdict == stats.Withheld:
		out.Sentence = fmt.Sprintf("The change of %s is withheld: %s.", of, c.Reason)
	case c.Reason != "":
		out.Sentence = fmt.Sprintf("No verdict on the change of %s: %s.", of, c.Reason)
	case c.Verdict == stats.Unclear:
		out.Sentence = fmt.Sprintf("Whether %s has changed is unclear: %s.", of, bounds)
	case c.Verdict == stats.Same:
		out.Sentence = fmt.Sprintf("T%s is the same in both runs, within %s: %s.", of[1:], percent(all.Margin), bounds)
	default:
		which := ""
		if out.Better != nil {
			which = ", which is " + map[bool]string{true: "better", false: "worse"}[*out.Better]
		}
		out.Sentence = fmt.Sprintf("T%s is %s in the newer run%s: %s.", of[1:], c.Verdict, which, bounds)
	}
	return out
}

// word is the verdict in a few words.
func (c Change) word() string {
	switch {
	case c.Better != nil && *c.Better:
		return c.Verdict + ", better"
	case c.Better != nil:
		return c.Verdict + ", worse"
	}
	return c.Verdict
}

// Tables are the changes, a table for each stack.
func (c *Changes) Tables() []Table {
	var out []Table
	for _, stack := range c.Stacks {
		t := Table{Title: stack, Head: []string{"", "old", "new", "new/old", "interval", "verdict"}, Words: 5}
		for _, one := range c.Changes {
			if one.Stack != stack {
				continue
			}
			var known []float64
			for _, v := range []Value{one.Old, one.New} {
				if v.Value != nil {
					known = append(known, *v.Value)
				}
			}
			unit := scaleFor(one.Old.Unit, known)
			name := unit.name
			if one.per != "" {
				name += "/" + one.per
			}
			t.Rows = append(t.Rows, []string{
				one.label + ", " + name, cell(one.Old, unit), cell(one.New, unit), Ratio(one.Ratio), RatioInterval(one.Ratio), one.word(),
			})
			if why := one.Ratio.Reason; why != "" && !slices.Contains(t.Notes, why) {
				t.Notes = append(t.Notes, why)
			}
		}
		out = append(out, t)
	}
	return out
}

// Apart is the table of what the two runs do not share.
func (c *Changes) Apart() Table {
	t := Table{Title: "what differs between the runs", Head: []string{"", "old", "new"}, Words: 1}
	for _, d := range c.Differs {
		t.Rows = append(t.Rows, []string{d.Name, orDash(d.Old), orDash(d.New)})
	}
	return t
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// Findings are what readers of the runs must know, and of which run it is said.
func (c *Changes) Findings() []Finding {
	var out []Finding
	for _, s := range []struct {
		name string
		all  []Finding
	}{{"old", c.Old.Warnings}, {"new", c.New.Warnings}} {
		for _, f := range s.all {
			if f.Stack != "" {
				f.Text = f.Stack + " " + f.Text
			}
			out = append(out, Finding{Code: f.Code, Text: s.name + " run: " + f.Text, Remedy: f.Remedy})
		}
	}
	for _, stack := range c.OnlyOld {
		out = append(out, Finding{Code: "only_old", Text: stack + " is in the old run alone"})
	}
	for _, stack := range c.OnlyNew {
		out = append(out, Finding{Code: "only_new", Text: stack + " is in the new run alone"})
	}
	return out
}
