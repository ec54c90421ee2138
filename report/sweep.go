package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

// Sweep is all that runs which differ in one thing say together, as data.
type Sweep struct {
	Format     int            `json:"format"`
	Workload   string         `json:"workload"`
	Leg        string         `json:"leg"`  // of several, all of them
	Path       []string       `json:"path"` // likewise, each sentence after its leg
	Axis       string         `json:"axis"` // what differs, as it was typed; of axes that are crossed, all of them
	Of         int            `json:"of"`   // values asked for
	Load       string         `json:"load"` // in words, as far as all points share it
	Design     string         `json:"design"`
	Holds      string         `json:"holds"`
	Reading    string         `json:"reading"`
	Baseline   string         `json:"baseline"`
	Stacks     []string       `json:"stacks"`
	Summary    []string       `json:"summary"` // sentences
	Crossovers []Crossover    `json:"crossovers"`
	Warnings   []PointFinding `json:"warnings"`
	Notes      []PointFinding `json:"notes"`
	Points     []Point        `json:"points"` // those measured, in order
}

// Point is one value's run.
type Point struct {
	Value    string    `json:"value"` // likewise
	Document *Document `json:"document"`
}

// Crossover says between which two values a verdict turns into its opposite. No
// value between them has either verdict. There is none where the axis has no order.
type Crossover struct {
	Metric   string `json:"metric"`
	Stack    string `json:"stack"`
	Baseline string `json:"baseline"`
	From     string `json:"from"`
	To       string `json:"to"`
	Before   string `json:"before"` // the verdict at From; that at To is the other one
}

// PointFinding is a finding of one point or of several. Where its text differs
// between them it is that of the first.
type PointFinding struct {
	Finding
	Values  []string `json:"values"`
	Differs bool     `json:"differs,omitempty"` // the text does
}

// NewSweep puts the points of one sweep together: at least one document, each of
// a run whose Conditions.Sweep says which point it is, and no point twice.
func NewSweep(points []*Document) *Sweep {
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b *Document) int { return cmp.Compare(a.Conditions.Sweep.Index, b.Conditions.Sweep.Index) })
	first := points[0]
	s := &Sweep{
		Format: Format, Workload: first.Workload, Axis: first.Conditions.Sweep.Axis,
		Of: first.Conditions.Sweep.Of, Baseline: first.Baseline, Stacks: []string{}, Crossovers: []Crossover{},
	}
	for _, d := range points {
		s.Points = append(s.Points, Point{d.Conditions.Sweep.Value, d})
		for _, one := range d.Scenarios {
			if !slices.Contains(s.Stacks, one.Stack) {
				s.Stacks = append(s.Stacks, one.Stack)
			}
		}
	}
	s.Leg, s.Path = s.legs()
	s.Load = s.load()
	s.Design, s.Holds, s.Reading = s.design(), s.holds(), s.reading()
	s.Warnings = s.gather(func(d *Document) []Finding {
		return slices.Concat(only(d.Notes, unfinished), d.Warnings, s.otherBaseline(d))
	})
	s.Notes = s.gather(func(d *Document) []Finding {
		return only(d.Notes, func(f Finding) bool { return !unfinished(f) })
	})
	if n := len(s.Points); n < s.Of {
		s.Warnings = append([]PointFinding{{Finding: Finding{
			Code: "points_missing", Text: fmt.Sprintf("%d of %d values gave a result", n, s.Of),
			Remedy: "let the sweep finish, to see the others",
		}, Values: []string{}}}, s.Warnings...)
	}
	s.summarize()
	return s
}

// otherBaseline says that a point compares with another stack than the first does:
// its ratios have no column in the tables.
func (s *Sweep) otherBaseline(d *Document) []Finding {
	if d.Baseline == s.Baseline {
		return nil
	}
	return []Finding{{
		Code: "other_baseline", Text: fmt.Sprintf("stacks are compared with %s, and not with %s: their ratios are in no table here", d.Baseline, s.Baseline),
		Remedy: "name with --baseline a stack that runs at every value, or report that point by itself",
	}}
}

// legs names all legs, and who calls whom in each.
func (s *Sweep) legs() (names string, path []string) {
	first := s.Points[0].Document
	if shared(s.Points, func(d *Document) string { return d.Leg }) != "" {
		return first.Leg, first.Path
	}
	var seen []string
	for _, p := range s.Points {
		if d := p.Document; !slices.Contains(seen, d.Leg) {
			seen = append(seen, d.Leg)
			for _, sentence := range d.Path {
				path = append(path, d.Leg+": "+sentence)
			}
		}
	}
	return strings.Join(seen, ", "), path
}

// unfinished is a note of one run, and a warning of a sweep, whose other points a
// reader takes for its equals.
func unfinished(f Finding) bool { return f.Code == "not_finished" }

func only(all []Finding, keep func(Finding) bool) []Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f Finding) bool { return !keep(f) })
}

// Title says what the sweep is over: "sweep of in-flight over 1, 4, 16; native driver".
func (s *Sweep) Title() string {
	var values []string
	for _, p := range s.Points {
		values = append(values, p.Value)
	}
	return "sweep of " + s.Axis + " over " + listed(values) + "; " + s.Load
}

// listed puts commas between values, or slashes where values have commas.
func listed(values []string) string {
	between := ", "
	if strings.Contains(strings.Join(values, ""), ",") {
		between = " / "
	}
	return strings.Join(values, between)
}

