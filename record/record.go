// Package record is the results file: what a run was, and what each trial
// measured, as JSON Lines. Drivers and servers report in its types, runner
// appends them, stats reads them. It opens no file and reads no clock.
//
// A file is one Header line, then Block, Trial, Profile and End lines in the
// order of events. Values are in base units (seconds, bytes, calls); a reader
// must skip kinds of line and fields that it does not know.
package record

import (
	"strings"
	"time"
)

// Format is the version of the file that this package writes. It grows only
// when a reader of the older one would misread the newer.
const Format = 1

// The kinds of driver.
const (
	Native = "native" // the stack's own client library
	Lean   = "lean"   // prepared bytes, at the least cost
)

// Line is one line of a results file: exactly one field is set.
type Line struct {
	Header *Header `json:"header,omitempty"`
	Block  *Block  `json:"block,omitempty"`
	Trial  *Trial  `json:"trial,omitempty"`
	End    *End    `json:"end,omitempty"`
	// Profile comes after the trials of its block.
	Profile *Profile `json:"profile,omitempty"`
}

// Header says what the run is.
type Header struct {
	Format      int               `json:"format"`
	Version     string            `json:"version"` // of tare
	Started     time.Time         `json:"started"`
	Command     []string          `json:"command"` // what was typed, as words, with the seed that was drawn
	Workload    string            `json:"workload"`
	Leg         string            `json:"leg"`
	Path        []string          `json:"path"`        // a sentence for each tier: who calls it over what
	VariedTier  *int              `json:"varied_tier"` // which tier the compared stacks' calls reach, from 0; nil in files that do not say
	Params      map[string]string `json:"params"`
	Store       string            `json:"store"`
	Link        *Link             `json:"link,omitempty"`     // between the caller and the server of the varied leg; nil for loopback
	Driver      string            `json:"driver"`             // Native or Lean
	InFlight    int               `json:"in_flight"`          // callers of a closed loop, slots of an open one
	Admit       int               `json:"admit,omitempty"`    // calls that a server works for at once, and as many that wait; 0 in files that do not say
	Rate        float64           `json:"rate,omitempty"`     // arrivals per second of an open loop
	Arrivals    string            `json:"arrivals,omitempty"` // constant or poisson, of an open loop
	TimeoutS    float64           `json:"timeout_s"`          // deadline of a call
	Seed        uint64            `json:"seed"`
	SliceS      float64           `json:"slice_s,omitempty"` // a trial's length, where time ends it
	Calls       int               `json:"calls,omitempty"`   // the work of each scenario, where work ends it
	Blocks      int               `json:"blocks"`            // as planned
	Rounds      int               `json:"rounds"`            // of a block, as planned
	Precision   float64           `json:"precision,omitempty"`
	Margin      float64           `json:"margin"`
	PhasesS     float64           `json:"phases_s,omitempty"` // length of the profiled trial at the end of a block; 0 for none
	Baseline    string            `json:"baseline"`           // a scenario's name
	Scenarios   []Scenario        `json:"scenarios"`
	Item        string            `json:"item,omitempty"`    // what calls move in bulk, in the singular: rates and costs are by the item; "": by the call
	Streams     bool              `json:"streams,omitempty"` // the driver's calls are streams, of which there are fewer and longer ones
	Workers     int               `json:"workers,omitempty"` // processors that each server process was to use at once; 0: all
	LeftOut     []Omission        `json:"left_out,omitempty"`
	Pinned      Pinned            `json:"pinned,omitzero"`
	Environment map[string]string `json:"environment"`
	Libraries   map[string]string `json:"libraries"` // module path to version, of what is under test

	// RateShare is set where Rate is that share of Pilot's throughput.
	RateShare float64 `json:"rate_share,omitempty"`
	Pilot     *Pilot  `json:"pilot,omitempty"`
	// Sweep is set where the run is one point of several.
	Sweep *Sweep `json:"sweep,omitempty"`
}

// Pinned says which processors processes may run on; where none are given, on any.
type Pinned struct {
	Driver  []int `json:"driver"`
	Servers []int `json:"servers"` // of all tiers
}

// Pilot is what a short closed loop found before the run: the most that every
// stack can carry.
type Pilot struct {
	Stack      string  `json:"stack"`      // a scenario's name: the slowest
	Throughput float64 `json:"throughput"` // its calls/s
}

