package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

// CodecsRenderer writes what a run of codecs says in one format.
type CodecsRenderer interface {
	RenderCodecs(w io.Writer, c *Codecs) error
}

// Codecs is all that a report of codecs says, as data. Values are in base units,
// by item of a message.
type Codecs struct {
	Format      int            `json:"format"`
	Workload    string         `json:"workload"`
	Started     time.Time      `json:"started"`
	Version     string         `json:"version"`
	Command     []string       `json:"command"`
	Seed        uint64         `json:"seed"`
	Baseline    string         `json:"baseline"`
	Limit       string         `json:"limit,omitempty"` // the contender that is no codec
	Margin      float64        `json:"margin"`
	Confidence  float64        `json:"confidence"` // of all verdicts together, and of each level
	Blocks      int            `json:"blocks"`
	Rounds      int            `json:"rounds"`
	MeasuredS   float64        `json:"measured_s"`
	End         string         `json:"end"` // "complete", "interrupted", "failed" or "cut short"
	Summary     []string       `json:"summary"`
	Metrics     []Metric       `json:"metrics"` // in the order to show
	Messages    []CodecMessage `json:"messages"`
	Comparisons []CodecRatio   `json:"comparisons"`
	Warnings    []Finding      `json:"warnings"`
	Notes       []Finding      `json:"notes"`
	LeftOut     []LeftOut      `json:"left_out"`
	Environment []NamedString  `json:"environment"`
	Libraries   []NamedString  `json:"libraries"`
	Design      string         `json:"design"` // in words
	Holds       string         `json:"holds"`  // what the figures hold for
}

// CodecMessage is what was seen of all codecs with one kind of message.
type CodecMessage struct {
	Name   string       `json:"name"`
	Type   string       `json:"type"`
	Items  int          `json:"items"` // in each message
	Codecs []CodecLevel `json:"codecs"`
}

// CodecLevel is what was seen of one codec.
type CodecLevel struct {
	Codec      string             `json:"codec"`
	Metrics    map[string]Value   `json:"metrics"`
	Compressed map[string]float64 `json:"compressed_bytes"` // by compressor, by item
}

// CodecRatio is one metric of one codec against the baseline's.
type CodecRatio struct {
	Message    string   `json:"message"`
	Metric     string   `json:"metric"`
	Codec      string   `json:"codec"`
	Ratio      Value    `json:"ratio"`
	Confidence float64  `json:"confidence,omitempty"` // of Ratio by itself; 1 of bytes
	Verdict    string   `json:"verdict"`
	Better     *bool    `json:"better,omitempty"`
	Detects    *float64 `json:"detects,omitempty"` // where it is unclear: the least difference that could be told
	Sentence   string   `json:"sentence"`
}

// NewCodecs says what a run of codecs means.
func NewCodecs(a *stats.CodecAnalysis) *Codecs {
	h := a.Run.Header
	c := &Codecs{
		Format: Format, Workload: h.Workload, Started: h.Started, Version: h.Version, Command: orEmpty(h.Command), Seed: h.Seed,
		Baseline: h.Baseline, Limit: h.Limit, Margin: h.Margin, Confidence: a.Confidence,
		Blocks: a.Blocks, Rounds: a.Rounds, MeasuredS: a.MeasuredS, End: "cut short", Comparisons: []CodecRatio{},
		Warnings: findings(a.Warnings), Notes: findings(a.Notes), LeftOut: orEmpty(h.LeftOut),
		Environment: named(h.Environment), Libraries: named(h.Libraries),
		Holds: holding("This", h.Workload, []NamedString{{"seed", fmt.Sprint(h.Seed)}}, "", "", named(h.Environment)),
	}
	if a.Run.End != nil {
		c.End = a.Run.End.Reason
	}
	c.Design = fmt.Sprintf("%s on fresh processes, %s, %s of CPU on the clock",
		stats.Counted(a.Blocks, "block"), stats.Counted(a.Rounds, "round"), duration(a.MeasuredS))
	for _, m := range stats.CodecMetrics {
		c.Metrics = append(c.Metrics, Metric{Name: m.Name, Unit: m.Unit, Label: m.Label, Per: "item"})
	}
	for m, message := range h.Messages {
		c.Messages = append(c.Messages, codecMessage(a, m, message))
	}
	for _, one := range a.Comparisons {
		c.Comparisons = append(c.Comparisons, codecRatio(one, a))
	}
	c.Summary = c.leanest()
	return c
}

