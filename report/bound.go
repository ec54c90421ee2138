package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

// ParseBound reads a condition that a run is to fail on:
//
//	STACK.METRIC < LIMIT         of a level: grpc+proto.latency_p99 > 20ms
//	STACK/STACK.METRIC < LIMIT   of a ratio: grpc+proto/rest+json.throughput < 1.2
//
// with <, <=, > or >=. A metric's name follows the last dot, since settings may
// hold dots. A limit of time or bytes has its unit; one of a ratio is a number,
// with x, or with % of it. Whether a run has the stacks is not looked at.
func ParseBound(text string) (stats.Bound, error) {
	b, err := parseBound(text)
	if err != nil {
		return stats.Bound{}, fmt.Errorf("bound %q: %w", text, err)
	}
	return b, nil
}

func parseBound(text string) (stats.Bound, error) {
	b := stats.Bound{Typed: strings.TrimSpace(text)}
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return b, errors.New("it compares nothing; write one such as 'grpc+proto.latency_p99 > 20ms'")
	}
	target, rest := strings.TrimSpace(text[:at]), text[at:]
	for _, c := range stats.Comparators {
		if after, ok := strings.CutPrefix(rest, string(c)); ok {
			b.Compare, rest = c, strings.TrimSpace(after)
			break
		}
	}
	dot := strings.LastIndexByte(target, '.')
	if dot < 0 {
		return b, fmt.Errorf("%q is not STACK.METRIC, nor STACK/STACK.METRIC", target)
	}
	name := target[dot+1:]
	if b.Metric = stats.Find(name); b.Metric == nil {
		return b, fmt.Errorf("unknown metric %q; there is %s", name, metricNames())
	}
	stack, over, ratio := strings.Cut(target[:dot], "/")
	b.Stack, b.Over = stack, over
	if stack == "" || ratio && over == "" || stack == over || strings.ContainsAny(target[:dot], " \t\n") || strings.Contains(over, "/") {
		return b, fmt.Errorf("%q is not a stack, nor two with / between them", target[:dot])
	}
	if ratio && !b.Metric.Compared() {
		return b, fmt.Errorf("%s is counted and not compared: it has no ratio", name)
	}
	units := ratioUnits
	if !ratio {
		units = limitUnits(b.Metric.Unit)
	}
	var err error
	b.Limit, b.Shown, err = parseLimit(rest, units)
	return b, err
}

// ratioUnits are those of a limit of a ratio.
var ratioUnits = []scale{{"", 1}, {"x", 1}, {"%", 0.01}}

// limitUnits are the units in which a limit of a metric can be typed.
func limitUnits(base string) []scale {
	units := slices.Clone(scales[base])
	switch base {
	case "s":
		return append(units, scale{"us", 1e-6}) // as keyboards have it
	case "calls/s":
		return []scale{{"", 1}, {base, 1}}
	}
	return units
}

// parseLimit reads a number, not below 0, and its unit. It gives the number in
// base units, and both as they are shown.
func parseLimit(text string, units []scale) (limit float64, shown string, err error) {
	unit := strings.TrimLeft(text, "0123456789.")
	digits := text[:len(text)-len(unit)]
	unit = strings.TrimSpace(unit)
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || math.IsInf(n, 0) {
		return 0, "", fmt.Errorf("limit %q does not begin with a number", text)
	}
	for _, u := range units {
		if u.name != unit {
			continue
		}
		switch unit {
		case "":
			return n, digits, nil
		case "x":
			return n, digits + unit, nil
		}
		return n * u.of, digits + " " + unit, nil
	}
	var names []string
	for _, u := range units {
		names = append(names, strings.TrimSpace("a number "+u.name))
	}
	if len(units) > 0 && units[0].name == "" {
		names[0] = "a number alone"
	}
	if unit == "" {
		return 0, "", fmt.Errorf("limit %q has no unit; it takes %s", text, strings.Join(names, ", "))
	}
	return 0, "", fmt.Errorf("limit %q: unknown unit %q; it takes %s", text, unit, strings.Join(names, ", "))
}

