// Package peer is what the runner and its processes say to one another: one
// line of JSON each way over the process's standard input and output, logs on
// standard error. A process ends when its standard input does.
//
// It imports only record, whose types carry what was measured. The Go process
// that stands on the other side is in peers/golang; any language can stand
// there.
package peer

import "github.com/tare-bench/tare/record"

// Format is the version of these messages.
const Format = 1

// Roles of a process.
const (
	Serve = "serve" // answer one tier's service
	Drive = "drive" // make calls
)

// Start is the first line that a process is sent.
type Start struct {
	Format   int               `json:"format"`
	Role     string            `json:"role"`
	Workload string            `json:"workload"`
	Leg      string            `json:"leg"`
	Tier     string            `json:"tier,omitempty"`    // which to serve
	Params   map[string]string `json:"params,omitempty"`  // every parameter, defaults filled in
	Store    string            `json:"store,omitempty"`   // address of the store of a tier
	Stack    string            `json:"stack,omitempty"`   // that a server answers
	Listen   string            `json:"listen,omitempty"`  // where a server listens: host and port, port 0 for any; loopback, if empty. Elsewhere its caller cannot reach it
	Next     *Next             `json:"next,omitempty"`    // whom this process calls
	Driver   string            `json:"driver,omitempty"`  // native or lean
	InFlight int               `json:"in_flight"`         // calls that will be in flight at once
	TimeoutS float64           `json:"timeout_s"`         // deadline of a call
	Workers  int               `json:"workers,omitempty"` // processors that a server is to use at once; 0: all
	Admit    int               `json:"admit,omitempty"`   // calls that a server works for at once, and as many that wait; 0: its own choice
}

// Next says where the next tier is and how to call it.
type Next struct {
	Stack string `json:"stack"`
	Addr  string `json:"addr"`
}

// Ready is the first line that a process answers, once it can do its work.
type Ready struct {
	Format  int    `json:"format"`
	PID     int    `json:"pid"`
	Runtime string `json:"runtime"`        // "go1.26.8"
	Addr    string `json:"addr,omitempty"` // where a server listens
	// Workers repeats what was asked for, where the process keeps to it. One that
	// cannot leaves it out, and the report says so.
	Workers int    `json:"workers,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Request is each further line that a process is sent: one field is set.
type Request struct {
	Usage bool   `json:"usage,omitempty"`
	Probe bool   `json:"probe,omitempty"` // make the workload's probes, and say what came back
	Trial *Trial `json:"trial,omitempty"`
	// Profile is ProfileBegin or ProfileEnd.
	Profile string `json:"profile,omitempty"`
}

// A process may be asked where its own CPU goes: to begin a profile, which an
// empty Reply answers, and after one trial to end it, which Profile answers. A
// driver's profile is of the calls of that trial alone. A process that answers
// either with an Error is not asked on, and the report says that it does not
// tell.
const (
	ProfileBegin = "begin"
	ProfileEnd   = "end"
)

// Trial asks a driver to load for one slice.
type Trial struct {
	Seed      uint64  `json:"seed"`
	InFlight  int     `json:"in_flight"`
	DurationS float64 `json:"duration_s,omitempty"` // what ends the trial: time,
	AtLeast   int     `json:"at_least,omitempty"`   // but not before so many calls;
	Calls     int     `json:"calls,omitempty"`      // or exact work
	Rate      float64 `json:"rate,omitempty"`       // open loop: arrivals per second
	Arrivals  string  `json:"arrivals,omitempty"`   // constant or poisson
}

// Reply answers a Request with the field of the same name, or Error.
type Reply struct {
	Usage *record.Usage `json:"usage,omitempty"`
	Probe []Answer      `json:"probe,omitempty"`
	Trial *record.Load  `json:"trial,omitempty"`
	// Profile ends a profile, and is absent where it begins.
	Profile *record.Phases `json:"profile,omitempty"`
	// Payload comes with Probe, where the driver samples what its calls carry.
	Payload *record.Payload `json:"payload,omitempty"`
	Error   string          `json:"error,omitempty"`
}

// Answer is what came back of one probe.
type Answer struct {
	Call    string   `json:"call"`              // which, for a person
	Replies []string `json:"replies,omitempty"` // each as JSON; numbers keep every digit
	Code    string   `json:"code"`              // "OK", or the failure's name
	Message string   `json:"message,omitempty"`
	Wrong   string   `json:"wrong,omitempty"` // what the workload's own check says against it
	// Unanswered says that the call reached its deadline, or no server. It is
	// the last then: those after it would take as long.
	Unanswered bool `json:"unanswered,omitempty"`
}
