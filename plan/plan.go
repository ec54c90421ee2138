// Package plan designs the experiment: from what a person asks for and what the
// catalogue knows, every trial in order. It is pure: equal requests give equal
// plans, and a plan can be printed, tested and run elsewhere.
package plan

import (
	"errors"
	"slices"
	"time"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/workload"
)

// The words for a driver and for an open loop's arrivals; the first of each is
// the default.
const (
	Native   = record.Native
	Lean     = record.Lean
	Poisson  = "poisson"  // as independent users arrive
	Constant = "constant" // evenly spaced
)

// What New takes where a Request leaves a field at its zero value.
const (
	DefaultInFlight = 16
	DefaultSlots    = 128 // in flight, in an open loop
	// DefaultAdmit is of an open loop. A closed one is never refused: that its
	// callers wait is what it measures.
	DefaultAdmit   = 1024
	DefaultFor     = time.Minute
	DefaultBound   = 10 * time.Minute // For, where Precision ends the run
	DefaultBlocks  = 6
	DefaultTimeout = 10 * time.Second
	DefaultMargin  = 0.02
)

// Request is what a person asks for. Flags and a file give the same Request. A
// field at its zero value was not given.
type Request struct {
	Workload  string
	Leg       string            // the workload's first, if not given
	Params    map[string]string // those that were given
	Store     string            // address of the store
	Stacks    []string          // the workload's own choice, if none is given
	Baseline  string            // DefaultBaseline where it runs, else the first stack
	Driver    string            // Native or Lean
	Link      string            // emulated network on the varied leg, as package link spells it; loopback, if not given
	InFlight  int
	Workers   int           // processors that each server process may use at once; all, if not given
	Admit     int           // calls that a server works for at once, and as many that wait; what suits InFlight, if not given
	Rate      float64       // arrivals per second of an open loop
	RateShare float64       // in place of Rate: the share of what Pilot's request finds
	Pilot     *record.Pilot // what it found; nil before it has run
	Arrivals  string        // Poisson or Constant, of an open loop
	Calls     int           // exact work for each scenario
	For       time.Duration // time under load of all scenarios together; not with Calls
	Precision float64       // stop once every headline interval is ± this share; not with Calls
	Slice     time.Duration // a trial's length; not with Calls
	Blocks    int
	Timeout   time.Duration
	Seed      uint64
	Margin    float64
	Sweep     *record.Sweep // which point of a sweep it is; nil for a run by itself
	// Phases is the length of a profiled trial, of which each stack has one at
	// the end of a block. It is part of For, and beside Calls. 0: none; nil: what
	// suits For, and none with Calls.
	Phases *time.Duration
}

// Transport is how a stack's calls travel.
type Transport = record.Transport

// ErrLeftOut is wrapped by Facts' errors for a stack that is rightly spelled
// and cannot be had: fmt.Errorf("%w: REASON", plan.ErrLeftOut).
var ErrLeftOut = errors.New("left out")

// Facts is what a plan needs to know of the catalogue.
type Facts interface {
	// Workload gives what a workload says of itself; the error names those
	// that there are.
	Workload(name string) (workload.Spec, error)
	// Stack gives a stack's factors: axis to level, every setting included. A
	// stack that is misspelt is an error; one that cannot be had is an error
	// that wraps ErrLeftOut and says why.
	Stack(name string) (factors map[string]string, err error)
	// Able says why a stack cannot carry this leg of a workload with this
	// driver: an error that wraps ErrLeftOut; or nil.
	Able(stack string, leg workload.Leg, driver string) error
	// Transport says how a stack's calls travel with so many in flight; nil
	// where nothing is known of it.
	Transport(stack string, inFlight int) *Transport
	// Remark is what a reader who takes the stack's codec for another must
	// know, or "".
	Remark(stack string) string
	// DefaultBaseline is the stack that others are compared with unless the
	// request says otherwise.
	DefaultBaseline() string
}