// load says what all points are loaded by, in words.
func (s *Sweep) load() string {
	if whole := shared(s.Points, func(d *Document) string { return d.Conditions.Load }); whole != "" {
		return whole
	}
	driver := s.Points[0].Document.Conditions.Driver + " driver" +
		shared(s.Points, func(d *Document) string { return across(d.Conditions.Link) }) +
		shared(s.Points, func(d *Document) string { return d.Conditions.bulk() }) +
		shared(s.Points, func(d *Document) string { return d.Conditions.servers() })
	callers := shared(s.Points, func(d *Document) string { return stats.Thousands(strconv.Itoa(d.Conditions.InFlight)) })
	if callers == "" || s.loads().open {
		return driver
	}
	return "closed loop, " + callers + " in flight, " + driver
}

// shared gives what all points say, or "" where they differ.
func shared(points []Point, of func(*Document) string) string {
	say := of(points[0].Document)
	for _, p := range points {
		if of(p.Document) != say {
			return ""
		}
	}
	return say
}

func (s *Sweep) design() string {
	least, most, seconds := s.Points[0].Document.Conditions.Blocks, 0, 0.0
	for _, p := range s.Points {
		c := p.Document.Conditions
		least, most, seconds = min(least, c.Blocks), max(most, c.Blocks), seconds+c.UnderLoadS
	}
	blocks := stats.Counted(most, "block")
	if least < most {
		blocks = fmt.Sprintf("%d to %s", least, blocks)
	}
	return fmt.Sprintf("%s, at each of them %s on fresh processes; %s under load in all",
		stats.Counted(len(s.Points), "value"), blocks, duration(seconds))
}

// holds says what all rows have in common.
func (s *Sweep) holds() string {
	first := s.Points[0].Document
	var params []NamedString
	for _, p := range first.Conditions.Params {
		if shared(s.Points, func(d *Document) string { return find(d.Conditions.Params, p.Name) }) != "" {
			params = append(params, p)
		}
	}
	store := shared(s.Points, func(d *Document) string { return d.Conditions.Store })
	return holding("Each row", s.Workload, params, store, s.Load, first.Conditions.Environment)
}

func find(all []NamedString, name string) string {
	for _, n := range all {
		if n.Name == name {
			return n.Value
		}
	}
	return ""
}

func (s *Sweep) reading() string {
	whole := shared(s.Points, func(d *Document) string { return d.Conditions.call() })
	return s.Points[0].Document.reading(cmp.Or(whole, "call, or stream")) + " That is so at each value by itself: each is a run of its own, one after the other, " +
		"so that stacks of one row are compared on firmer ground than rows are, and of many values one may err."
}

// gather lists what is found at the points, each once. Two findings are one if
// they have the same code and stack.
func (s *Sweep) gather(of func(*Document) []Finding) []PointFinding {
	out := []PointFinding{}
	for _, p := range s.Points {
		for _, f := range of(p.Document) {
			i := slices.IndexFunc(out, func(o PointFinding) bool { return o.Code == f.Code && o.Stack == f.Stack })
			if i < 0 {
				out = append(out, PointFinding{Finding: f, Values: []string{p.Value}})
				continue
			}
			out[i].Differs = out[i].Differs || out[i].Text != f.Text
			if !slices.Contains(out[i].Values, p.Value) {
				out[i].Values = append(out[i].Values, p.Value)
			}
		}
	}
	return out
}

// Told gives findings with the points that they are of in their text.
func (s *Sweep) Told(all []PointFinding) []Finding {
	var out []Finding
	for _, f := range all {
		one := f.Finding
		if f.Differs {
			one.Text += fmt.Sprintf(" (the figures are those at %s)", f.Values[0])
		}
		if n := len(f.Values); n > 0 && n < s.Of {
			one.Text = strings.TrimSpace(f.Stack + " " + one.Text)
			one.Stack = "at " + s.at(f.Values...) + ":"
		}
		out = append(out, one)
	}
	return out
}

// at names values: "in-flight=1, 4".
func (s *Sweep) at(values ...string) string {
	return s.short() + "=" + listed(values)
}

// short is the axis as sentences have it.
func (s *Sweep) short() string {
	var said []string
	for _, axis := range s.axes() {
		said = append(said, axis[strings.LastIndexByte(axis, '.')+1:])
	}
	return strings.Join(said, record.Crossed)
}

// axes are those that head the columns, one or more that are crossed.
func (s *Sweep) axes() []string {
	var out []string
	for _, part := range s.Points[0].parts() {
		out = append(out, part.Axis)
	}
	return out
}

// parts are the point's values on each axis.
func (p Point) parts() []record.Part {
	at := p.Document.Conditions.Sweep
	if len(at.Parts) == 0 {
		return []record.Part{{Axis: at.Axis, Value: at.Value}}
	}
	return at.Parts
}

// cells name the point in a row.
func (p Point) cells() []string {
	var out []string
	for _, part := range p.parts() {
		out = append(out, part.Value)
	}
	return out
}

// loads is what a sweep's points are loaded by.
type loads struct{ open, rates, bulk bool } // any open loop; loops of different rates; calls that move items

func (s *Sweep) loads() loads {
	var l loads
	rates := make(map[float64]bool)
	for _, p := range s.Points {
		rate := p.Document.Conditions.Rate
		rates[rate] = true
		l.open = l.open || rate > 0
		l.bulk = l.bulk || p.Document.Conditions.Item != ""
	}
	l.rates = len(rates) > 1
	return l
}

// LeftOut lists the stacks that some point did not run, each once.
func (s *Sweep) LeftOut() []LeftOut {
	all := make(map[string]LeftOut)
	for _, p := range s.Points {
		for _, o := range p.Document.LeftOut {
			all[o.Stack] = o
		}
	}
	var out []LeftOut
	for _, stack := range slices.Sorted(maps.Keys(all)) {
		out = append(out, all[stack])
	}
	return out
}
