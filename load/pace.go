package load

import (
	"iter"
	"sync/atomic"
	"time"
)

// Pace hands out the calls of one trial, numbered from 0, to whoever is free to
// make them: a closed loop's for as long as its Extent says, an open loop's as
// its schedule has them. It is safe for concurrent use and allocates nothing
// once made.
type Pace struct {
	extent Extent
	// due holds the arrivals of an open loop. They are worked out before the
	// trial, so that on the clock an arrival costs one look.
	due   []time.Duration
	open  bool
	until time.Duration // of an open loop
	next  atomic.Int64
}

// ClosedPace hands out calls at once, until extent is filled.
func ClosedPace(extent Extent) *Pace { return &Pace{extent: extent} }

// OpenPace hands out the arrivals of s that are due before d, in order. It
// draws them from s at once, off the clock.
func OpenPace(s iter.Seq[time.Duration], d time.Duration) *Pace {
	p := Pace{open: true, until: d}
	for due := range s {
		if due >= d {
			break
		}
		p.due = append(p.due, due)
	}
	return &p
}

// Take hands out the next call at now, a time since the trial began. The caller
// makes call n when it is due, which is now in a closed loop, and lies before
// or after now in an open one; it must be free to make it. Not ok says that
// the trial starts no further call.
func (p *Pace) Take(now time.Duration) (n int, due time.Duration, ok bool) {
	for {
		n := p.next.Load()
		due, ok := p.at(int(n), now)
		if !ok {
			return 0, 0, false
		}
		if p.next.CompareAndSwap(n, n+1) {
			return int(n), due, true
		}
	}
}

// at says whether call n may be handed out at now, and when it is due.
func (p *Pace) at(n int, now time.Duration) (due time.Duration, ok bool) {
	switch {
	case p.open:
		if n >= len(p.due) || now >= p.until {
			return 0, false
		}
		return p.due[n], true
	case p.extent.Exactly > 0:
		return now, n < p.extent.Exactly
	}
	return now, now < p.extent.For || n < p.extent.AtLeast
}

// Open says whether the trial is an open loop: whether calls may be due later
// than they are handed out.
func (p *Pace) Open() bool { return p.open }

// NotStarted gives how many arrivals of the trial were left once started calls
// had been started: 0 in a closed loop, where nothing is due.
func (p *Pace) NotStarted(started int) int { return max(0, len(p.due)-started) }
