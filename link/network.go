package link

import (
	"context"
	"errors"

	"github.com/tare-bench/tare/record"
)

// ErrNotPermitted is wrapped by the error of a kind of link that this user, or
// this machine, may not make.
var ErrNotPermitted = errors.New("not permitted")

// Network is a link that stands, between a near and a far side of one machine.
// It has as many methods as there are questions to a place where servers run; any
// number of goroutines may ask them.
type Network interface {
	// Start calls start, which starts a process, so that this process is on the
	// far side. It gives start's error.
	Start(start func() error) error
	// Listen is where a server on the far side is to listen, any port: its near
	// side and its neighbours reach it there.
	Listen() string
	// Reach gives the address at which the near side reaches, across the link, a
	// server that listens at addr on the far side; until ctx ends.
	Reach(ctx context.Context, addr string) (string, error)
	// Used says what the link has carried and used since it was made.
	Used() record.LinkUsed
	// Close ends the link and waits until nothing of it is left. Processes on
	// the far side are cut off.
	Close() error
}

// Record gives s for a results file: a link of that kind.
func (s Spec) Record(kind string) *record.Link {
	return &record.Link{
		Spec: s.String(), Kind: kind, Rate: float64(s.Rate), RoundTripS: s.RoundTrip.Seconds(),
		JitterS: s.Jitter.Seconds(), Loss: s.Loss,
	}
}
