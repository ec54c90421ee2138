// Package link says what an emulated network between two sides is: how it is
// spelled, when a packet that enters it leaves it, and what a program needs of
// one that stands. It is pure: the links themselves are in the folders below it.
package link

import (
	"time"

	"github.com/tare-bench/tare/record"
)

// Spec is a link, the same in both directions.
type Spec struct {
	Rate      int64         // bits per second each way; 0 for no limit
	RoundTrip time.Duration // that the link adds, half of it each way
	Jitter    time.Duration // each way: the delay swings by up to so much, up and down
	Loss      float64       // share of packets lost, each way
	By        string        // the kind of link that is asked for; "" for the best that is permitted
}

// Kinds of link.
const (
	Tunnel = record.Tunnel // carries packets, so that TCP itself meets the link; takes privileges
	Relay  = record.Relay  // carries the bytes of connections; takes none, and has no loss
)

// Kinds are all of them, the better first.
var Kinds = []string{Tunnel, Relay}

// Preset is a link with a name.
type Preset struct {
	Name string
	Spec Spec
}

// Presets are all of them, the fastest first: within a building, between cities,
// and WebPageTest's connectivity profile "4G".
var Presets = []Preset{
	{"lan", Spec{Rate: 1e9, RoundTrip: 500 * time.Microsecond}},
	{"wan", Spec{Rate: 100e6, RoundTrip: 40 * time.Millisecond}},
	{"mobile", Spec{Rate: 9e6, RoundTrip: 170 * time.Millisecond}},
}

// May says whether a link of that kind is what s asks for.
func (s Spec) May(kind string) bool {
	return (s.By == "" || s.By == kind) && (s.Loss == 0 || kind != Relay)
}

// OneWay is what the link adds to a packet's way, beside its rate.
func (s Spec) OneWay() time.Duration { return s.RoundTrip / 2 }