func codecMessage(a *stats.CodecAnalysis, m int, message record.CodecMessage) CodecMessage {
	out := CodecMessage{Name: message.Name, Type: message.Type, Items: message.Items}
	for k, contender := range a.Run.Header.Codecs {
		one := CodecLevel{Codec: contender.Name, Metrics: make(map[string]Value), Compressed: make(map[string]float64)}
		for _, l := range a.Levels {
			if l.Message == m && l.Codec == k {
				v := value(l.Interval, l.Metric.Unit)
				v.Exact = l.Metric.Counted
				one.Metrics[l.Metric.Name] = v
			}
		}
		for _, s := range a.Run.Sizes {
			if s.Message == m && s.Codec == k {
				for name, bytes := range s.Compressed {
					one.Compressed[name] = bytes / float64(max(1, message.Items))
				}
			}
		}
		out.Codecs = append(out.Codecs, one)
	}
	return out
}

func codecRatio(c stats.CodecComparison, a *stats.CodecAnalysis) CodecRatio {
	h := a.Run.Header
	out := CodecRatio{
		Message: h.Messages[c.Message].Name, Metric: c.Metric.Name, Codec: h.Codecs[c.Codec].Name,
		Ratio: value(c.Ratio, ""), Confidence: c.Confidence, Verdict: string(c.Verdict),
	}
	out.Ratio.Exact, out.Ratio.Reason = c.Metric.Counted, c.Reason
	if c.Verdict == stats.Higher || c.Verdict == stats.Lower {
		better := c.Verdict == stats.Lower // of bytes and CPU less is better
		out.Better = &better
	}
	if c.Detects > 0 {
		out.Detects = finite(c.Detects)
	}
	out.Sentence = fmt.Sprintf(c.Metric.Claim, out.Codec, Ratio(out.Ratio), h.Baseline, out.Message) + " (" + RatioInterval(out.Ratio)
	if !out.Ratio.Exact {
		out.Sentence += ", " + percent(a.Confidence)
	}
	out.Sentence += ")"
	if out.Better == nil {
		out.Sentence += ": " + out.word()
	}
	out.Sentence += "."
	return out
}

// word is the verdict in a few words.
func (r *CodecRatio) word() string {
	if r.Detects != nil {
		return fmt.Sprintf("%s, ±%s", r.Verdict, percent(*r.Detects))
	}
	return r.Verdict
}

// leanest says, for each kind of message, which codec takes the least, among those
// that are clearly below the baseline.
func (c *Codecs) leanest() []string {
	out := []string{}
	for _, m := range c.Messages {
		for i := range stats.CodecMetrics {
			var lower []CodecRatio
			asked := 0
			for _, r := range c.Comparisons {
				if r.Message != m.Name || r.Metric != stats.CodecMetrics[i].Name {
					continue
				}
				asked++
				if r.Verdict == string(stats.Lower) {
					lower = append(lower, r)
				}
			}
			if asked == 0 {
				continue
			}
			if len(lower) == 0 {
				out = append(out, fmt.Sprintf("None of %s is clearly below %s in %s of a %s.",
					stats.Counted(asked, "other"), c.Baseline, stats.CodecMetrics[i].Label, m.Name))
				continue
			}
			least := slices.MinFunc(lower, func(a, b CodecRatio) int { return cmp.Compare(*a.Ratio.Value, *b.Ratio.Value) })
			out = append(out, fmt.Sprintf("Lowest of %s: %s", stats.Counted(asked+1, "codec"), least.Sentence))
		}
	}
	return out
}

// Find gives the ratio of a codec's metric with a kind of message, or nil.
func (c *Codecs) Find(message, codec, metric string) *CodecRatio {
	for i := range c.Comparisons {
		if r := &c.Comparisons[i]; r.Message == message && r.Codec == codec && r.Metric == metric {
			return r
		}
	}
	return nil
}

// Only leaves one kind of message; false where there is none of the name.
func (c *Codecs) Only(message string) bool {
	found := slices.ContainsFunc(c.Messages, func(m CodecMessage) bool { return m.Name == message })
	c.Messages = slices.DeleteFunc(c.Messages, func(m CodecMessage) bool { return m.Name != message })
	c.Comparisons = slices.DeleteFunc(c.Comparisons, func(r CodecRatio) bool { return r.Message != message })
	c.Summary = c.leanest()
	return found
}

