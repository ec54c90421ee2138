package plan

import (
	"cmp"
	"errors"
	"strconv"
	"time"
)

// PilotFor is the time under load of a pilot, all stacks together.
const PilotFor = 4 * time.Second

// ErrNoPilot says that a plan's rate is a share of what no pilot has measured: it
// can be shown, and not be run.
var ErrNoPilot = errors.New("the rate is a share of a throughput that no pilot has measured")

// Pilot is the request whose run says what RateShare is a share of: the same
// calls over the same stacks in a closed loop, for a few seconds. It gives no
// verdict, so that it needs no restarts.
func Pilot(r Request) Request {
	r.Pilot = nil
	r.Calls, r.Precision, r.Slice, r.Sweep = 0, 0, 0, nil
	r.For, r.Blocks, r.Phases = PilotFor, 1, new(time.Duration(0))
	return Saturating(r)
}

// Saturating is a request for a closed loop in place of r's open one.
func Saturating(r Request) Request {
	r.Rate, r.RateShare, r.Arrivals = 0, 0, ""
	r.InFlight = Saturation(cmp.Or(r.InFlight, DefaultInFlight), r.Admit)
	return r
}

// Saturation is how many calls in flight saturate what an open loop with so many
// slots is offered to: no more than services admit, where that is above 0. Slots
// that calls fill which are refused at once would each hold a call in a closed
// loop.
func Saturation(slots, admit int) int {
	if admit > 0 {
		slots = min(slots, admit)
	}
	return min(slots, DefaultSlots)
}

// open says whether r asks for an open loop.
func (r Request) open() bool { return r.Rate > 0 || r.RateShare > 0 }

// open says whether p is of an open loop, be its rate known or not.
func (p *Plan) open() bool { return p.Arrivals != "" }

// Ready is nil where p can be run, else ErrNoPilot.
func (p *Plan) Ready() error {
	if p.open() && p.Rate == 0 {
		return ErrNoPilot
	}
	return nil
}

// match sets the rate that is a share of what a pilot found.
func (p *Plan) match(r Request) {
	switch p.RateShare, p.Pilot = r.RateShare, r.Pilot; {
	case r.RateShare == 0:
		p.Pilot = nil
	case r.Pilot == nil:
		p.note("the rate is not known before a pilot has run: a closed loop of %s or somewhat more before the first trial, "+
			"of which the slowest stack's throughput counts", PilotFor)
	default:
		p.Rate = twoDigits(r.RateShare * r.Pilot.Throughput)
	}
}

// twoDigits rounds to two significant digits: a pilot of seconds knows no more.
func twoDigits(v float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 1, 64), 64)
	if err != nil {
		return v // only of what is no number, which stays so
	}
	return rounded
}

// pace is the rate in words.
func (p *Plan) pace() string {
	rate := strconv.FormatFloat(p.Rate, 'f', -1, 64) + " calls/s"
	share := strconv.FormatFloat(100*p.RateShare, 'g', 4, 64) + " %"
	switch {
	case p.Pilot != nil:
		return rate + ", " + share + " of what " + p.Pilot.Stack + " carried in a pilot"
	case p.Rate == 0:
		return share + " of what the slowest stack carries in a pilot"
	}
	return rate
}
