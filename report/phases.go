package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

// Phases is where the CPU of a stack's calls goes, as its profiled trials tell.
type Phases struct {
	Processes []ProcessPhases `json:"processes"`         // the driver, then each tier
	Servers   *ProcessPhases  `json:"servers,omitempty"` // all tiers together, where each tells
	// Cost is the CPU per call of profiled trials over that of the others.
	Cost *Value `json:"cost,omitempty"`
}

// ProcessPhases is one process's CPU per call: Phases and Unexplained add up to
// Total, and may be below 0.
type ProcessPhases struct {
	Process     string  `json:"process,omitempty"`
	Calls       int     `json:"calls"` // 0 of one that does not tell
	Samples     int     `json:"samples"`
	Total       Value   `json:"cpu_per_call"` // by the kernel
	Phases      []Phase `json:"phases"`
	Unexplained Value   `json:"unexplained"`
}

// Phase is one part of the CPU per call.
type Phase struct {
	Phase string `json:"phase"`
	Next  bool   `json:"next,omitempty"` // for calls that the tier makes, not for those that it answers
	CPU   Value  `json:"cpu_per_call"`
}

func phases(b *stats.Breakdown) *Phases {
	if b == nil {
		return nil
	}
	out := &Phases{}
	for _, p := range b.Processes {
		out.Processes = append(out.Processes, processPhases(p))
	}
	if b.Servers.Calls > 0 {
		servers := processPhases(b.Servers)
		out.Servers = &servers
	}
	if b.Cost.Known() {
		cost := value(b.Cost, "")
		out.Cost = &cost
	}
	return out
}

func processPhases(p stats.ProcessPhases) ProcessPhases {
	out := ProcessPhases{
		Process: p.Name, Calls: p.Calls, Samples: p.Samples, Phases: []Phase{},
		Total: signed(p.Total), Unexplained: signed(p.Unexplained),
	}
	for _, part := range p.Parts {
		out.Phases = append(out.Phases, Phase{string(part.Phase), part.Next, signed(part.Interval)})
	}
	return out
}

// signed is a value in seconds whose interval may reach below 0.
func signed(i stats.Interval) Value {
	return Value{Unit: "s", Low: finite(i.Low), Value: finite(i.Value), High: finite(i.High)}
}

// phaseLabels name the rows of tables, in their order.
var phaseLabels = []struct {
	phase  record.Phase
	label  string
	onWire bool // on either side of a tier
}{
	{record.PhaseKernel, "carry, in the kernel", true},
	{record.PhaseLibrary, "carry, in the library", true},
	{record.PhaseCompress, "compress", true},
	{record.PhaseEncode, "encode", true},
	{record.PhaseDecode, "decode", true},
	{record.PhaseMap, "map", true},
	{record.PhaseValidate, "validate", false},
	{record.PhaseHandler, "handler", false},
	{record.PhaseStore, "store", false},
	{record.PhaseCheck, "make and check calls", false},
	{record.PhaseCollect, "collect garbage", false},
	{record.PhaseSchedule, "schedule", false},
	{record.PhaseOther, "other", false},
}

// PhaseTables are a table for each process, the driver first: a row for each
// phase that some stack has, a column for each stack.
func (d *Document) PhaseTables() []Table {
	var out []Table
	for i, name := range d.phaseProcesses() {
		if t := d.phaseTable(i, name); len(t.Rows) > 0 {
			out = append(out, t)
		}
	}
	if len(out) > 0 {
		out[len(out)-1].Notes = d.phaseNotes()
	}
	return out
}

// phaseProcesses names the driver and the tiers, as the first stack that tells has
// them; all stacks have the same.
func (d *Document) phaseProcesses() (names []string) {
	for _, s := range d.Scenarios {
		if s.Phases == nil {
			continue
		}
		for i, p := range s.Phases.Processes {
			if i == 0 {
				p.Process = "driver"
			}
			names = append(names, p.Process)
		}
		return names
	}
	return nil
}

func (d *Document) phaseTable(process int, name string) Table {
	t := Table{Title: fmt.Sprintf("where the CPU of %s goes: %s", one(d.Conditions.unit()), name), Head: []string{""}, Units: []string{""}}
	unit := scaleFor("s", d.phaseTotals(process))
	for _, s := range d.Scenarios {
		t.Head, t.Units = append(t.Head, s.Stack), append(t.Units, unit.name+"/"+d.Conditions.unit())
	}
	row := func(label string, of func(ProcessPhases) (Value, bool)) {
		cells, told := []string{label}, false
		for _, s := range d.Scenarios {
			text := "–"
			if p, ok := s.phasesOf(process); ok {
				v, has := of(p)
				told = told || has
				text = sumCell(v, unit)
			}
			cells = append(cells, text)
		}
		if told {
			t.Rows = append(t.Rows, cells)
		}
	}
	for _, next := range []bool{false, true} {
		for _, l := range phaseLabels {
			if l.onWire {
				row(sided(l.label, next), func(p ProcessPhases) (Value, bool) { return p.find(l.phase, next) })
			}
		}
	}
	for _, l := range phaseLabels {
		if !l.onWire {
			row(l.label, func(p ProcessPhases) (Value, bool) { return p.find(l.phase, false) })
		}
	}
	row("unexplained", func(p ProcessPhases) (Value, bool) { return p.Unexplained, true })
	row("in all, by the kernel", func(p ProcessPhases) (Value, bool) { return p.Total, true })
	return t
}

// sided says on which side of a tier a phase is: for the calls that it answers,
// or for those that it makes.
func sided(label string, next bool) string {
	if next {
		return "calling on: " + label
	}
	return label
}