// Reading says how to read the figures.
func (c *Codecs) Reading() string {
	return fmt.Sprintf("Figures are by item. write is map and encode, from a plain struct to bytes in a buffer that is kept; read is decode and map, from bytes to a new plain struct. "+
		"Time is CPU of the whole process, garbage collection included; ± is half of a %s interval. Ratios are to %s, paired by round, and their intervals come from restarts. In %s of such runs no \"higher\" and no \"lower\" is false, "+
		"all of them taken together (Holm's correction). Differences within %s count as the same.",
		percent(c.Confidence), c.Baseline, percent(c.Confidence), percent(c.Margin))
}

// Tables are, for each kind of message, the levels, and the ratios to the baseline.
func (c *Codecs) Tables() (out []Table) {
	for _, m := range c.Messages {
		out = append(out, c.levels(m))
		if t := c.against(m); len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// levels is a row for each codec.
func (c *Codecs) levels(m CodecMessage) Table {
	t := Table{Title: m.Name, Head: []string{"codec"}, Units: []string{""}}
	if m.Items > 1 {
		t.Title = fmt.Sprintf("%s of %s, by item", m.Name, stats.Counted(m.Items, "item"))
	}
	for _, l := range m.Codecs {
		t.Rows = append(t.Rows, []string{l.Codec})
	}
	column := func(label, unit string, cellOf func(CodecLevel) string) {
		t.Head, t.Units = append(t.Head, label), append(t.Units, unit)
		for i, l := range m.Codecs {
			t.Rows[i] = append(t.Rows[i], cellOf(l))
		}
	}
	for i := range stats.CodecMetrics {
		metric := &stats.CodecMetrics[i]
		if metric.Unit == "s" {
			unit := scaleFor("s", m.valuesOf(metric.Name))
			column(metric.Label, unit.name, func(l CodecLevel) string { return spent(l.Metrics[metric.Name], unit) })
			continue
		}
		unit := ""
		if metric.Unit != "1" {
			unit = metric.Unit
		}
		column(metric.Label, unit, func(l CodecLevel) string { return counted(l.Metrics[metric.Name].Value) })
		if len(metric.Steps) == 0 {
			for _, name := range m.compressors() {
				column(name, metric.Unit, func(l CodecLevel) string {
					if v, ok := l.Compressed[name]; ok {
						return counted(&v)
					}
					return "–"
				})
			}
		}
	}
	return t
}

// spent shows time with its interval; a step that does nothing takes less than a
// call of it, divided among the items.
func spent(v Value, unit scale) string {
	const nothing = 0.1e-9
	if v.Value != nil && *v.Value < nothing {
		return "0"
	}
	return cell(v, unit)
}

// counted shows a mean of counts, to a tenth where it is small.
func counted(v *float64) string {
	const small, least = 100, 0.05
	switch {
	case v == nil:
		return "–"
	case *v >= small || *v == math.Trunc(*v):
		return places(*v, 0)
	case *v < least:
		return "<0.1"
	}
	return places(*v, 1)
}

func (m CodecMessage) compressors() (names []string) {
	for _, l := range m.Codecs {
		for name := range l.Compressed {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

func (m CodecMessage) valuesOf(metric string) (out []float64) {
	for _, l := range m.Codecs {
		if v := l.Metrics[metric].Value; v != nil {
			out = append(out, *v)
		}
	}
	return out
}

// against is a row for each codec that is compared with the baseline.
func (c *Codecs) against(m CodecMessage) Table {
	t := Table{Title: m.Name + " against " + c.Baseline, Head: []string{"codec"}}
	for i := range stats.CodecMetrics {
		metric := &stats.CodecMetrics[i]
		if metric.Claim == "" {
			continue
		}
		t.Head = append(t.Head, metric.Label)
		if !metric.Counted {
			t.Head = append(t.Head, "interval", "verdict")
		}
	}
	for _, l := range m.Codecs {
		row := []string{l.Codec}
		for i := range stats.CodecMetrics {
			r := c.Find(m.Name, l.Codec, stats.CodecMetrics[i].Name)
			if r == nil {
				continue
			}
			row = append(row, Ratio(r.Ratio))
			if !r.Ratio.Exact {
				row = append(row, RatioInterval(r.Ratio), r.word())
			}
			if r.Ratio.Reason != "" && !slices.Contains(t.Notes, r.Ratio.Reason) {
				t.Notes = append(t.Notes, r.Ratio.Reason)
			}
		}
		if len(row) == len(t.Head) {
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