// Plan is the whole experiment.
type Plan struct {
	Workload  string            `json:"workload"`
	Leg       string            `json:"leg"`
	Path      []string          `json:"path"`  // a sentence for each tier: who calls it over what
	Tiers     []Tier            `json:"tiers"` // in the order that a call passes them
	Params    map[string]string `json:"params"`
	Store     string            `json:"store"`
	Link      *link.Spec        `json:"link,omitempty"` // between the varied tier and its caller; nil for loopback
	Driver    string            `json:"driver"`
	InFlight  int               `json:"in_flight"`
	Item      string            `json:"item,omitempty"`    // what calls move in bulk, and costs are by; "": by the call
	Streams   bool              `json:"streams,omitempty"` // the driver's calls are streams
	Workers   int               `json:"workers,omitempty"` // processors that each server process may use at once; 0: all
	Admit     int               `json:"admit"`             // calls that a server works for at once, and as many that wait
	Rate      float64           `json:"rate,omitempty"`    // 0 too where RateShare waits for a Pilot
	RateShare float64           `json:"rate_share,omitempty"`
	Pilot     *record.Pilot     `json:"pilot,omitempty"`
	Arrivals  string            `json:"arrivals,omitempty"`
	Sweep     *record.Sweep     `json:"sweep,omitempty"`
	Timeout   time.Duration     `json:"timeout_ns"`
	Seed      uint64            `json:"seed"`
	Slice     time.Duration     `json:"slice_ns,omitempty"`  // 0 where exact work ends a trial
	Calls     int               `json:"calls,omitempty"`     // of each scenario, where work ends a trial
	Phases    time.Duration     `json:"phases_ns,omitempty"` // of a profiled trial; 0 where there is none
	Precision float64           `json:"precision,omitempty"`
	Margin    float64           `json:"margin"`
	Baseline  string            `json:"baseline"` // a scenario's name
	Scenarios []record.Scenario `json:"scenarios"`
	LeftOut   []record.Omission `json:"left_out,omitempty"`
	Notes     []string          `json:"notes,omitempty"` // where the plan is not what was asked, and what it will not tell
	Blocks    []Block           `json:"blocks"`
}

// Tier is one service of the leg, in a process of its own.
type Tier struct {
	Name string `json:"name"`
	// Stack carries the calls to it; "" for the scenario's own.
	Stack string `json:"stack,omitempty"`
}

// Block is a run of rounds on processes that were started for it.
type Block struct {
	Rounds []Round `json:"rounds"`
	// Profiled is one more round, whose trials tell where CPU goes and enter
	// no metric; nil for none.
	Profiled *Round `json:"profiled,omitempty"`
}

// Round is one trial of every scenario. Its seed is that of the calls, the same
// for each of them, and below 2^53: peers in every language read it from JSON.
type Round struct {
	Seed   uint64  `json:"seed"`
	Trials []Trial `json:"trials"`
}

// Trial is one scenario's turn.
type Trial struct {
	Scenario int           `json:"scenario"`
	Duration time.Duration `json:"duration_ns,omitempty"` // what ends it: time,
	AtLeast  int           `json:"at_least,omitempty"`    // but not before so many calls;
	Calls    int           `json:"calls,omitempty"`       // or exact work
}

// VariedTier is the index of the tier that the compared stacks' calls reach.
func (p *Plan) VariedTier() int {
	return slices.IndexFunc(p.Tiers, func(t Tier) bool { return t.Stack == "" })
}

// Serves says whether the leg has a tier of a name.
func (p *Plan) Serves(tier string) bool {
	return slices.ContainsFunc(p.Tiers, func(t Tier) bool { return t.Name == tier })
}

// RoundTrip is that of the link; 0 on loopback.
func (p *Plan) RoundTrip() time.Duration {
	if p.Link == nil {
		return 0
	}
	return p.Link.RoundTrip
}

// Trials counts the trials of all blocks but for the profiled ones.
func (p *Plan) Trials() int {
	var n int
	for _, b := range p.Blocks {
		for _, r := range b.Rounds {
			n += len(r.Trials)
		}
	}
	return n
}