// phasesOf gives the phases of a process; false where it does not tell.
func (s Scenario) phasesOf(process int) (ProcessPhases, bool) {
	if s.Phases == nil || process >= len(s.Phases.Processes) || s.Phases.Processes[process].Calls == 0 {
		return ProcessPhases{}, false
	}
	return s.Phases.Processes[process], true
}

func (p ProcessPhases) find(phase record.Phase, next bool) (Value, bool) {
	for _, part := range p.Phases {
		if part.Phase == string(phase) && part.Next == next {
			return part.CPU, true
		}
	}
	return Value{Value: new(0.0)}, false
}

func (d *Document) phaseTotals(process int) (all []float64) {
	for _, s := range d.Scenarios {
		if p, ok := s.phasesOf(process); ok && p.Total.Value != nil {
			all = append(all, *p.Total.Value)
		}
	}
	return all
}

// sumCell shows a figure that adds up with others, whose total is 1 to 1000 units:
// to as many places as they, and ± in the same unit.
func sumCell(v Value, unit scale) string {
	text := places(*v.Value/unit.of, 1)
	if v.Low == nil || *v.High == *v.Low {
		return text
	}
	return text + " ±" + places((*v.High-*v.Low)/2/unit.of, 1)
}

// phaseNotes say what the tables come from.
func (d *Document) phaseNotes() []string {
	samples, least := 0, math.MaxInt
	var costs, silent []string
	for _, s := range d.Scenarios {
		if s.Phases == nil {
			silent = append(silent, s.Stack)
			continue
		}
		n := 0
		for _, p := range s.Phases.Processes {
			n += p.Samples
			if p.Calls == 0 && !slices.Contains(silent, p.Process) {
				silent = append(silent, p.Process)
			}
		}
		samples, least = samples+n, min(least, n)
		if c := s.Phases.Cost; c != nil {
			costs = append(costs, fmt.Sprintf("%s with %s", Ratio(*c), s.Stack))
		}
	}
	notes := []string{fmt.Sprintf("From profiled trials at the ends of blocks, which no other figure knows of: %s, at least %s of each stack. "+
		"± is half of a plain %s interval; without it, they are fewer than ten. What is unexplained was not sampled, or, below 0, sampled too often.",
		stats.Counted(samples, "sample"), count(float64(least)), percent(d.Conditions.Confidence))}
	if len(costs) > 0 {
		notes = append(notes, "While it is profiled the CPU of "+one(d.Conditions.unit())+" is "+strings.Join(costs, ", ")+".")
	}
	if len(silent) > 0 {
		notes = append(notes, strings.Join(silent, ", ")+": does not tell where its CPU goes.")
	}
	return notes
}

// leastSamples are needed to put shares into a sentence: 1 of 100 has a standard
// error of 1 %, 50 one of 5 %.
const leastSamples = 100

// divisions say of what the CPU that a call costs the servers is made up: of both
// stacks where there are two, of the baseline where there are more. The rest is in the
// tables.
func (d *Document) divisions() (out []string) {
	const two = 2
	for _, s := range d.Scenarios {
		if len(d.Scenarios) > two && s.Stack != d.Baseline {
			continue
		}
		if s.Phases == nil || s.Phases.Servers == nil || s.Phases.Servers.Samples < leastSamples {
			continue
		}
		p := *s.Phases.Servers
		if p.Total.Value == nil || *p.Total.Value <= 0 {
			continue
		}
		unit := scaleFor("s", []float64{*p.Total.Value})
		out = append(out, fmt.Sprintf("Of the %s %s of CPU that %s costs the servers of %s when profiled, %s (%s).",
			number(*p.Total.Value/unit.of), unit.name, one(d.Conditions.unit()), s.Stack, p.division(), stats.Counted(p.Samples, "sample")))
	}
	return out
}

// groups are the phases that a sentence names together, after those of carrying.
var groups = []struct {
	name   string
	phases []record.Phase
}{
	{"compressing", []record.Phase{record.PhaseCompress}},
	{"encoding and decoding", []record.Phase{record.PhaseEncode, record.PhaseDecode}},
	{"mapping", []record.Phase{record.PhaseMap}},
	{"validating", []record.Phase{record.PhaseValidate}},
	{"handler and store", []record.Phase{record.PhaseHandler, record.PhaseStore}},
	{"the runtime", []record.Phase{record.PhaseCollect, record.PhaseSchedule, record.PhaseOther}},
}

// division says the shares in words: "61 % goes to the wire (carry; 38 % of that
// in the kernel), 9 % to encoding and decoding, … and 4 % is unexplained".
func (p ProcessPhases) division() string {
	const shown = 0.005 // rounds to 1 %
	carry := p.share(record.PhaseKernel, record.PhaseLibrary)
	said := []string{fmt.Sprintf("%.0f %% goes to the wire (carry; %.0f %% of that in the kernel)",
		100*carry, 100*p.share(record.PhaseKernel)/max(carry, math.SmallestNonzeroFloat64))}
	for _, g := range groups {
		if share := p.share(g.phases...); share >= shown {
			said = append(said, fmt.Sprintf("%.0f %% to %s", 100*share, g.name))
		}
	}
	text := strings.Join(said, ", ")
	switch rest := *p.Unexplained.Value / *p.Total.Value; {
	case rest >= shown:
		text += fmt.Sprintf(", and %.0f %% is unexplained", 100*rest)
	case rest <= -shown:
		text += fmt.Sprintf(", which is %.0f %% more than the kernel counts", -100*rest)
	}
	return text
}

// share is what some phases make up of the whole, on both sides.
func (p ProcessPhases) share(of ...record.Phase) float64 {
	var sum float64
	for _, part := range p.Phases {
		if slices.Contains(of, record.Phase(part.Phase)) {
			sum += *part.CPU.Value
		}
	}
	return sum / *p.Total.Value
}
