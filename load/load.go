// Package load makes calls at a pace and observes them. A call is a function:
// it knows no protocol, no workload and no file, and imports nothing of tare's.
//
// A closed loop starts a call when one ends; an open loop starts calls when a
// schedule says, and measures each from its intended start, so that a stall
// is charged to every call that was due during it.
package load

import (
	"context"
	"time"
)

// Op makes call n, from 0, in one of the loop's slots, from 0. Two calls never
// share a slot at one time.
type Op func(ctx context.Context, slot, n int) error

// Observation is one call, in time since the loop began. In a closed loop
// Intended equals Start.
type Observation struct {
	N                    int
	Intended, Start, End time.Duration
	Err                  error
	// Waited says that a slot was free when the call fell due, so that
	// Start - Intended is the generator's own lateness.
	Waited bool
}

// Recorder takes observations. Record is called concurrently, but never twice
// at a time for one slot.
type Recorder interface {
	Record(slot int, o Observation)
}

// Extent says when a loop stops starting calls.
type Extent struct {
	For     time.Duration // after this time,
	AtLeast int           // but not before so many calls;
	Exactly int           // or, where it is above 0, after just so many calls
}

// Clock is the loop's time.
type Clock interface {
	// Now is the time since some fixed moment.
	Now() time.Duration
	// WaitUntil returns at t, or when ctx ends.
	WaitUntil(ctx context.Context, t time.Duration)
}
