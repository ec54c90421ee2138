// Package plan designs the experiment: from what a person asks for and what the
// catalogue knows, every trial in order. It is pure: equal requests give equal
// plans, and a plan can be printed, tested and run elsewhere.
package plan

import (
	"time"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/workload"
)

// Request is what a person asks for. Flags and a file give the same Request.
type Request struct {
	Workload  string
	Leg       string            // "" for the workload's first
	Params    map[string]string // those that were given
	Store     string            // address of the store
	Stacks    []string          // none for the workload's own choice
	Baseline  string            // "" for DefaultBaseline where it runs, else the first stack
	Driver    string            // native or lean
	InFlight  int
	Rate      float64       // above 0 for an open loop
	Arrivals  string        // constant or poisson
	Calls     int           // above 0 for exact work for each scenario
	For       time.Duration // time under load of all scenarios together, where Calls is 0
	Precision float64       // above 0 to stop once every headline interval is ± this share
	Slice     time.Duration // above 0 to set a trial's length
	Blocks    int
	Timeout   time.Duration
	Seed      uint64
	Margin    float64
}

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
	// DefaultBaseline is the stack that others are compared with unless the
	// request says otherwise.
	DefaultBaseline() string
}

// Plan is the whole experiment.
type Plan struct {
	Workload  string            `json:"workload"`
	Leg       string            `json:"leg"`
	Path      []string          `json:"path"` // a sentence for each tier: who calls it over what
	Params    map[string]string `json:"params"`
	Store     string            `json:"store"`
	Driver    string            `json:"driver"`
	InFlight  int               `json:"in_flight"`
	Rate      float64           `json:"rate,omitempty"`
	Arrivals  string            `json:"arrivals,omitempty"`
	Timeout   time.Duration     `json:"timeout_ns"`
	Seed      uint64            `json:"seed"`
	Slice     time.Duration     `json:"slice_ns,omitempty"` // 0 where exact work ends a trial
	Calls     int               `json:"calls,omitempty"`    // of each scenario, where work ends a trial
	Precision float64           `json:"precision,omitempty"`
	Margin    float64           `json:"margin"`
	Baseline  string            `json:"baseline"` // a scenario's name
	Scenarios []record.Scenario `json:"scenarios"`
	LeftOut   []record.Omission `json:"left_out,omitempty"`
	Blocks    []Block           `json:"blocks"`
}

// Block is a run of rounds on processes that were started for it.
type Block struct {
	Rounds []Round `json:"rounds"`
}

// Round is one trial of every scenario. Its seed is that of the calls, the same
// for each of them.
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