// Sweep says which point of a sweep a run is: runs that differ in one thing.
type Sweep struct {
	Axis  string `json:"axis"`  // what differs, as it was typed: "in-flight", "param.NAME"; of two axes that are crossed, both, as Crossed has them
	Value string `json:"value"` // of this run, as it was typed; a link is spelled out; likewise both
	Index int    `json:"index"` // from 0
	Of    int    `json:"of"`    // values asked for
	// Ordered says that the values ascend: there is something between two of them.
	Ordered bool `json:"ordered,omitempty"`
	// Parts are the axes one by one where several are crossed, the slowest to
	// change first.
	Parts []Part `json:"parts,omitempty"`
}

// Part is one axis of a sweep that crosses several, and its value.
type Part struct {
	Axis  string `json:"axis"`
	Value string `json:"value"`
}

// Crossed joins the axes of a sweep that crosses them, and likewise their values.
const Crossed = " × "

// String names the point: "in-flight=4", "leg=write, workers=1".
func (s Sweep) String() string {
	if len(s.Parts) == 0 {
		return s.Axis + "=" + s.Value
	}
	var said []string
	for _, p := range s.Parts {
		said = append(said, p.Axis+"="+p.Value)
	}
	return strings.Join(said, ", ")
}

// Scenario is one contender. Its index in Header.Scenarios is its number.
type Scenario struct {
	Name    string            `json:"name"`    // the stack, with "#2" where it comes twice
	Stack   string            `json:"stack"`   // as users spell it
	Factors map[string]string `json:"factors"` // axis to level: "protocol", "codec", "compressor", and each setting
	// Transport says how the stack's calls travel; nil where nothing is known
	// of it.
	Transport *Transport `json:"transport,omitempty"`
	Remark    string     `json:"remark,omitempty"` // what a reader who takes its codec for another must know
}

// Transport is how a stack's calls travel, as its client is built.
type Transport struct {
	HTTP         string `json:"http,omitempty"`    // version; "" where it is not HTTP
	HTTPBy       string `json:"http_by,omitempty"` // the setting that chooses it; "" where there is no choice
	Conns        int    `json:"conns"`             // that a client keeps; 0 where each call has its own
	CallsPerConn int    `json:"calls_per_conn"`    // that one connection is good for at a time
}

// Given names the settings that the stack's spelling gives, each after an "@".
// All others are at their defaults.
func (s Scenario) Given() []string {
	var out []string
	for i, word := range strings.Split(s.Stack, "@") {
		if name, _, ok := strings.Cut(word, "="); ok && i > 0 {
			out = append(out, name)
		}
	}
	return out
}

// Omission is a cell of the experiment that is not run.
type Omission struct {
	Stack  string `json:"stack"`
	Reason string `json:"reason"`
}

// Block begins a run of rounds on processes that were started for it.
type Block struct {
	Index   int         `json:"index"`
	Warmups []Warmup    `json:"warmups"` // by scenario
	Peers   [][]Process `json:"peers"`   // by scenario: the driver, then each tier
	// Payloads are samples of what the calls carry, by scenario; empty where
	// drivers take none.
	Payloads []Payload `json:"payloads,omitempty"`
}

// Payload sums up a sample of encoded messages, before any compression of the
// stack's own.
type Payload struct {
	Messages int   `json:"messages"`
	Bytes    int64 `json:"bytes"`
	Gzipped  int64 `json:"gzipped_bytes"` // each message by itself
}

// Warmup is what was done before the first trial and enters no result.
type Warmup struct {
	Calls   int     `json:"calls"`
	Seconds float64 `json:"seconds"`
	Level   bool    `json:"level"` // whether the rate had levelled off when time was up
}

// Process is one peer of a scenario.
type Process struct {
	Role    string `json:"role"` // "driver", or the tier's name
	PID     int    `json:"pid"`
	Runtime string `json:"runtime"`
	Addr    string `json:"addr,omitempty"`
	Workers int    `json:"workers,omitempty"` // processors that it keeps to; 0 where it does not say that it keeps to any number
}

// Trial is one scenario loaded for one slice.
type Trial struct {
	Block    int     `json:"block"`
	Round    int     `json:"round"`    // counted through the whole run
	Position int     `json:"position"` // within the round, from 0
	Scenario int     `json:"scenario"`
	Seed     uint64  `json:"seed"`
	AtS      float64 `json:"at_s"` // since Header.Started
	Load     *Load   `json:"load,omitempty"`
	// CPU and memory of each process over the trial, in Block.Peers' order.
	Processes []Usage `json:"processes,omitempty"`
	// Wire counts the leg that the stack varies, over the trial, at the
	// caller's socket and again at the server's.
	Wire    Wire `json:"wire"`
	WireFar Wire `json:"wire_far"`
	// Failed says why the trial gave no Load; it is left out, and counted.
	Failed string `json:"failed,omitempty"`
}

