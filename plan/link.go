package plan

import (
	"cmp"
	"fmt"
	"time"

	"github.com/tare-bench/tare/link"
)

// What a link asks of times. A call takes a round trip or more, and the first on
// a connection some more for its handshake.
const (
	tripsOfTimeout = 4
	tripsOfSlice   = 20 // of which the first tenth fills the pipeline
)

// findLink reads the link that r asks for; nil for loopback.
func findLink(r Request) (*link.Spec, error) {
	if r.Link == "" {
		return nil, nil
	}
	spec, err := link.Parse(r.Link)
	if err != nil {
		return nil, fmt.Errorf("--link %w", err)
	}
	timeout := cmp.Or(r.Timeout, DefaultTimeout)
	for _, c := range []struct {
		flag  string
		given time.Duration
		trips time.Duration
	}{{"--timeout", timeout, tripsOfTimeout}, {"--slice", r.Slice, tripsOfSlice}} {
		if least := c.trips * spec.RoundTrip; c.given > 0 && c.given < least {
			return nil, fmt.Errorf("%s %s: takes at least %d round trips of the link, %s", c.flag, c.given, c.trips, least)
		}
	}
	return &spec, nil
}