func metricNames() string {
	var names []string
	for i := range stats.Metrics {
		names = append(names, stats.Metrics[i].Name)
	}
	return strings.Join(names, ", ")
}

// Bound is a condition that the run was to fail on, judged.
type Bound struct {
	Bound    string  `json:"bound"` // as it was typed
	Stack    string  `json:"stack"`
	Over     string  `json:"over,omitempty"` // what a ratio is taken to
	Metric   string  `json:"metric"`
	Compare  string  `json:"compare"`
	Limit    float64 `json:"limit"` // in base units
	Value    Value   `json:"value"`
	Outcome  string  `json:"outcome"`  // kept, broken, not decided, unknown or withheld
	Sentence string  `json:"sentence"` // without a full stop
}

// sides are the words for the side of a limit on which a bound is broken.
var sides = map[stats.Comparator]string{
	stats.Below: "below", stats.AtMost: "at or below", stats.Above: "above", stats.AtLeast: "at or above",
}

// Judged says what became of bounds of a run.
func Judged(outcomes []stats.Outcome, h record.Header) []Bound {
	out := []Bound{}
	for _, o := range outcomes {
		b := Bound{
			Bound: o.Typed, Stack: o.Stack, Over: o.Over, Metric: o.Metric.Name, Compare: string(o.Compare),
			Limit: o.Limit, Outcome: string(o.State), Value: value(o.Interval, o.Metric.In(h).Unit),
		}
		if o.Over != "" {
			b.Value.Unit = ""
		}
		b.Value.Exact, b.Value.Reason = o.Interval.Low == o.Interval.High, o.Reason
		b.Sentence = o.Stack + "." + b.Metric
		if o.Over != "" {
			b.Sentence = o.Stack + "/" + o.Over + "." + b.Metric
		}
		switch o.State {
		case stats.BoundUnknown, stats.BoundWithheld:
			b.Sentence += fmt.Sprintf(" is %s: %s", o.State, o.Reason)
		case stats.NotDecided:
			b.Sentence += fmt.Sprintf(" is %s: the interval holds %s", b.Figure(), o.Shown)
		case stats.Kept:
			b.Sentence += fmt.Sprintf(" is %s, not %s %s", b.Figure(), sides[o.Compare], o.Shown)
		default:
			b.Sentence += fmt.Sprintf(" is %s, %s %s", b.Figure(), sides[o.Compare], o.Shown)
		}
		out = append(out, b)
	}
	return out
}

// Figure shows what a bound was judged on: "24 ms (22 to 27)".
func (b Bound) Figure() string {
	v := b.Value
	if v.Value == nil {
		return "–"
	}
	text := Ratio(v)
	var low, high string
	if b.Over != "" {
		if low, high, _ = strings.Cut(RatioInterval(v), " to "); high == "" {
			return text
		}
	} else {
		unit := scaleFor(v.Unit, []float64{*v.Value})
		show := number
		if unit.of == 1 && v.Exact {
			show = count
		}
		text = strings.TrimSpace(show(*v.Value/unit.of) + " " + unit.name)
		if v.Exact || v.Low == nil {
			return text
		}
		low, high = show(*v.Low/unit.of), show(*v.High/unit.of)
	}
	return fmt.Sprintf("%s (%s to %s)", text, low, high)
}

// BoundsTable is the table of the bounds that were set; it has no rows without any.
func (d *Document) BoundsTable() Table {
	t := Table{Title: "fail if", Head: []string{"bound", "measured", "outcome"}, Words: 2}
	for _, b := range d.Bounds {
		t.Rows = append(t.Rows, []string{b.Bound, b.Figure(), b.Outcome})
		if b.Value.Reason != "" && !slices.Contains(t.Notes, b.Value.Reason) {
			t.Notes = append(t.Notes, b.Value.Reason)
		}
	}
	return t
}