// Load is what a driver observed in one trial.
//
// Every call begun is counted in Calls and, if it failed, in Errors by its
// class. The first tenth of a trial fills the pipeline: WindowCalls and WindowS
// leave it out, and so do both histograms. Failed calls enter no histogram.
type Load struct {
	Calls       int            `json:"calls"`
	OK          int            `json:"ok"`
	NotStarted  int            `json:"not_started"` // due, and still waiting for a slot at the end
	Errors      map[string]int `json:"errors,omitempty"`
	FirstError  string         `json:"first_error,omitempty"`
	Seconds     float64        `json:"seconds"`            // from the trial's start, when its first call may begin, to the last end
	WindowS     float64        `json:"window_s"`           // the part that counts for throughput
	WindowCalls int            `json:"window_calls"`       // right answers that came within it
	BusyS       float64        `json:"busy_s"`             // summed over all calls, failed ones too: the time within the window that each was under way
	Latency     Histogram      `json:"latency"`            // from the intended start
	Lateness    *Histogram     `json:"lateness,omitempty"` // of the generator itself, in an open loop
	// Items are those that right calls moved, and WindowItems the part of them
	// that falls into the window, where each call's are taken to be spread evenly
	// over its time. Both are 0 where calls move none, or nobody counts them.
	Items       int     `json:"items,omitempty"`
	WindowItems float64 `json:"window_items,omitempty"`
	// Fed counts messages that were made while calls were under way, as those of
	// long streams are, which no driver holds in advance.
	Fed int `json:"fed,omitempty"`
	// Unprepared counts calls that had to be made up on the clock, because more
	// were made than had been prepared.
	Unprepared int `json:"unprepared,omitempty"`
}

// Usage is what a process has used: since it began, or over a trial.
type Usage struct {
	CPUUserS   float64 `json:"cpu_user_s"`
	CPUSystemS float64 `json:"cpu_system_s"`
	PeakRSS    int64   `json:"peak_rss_bytes"` // since it began, always
	Accepted   Wire    `json:"accepted"`       // at its listener
	Dialed     Wire    `json:"dialed"`         // at its dialer
}

// Wire counts what crossed sockets, as the application's reads and writes see
// it: without the headers of TCP and IP. Sent is what went toward the server,
// whichever side counted it.
type Wire struct {
	Conns    int64 `json:"conns"` // opened
	Sent     int64 `json:"sent_bytes"`
	Received int64 `json:"received_bytes"`
	// Open is how many connections were open when it was read, and no
	// difference between readings; 0 also where nobody counts them.
	Open int64 `json:"open_conns,omitempty"`
}

// End says how the run ended. A file without it was cut short.
type End struct {
	Reason string  `json:"reason"` // "complete", "precise", "interrupted" or "failed"
	Error  string  `json:"error,omitempty"`
	AtS    float64 `json:"at_s"`
	// Machine is what was read of the machine when the last process had ended,
	// by the names below; what could not be read is left out.
	Machine map[string]float64 `json:"machine,omitempty"`
	// Link is what the link has carried and used; nil where there was none.
	Link *LinkUsed `json:"link,omitempty"`
}

// Names in End.Machine. Shares are of the time of all processors, from before
// the first process of the run until after the last.
const (
	MachineLoad    = "load_1m"       // load average of the last minute
	MachineBusy    = "busy_share"    // neither idle nor stolen
	MachineOwn     = "own_share"     // the run's own processes, and tare
	MachineOthers  = "others_share"  // all other processes
	MachineSoftIRQ = "softirq_share" // interrupts, as far as no process is charged
	MachineSteal   = "steal_share"   // taken by the host of a virtual machine
)

// Sub gives what was used between an earlier reading and u.
func (u Usage) Sub(earlier Usage) Usage {
	u.CPUUserS -= earlier.CPUUserS
	u.CPUSystemS -= earlier.CPUSystemS
	u.Accepted = u.Accepted.Sub(earlier.Accepted)
	u.Dialed = u.Dialed.Sub(earlier.Dialed)
	return u
}

// CPU is the processor time of the process, user and system.
func (u Usage) CPU() float64 { return u.CPUUserS + u.CPUSystemS }

// Sub gives what crossed between an earlier reading and w.
func (w Wire) Sub(earlier Wire) Wire {
	return Wire{w.Conns - earlier.Conns, w.Sent - earlier.Sent, w.Received - earlier.Received, w.Open}
}

// Add gives what crossed both.
func (w Wire) Add(other Wire) Wire {
	return Wire{w.Conns + other.Conns, w.Sent + other.Sent, w.Received + other.Received, w.Open + other.Open}
}
