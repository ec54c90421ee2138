// Package report says what an Analysis means, to a person: sentences, and a
// Document that every format renders. Numbers are scaled and rounded here and
// nowhere before. It is pure, and knows no protocol, codec or workload.
//
// The formats stand in folders below this one. Each takes a Document alone, so
// that two of them cannot disagree on a number or on a sentence.
package report

import (
	"io"
	"time"

	"github.com/tare-bench/tare/record"
)

// Format is the version of Document in JSON.
const Format = 1

// Renderer writes what runs say in one format.
type Renderer interface {
	Render(w io.Writer, d *Document) error
	RenderSweep(w io.Writer, s *Sweep) error
}

// Document is all that a report says, as data. Values are in base units.
type Document struct {
	Format      int           `json:"format"`
	Workload    string        `json:"workload"`
	Leg         string        `json:"leg"`
	Path        []string      `json:"path"` // a sentence for each tier: who calls it over what
	Conditions  Conditions    `json:"conditions"`
	Baseline    string        `json:"baseline"`
	Summary     []string      `json:"summary"` // sentences: the headline verdicts, the factors
	Metrics     []Metric      `json:"metrics"` // that some scenario tells, in the order to show
	Scenarios   []Scenario    `json:"scenarios"`
	Comparisons []Comparison  `json:"comparisons"`
	Factorial   []Factorial   `json:"factorial"`
	Bounds      []Bound       `json:"bounds"` // that the run was to fail on
	Warnings    []Finding     `json:"warnings"`
	Notes       []Finding     `json:"notes"`
	LeftOut     []LeftOut     `json:"left_out"`
	Libraries   []NamedString `json:"libraries"`
}

// Conditions are what the figures hold for.
type Conditions struct {
	Version       string        `json:"version"` // of tare
	Started       time.Time     `json:"started"`
	Command       []string      `json:"command"`
	Params        []NamedString `json:"params"`
	Store         string        `json:"store"`
	Driver        string        `json:"driver"`
	Link          *record.Link  `json:"link,omitempty"` // left out on loopback
	InFlight      int           `json:"in_flight"`
	Item          string        `json:"item,omitempty"`           // what costs and rates are by, in place of calls
	ItemsPerCall  float64       `json:"items_per_call,omitempty"` // of the baseline, in the mean
	Streams       bool          `json:"streams,omitempty"`        // the driver's calls are streams: latencies are of whole ones
	Workers       int           `json:"workers,omitempty"`        // processors that each server was to use at once; left out for all
	Rate          float64       `json:"rate,omitempty"`           // above 0 for an open loop
	Arrivals      string        `json:"arrivals,omitempty"`
	RateShare     float64       `json:"rate_share,omitempty"` // where Rate is a share of Pilot's throughput
	Pilot         *record.Pilot `json:"pilot,omitempty"`
	Sweep         *record.Sweep `json:"sweep,omitempty"` // where the run is a point of one
	TimeoutS      float64       `json:"timeout_s"`
	SliceS        float64       `json:"slice_s,omitempty"`
	Calls         int           `json:"calls,omitempty"`
	Precision     float64       `json:"precision,omitempty"`
	Margin        float64       `json:"margin"`
	Seed          uint64        `json:"seed"`
	Blocks        int           `json:"blocks"`       // that the estimates come from
	BlocksShort   int           `json:"blocks_short"` // left out of them: cut short before half of their rounds
	BlocksPlanned int           `json:"blocks_planned"`
	Rounds        int           `json:"rounds"` // in all of them
	UnderLoadS    float64       `json:"under_load_s"`
	Confidence    float64       `json:"confidence"` // of all verdicts together, and of each level
	End           string        `json:"end"`        // "complete", "precise", "interrupted", "failed" or "cut short"
	Error         string        `json:"error,omitempty"`
	Environment   []NamedString `json:"environment"`
	// Machine is what record.End says of it.
	Machine map[string]float64 `json:"machine,omitempty"`
	// LinkUsed is what record.End says of the link.
	LinkUsed *record.LinkUsed `json:"link_used,omitempty"`

	Load   string `json:"load"`   // the same in words
	Design string `json:"design"` // likewise
	Holds  string `json:"holds"`  // what the figures hold for
}

