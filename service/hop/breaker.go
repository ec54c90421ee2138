package hop

import (
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/tare-bench/tare/rpc"
)

// breaker is gobreaker's, which does not say how long it stays open.
type breaker struct {
	*gobreaker.TwoStepCircuitBreaker[struct{}]
	open    time.Duration
	started time.Time
	opened  atomic.Int64 // since started, when last it opened
}

// windowParts is in how many steps attempts leave the window.
const windowParts = 10

func newBreaker(p Breaker) *breaker {
	b := &breaker{open: p.Open, started: time.Now()}
	b.TwoStepCircuitBreaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests: uint32(p.Probes), Interval: p.Window, BucketPeriod: p.Window / windowParts, Timeout: p.Open,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			ended := c.TotalSuccesses + c.TotalFailures
			return ended >= uint32(p.AtLeast) && float64(c.TotalFailures) >= p.Share*float64(ended)
		},
		OnStateChange: func(_ string, _, to gobreaker.State) {
			if to == gobreaker.StateOpen {
				b.opened.Store(int64(time.Since(b.started)))
			}
		},
		IsSuccessful: func(err error) bool { return !down(err) },
		IsExcluded:   gone,
	})
	return b
}

// down says that the service did not answer. One that refuses work, or fails in
// it, is up.
func down(err error) bool {
	e := rpc.ErrorOf(err)
	return e != nil && (e.Code == rpc.Unavailable || e.Code == rpc.DeadlineExceeded)
}

// gone says of an attempt that its caller left, which tells nothing.
func gone(err error) bool {
	e := rpc.ErrorOf(err)
	return e != nil && e.Code == rpc.Canceled
}

// refusal is what a call gets that is not tried.
func (b *breaker) refusal() *rpc.Error {
	until := b.started.Add(time.Duration(b.opened.Load()) + b.open)
	return &rpc.Error{
		Code: rpc.Unavailable, RetryAfter: max(time.Until(until), tick),
		Message: "not tried: most of the last calls were not answered",
	}
}
