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
	Jitter    time.Duration // each way: a packet's delay varies evenly by up to so much, up and down
	Loss      float64       // share of packets lost, each way
	By        string        // the kind of link that is asked for; "" for the best that is permitted
}

// Kinds of link, the better first.
const (
	Tunnel = record.Tunnel
	Relay  = record.Relay
)

// Kinds lists them with a line for a person.
var Kinds = []struct{ Name, About string }{
	{Tunnel, "carries packets, so that TCP itself meets the link; needs root, or CAP_SYS_ADMIN and CAP_NET_ADMIN"},
	{Relay, "carries the bytes of connections; needs nothing, and has no loss"},
}

// Preset is a link with a name.
type Preset struct {
	Name  string
	Spec  Spec
	About string
}

// Presets are all of them, the fastest first.
var Presets = []Preset{
	{"lan", Spec{Rate: 1e9, RoundTrip: 500 * time.Microsecond}, "within a building"},
	{"wan", Spec{Rate: 100e6, RoundTrip: 40 * time.Millisecond}, "between cities"},
	{"mobile", Spec{Rate: 9e6, RoundTrip: 170 * time.Millisecond}, "WebPageTest's profile \"4G\""},
}

// May says whether a link of that kind is what s asks for.
func (s Spec) May(kind string) bool {
	return (s.By == "" || s.By == kind) && (s.Loss == 0 || kind != Relay)
}

// OneWay is what the link adds to a packet's way, beside its rate.
func (s Spec) OneWay() time.Duration { return s.RoundTrip / 2 }