// NamedString is a value by name.
type NamedString struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Metric is what a renderer must know of a metric.
type Metric struct {
	Name         string `json:"name"`
	Unit         string `json:"unit"`
	Label        string `json:"label"`
	Per          string `json:"per,omitempty"` // "call", or the item that calls move in bulk
	HigherBetter bool   `json:"higher_better"`
	Headline     bool   `json:"headline"`
	ByCall       bool   `json:"by_call,omitempty"` // a count that is shown by the call too
}

// Value is an estimate with its interval. What is not known is left out.
type Value struct {
	Unit  string   `json:"unit,omitempty"`
	Low   *float64 `json:"low,omitempty"`
	Value *float64 `json:"value,omitempty"`
	High  *float64 `json:"high,omitempty"`
	Exact bool     `json:"exact,omitempty"` // counted: Low and High are a range
	// Reason says why Value is left out.
	Reason string `json:"reason,omitempty"`
}

// Scenario is what was seen of one contender.
type Scenario struct {
	Stack         string            `json:"stack"` // with "#2" where it comes twice
	Factors       map[string]string `json:"factors"`
	Metrics       map[string]Value  `json:"metrics"`
	Tiers         []Tier            `json:"tiers,omitempty"` // of the server CPU per call, where there are several
	Phases        *Phases           `json:"phases,omitempty"`
	Calls         int               `json:"calls"`
	Items         int               `json:"items,omitempty"`       // that right calls moved
	NotStarted    int               `json:"not_started,omitempty"` // due, and without a slot to the end of its trial
	Errors        map[string]int    `json:"errors"`                // by class
	FirstError    string            `json:"first_error,omitempty"`
	Trials        int               `json:"trials"`
	TrialsFailed  int               `json:"trials_failed"`
	RoundsLeftOut int               `json:"rounds_left_out"`
}

// Tier is one server's part of the server CPU per call, or per item.
type Tier struct {
	Name   string `json:"name"`
	CPU    Value  `json:"cpu_per_call"`
	Varied bool   `json:"varied,omitempty"` // it answers the calls that the compared stacks carry
	// Ratio is to the baseline's same tier: an estimate that is not judged.
	Ratio *Value `json:"ratio,omitempty"`
}

// Comparison is one metric of one stack against the baseline's.
type Comparison struct {
	Metric   string `json:"metric"`
	Stack    string `json:"stack"`
	Baseline string `json:"baseline"`
	Ratio    Value  `json:"ratio"`
	// Confidence is that of Ratio by itself: the level at which it was judged
	// within its family. It is 1 where the metric is exact.
	Confidence float64 `json:"confidence,omitempty"`
	Verdict    string  `json:"verdict"` // higher, lower, same, unclear or withheld
	Better     *bool   `json:"better,omitempty"`
	Sentence   string  `json:"sentence"`
	Needs      *Needs  `json:"needs,omitempty"`
}

// Needs is what a clear verdict would take.
type Needs struct {
	Detects *float64 `json:"detects"` // the least difference that this run could tell, as a share
	Target  float64  `json:"target"`
	// Blocks such as this run's would tell Target, and take UnderLoadS. Both
	// are left out where no number of them is sure to.
	Blocks     *float64 `json:"blocks,omitempty"`
	UnderLoadS *float64 `json:"under_load_s,omitempty"`
	Flags      string   `json:"flags,omitempty"` // that ask for them, where it is no more than an hour
}

// Factorial parts a ratio among the factors in which two stacks differ.
type Factorial struct {
	Metric      string   `json:"metric"`
	Stack       string   `json:"stack"`
	Baseline    string   `json:"baseline"`
	Ratio       Value    `json:"ratio"`
	Effects     []Effect `json:"effects"`
	Interaction *Value   `json:"interaction,omitempty"`
	Sentence    string   `json:"sentence"`
}

// Effect is one factor's part; the parts multiply to the whole.
type Effect struct {
	Factor string   `json:"factor"`
	From   string   `json:"from"`
	To     string   `json:"to"`
	With   []string `json:"with,omitempty"` // settings that change with it, other than by their defaults
	Ratio  Value    `json:"ratio"`
}

// Finding is something that a reader must know beside the numbers.
type Finding struct {
	Code   string `json:"code"`
	Stack  string `json:"stack,omitempty"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

// LeftOut is a stack that was asked for and not run.
type LeftOut = record.Omission
