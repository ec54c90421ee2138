package golang

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

const ms = time.Millisecond

// Two slots call back to back, 10 ms a call, for a second.
func steady() *tally {
	t := newTally(2, 200)
	for slot := range 2 {
		for n := range 100 {
			at := time.Duration(n) * 10 * ms
			t.Record(slot, load.Observation{N: 2*n + slot, Intended: at, Start: at, End: at + 10*ms})
		}
	}
	return t
}

func TestWindowLeavesOutTheFill(t *testing.T) {
	sum := steady().sum(false, none)
	if sum.Calls != 200 || sum.OK != 200 {
		t.Errorf("%d calls, %d right; all 200 count as work", sum.Calls, sum.OK)
	}
	// The last starts are at 990 ms; the fill is a tenth of that.
	if want := 0.891; math.Abs(sum.WindowS-want) > 1e-9 {
		t.Errorf("the window is %v s, want %v", sum.WindowS, want)
	}
	if want := 2 * 90; sum.WindowCalls != want { // ends at 100, 110 … 990 ms
		t.Errorf("%d calls in the window, want %d", sum.WindowCalls, want)
	}
	if got := sum.Latency.Count(); got != 2*90 { // begun at 100 … 990 ms
		t.Errorf("%d latencies, want %d", got, 2*90)
	}
	if sum.Lateness != nil {
		t.Error("a closed loop has no lateness")
	}
}

// Throughput times mean latency is the mean number in flight.
func TestLittlesLaw(t *testing.T) {
	sum := steady().sum(false, none)
	inFlight := sum.BusyS / sum.WindowS
	rate := float64(sum.WindowCalls) / sum.WindowS
	if law := rate * sum.Latency.Mean().Seconds(); math.Abs(law/inFlight-1) > 0.02 || math.Abs(inFlight-2) > 1e-9 {
		t.Errorf("%v in flight, and by Little's law %v; want 2", inFlight, law)
	}
}

func TestFailedCallsEnterNoHistogram(t *testing.T) {
	y := newTally(1, 10)
	for n := range 10 {
		o := load.Observation{N: n, Start: time.Duration(n) * ms, End: time.Duration(n+1) * ms}
		o.Intended = o.Start
		switch n {
		case 7:
			o.Err = fmt.Errorf("call: %w", context.DeadlineExceeded)
		case 8:
			o.Err = &rpc.Error{Code: rpc.Unavailable, Transport: rpc.Refused}
		case 9:
			o.Err = fmt.Errorf("%w: a field", rpc.ErrWrongAnswer)
		}
		y.Record(0, o)
	}
	sum := y.sum(false, none)
	want := map[string]int{"deadline_exceeded": 1, "refused": 1, "wrong_answer": 1}
	if fmt.Sprint(sum.Errors) != fmt.Sprint(want) || sum.OK != 7 || sum.Calls != 10 {
		t.Errorf("%d calls, %d right, %v", sum.Calls, sum.OK, sum.Errors)
	}
	if got := sum.Latency.Count(); got != 6 { // those begun at 1 … 6 ms
		t.Errorf("%d latencies, want 6", got)
	}
}

// An open loop counts from when a call was due; only calls that a free slot
// waited for tell the generator's own lateness.
func TestOpenLoopCountsFromDue(t *testing.T) {
	y := newTally(1, 2)
	y.Record(0, load.Observation{N: 0, Intended: 500 * ms, Start: 501 * ms, End: 901 * ms, Waited: true})
	y.Record(0, load.Observation{N: 1, Intended: 600 * ms, Start: 901 * ms, End: 1000 * ms})
	sum := y.sum(true, none)
	if got := sum.Latency.Max(); got.Round(ms) != 401*ms {
		t.Errorf("longest latency %v, want 401ms", got)
	}
	if got := sum.Latency.Quantile(0.5); got.Round(ms) != 400*ms {
		t.Errorf("latency of the call that waited %v, want 400ms from due", got)
	}
	if got := sum.Lateness.Max(); sum.Lateness.Count() != 1 || got.Round(ms) != ms {
		t.Errorf("%d latenesses up to %v, want one of 1ms", sum.Lateness.Count(), got)
	}
}

func TestVerdictOfACall(t *testing.T) {
	wrong := fmt.Errorf("%w: balance", rpc.ErrWrongAnswer)
	notFound := rpc.Errorf(rpc.NotFound, "none")
	for name, c := range map[string]struct {
		want    rpc.Code
		replies int
		wrong   error
		err     error
		class   string
	}{
		"right":                        {rpc.OK, 1, nil, nil, "ok"},
		"no reply":                     {rpc.OK, 0, nil, nil, "wrong_answer"},
		"a reply too many":             {rpc.OK, 2, nil, nil, "wrong_answer"},
		"a wrong reply":                {rpc.OK, 1, wrong, nil, "wrong_answer"},
		"failed":                       {rpc.OK, 0, nil, notFound, "not_found"},
		"failed as it should":          {rpc.NotFound, 0, nil, notFound, "ok"},
		"failed otherwise":             {rpc.Aborted, 0, nil, notFound, "wrong_answer"},
		"succeeded and should not":     {rpc.NotFound, 1, nil, nil, "wrong_answer"},
		"unreachable, and should fail": {rpc.NotFound, 0, nil, &rpc.Error{Code: rpc.Unavailable, Transport: rpc.Reset}, "wrong_answer"},
	} {
		s := session{call: &workload.Call{Want: c.want, Replies: 1}, replies: c.replies, wrong: c.wrong}
		if got := rpc.Class(s.verdict(c.err)); got != c.class {
			t.Errorf("%s: class %s, want %s", name, got, c.class)
		}
	}
}

// Once many calls have failed, or each slot's first was late, and none has
// succeeded, the rest of a trial would only take its time.
func TestHopelessTrialEnds(t *testing.T) {
	failure, late := errors.New("no"), fmt.Errorf("call: %w", context.DeadlineExceeded)
	for name, c := range map[string]struct {
		outcomes []error
		stopped  bool
	}{
		"all fail":               {[]error{failure, failure, failure}, true},
		"each slot's is late":    {[]error{late, late}, true},
		"one late, one failed":   {[]error{late, failure}, false},
		"late after a success":   {[]error{nil, late, late, late}, false},
		"one succeeded before":   {[]error{failure, nil, failure, failure, failure}, false},
		"not as many yet":        {[]error{failure, failure}, false},
		"more fail after a stop": {[]error{failure, failure, failure, failure, nil}, true},
	} {
		ctx, stop := context.WithCancel(t.Context())
		h := &hopeless{Recorder: newTally(1, 10), after: 3, slots: 2, stop: stop}
		for _, err := range c.outcomes {
			h.Record(0, load.Observation{Err: err})
		}
		if stopped := ctx.Err() != nil; stopped != c.stopped {
			t.Errorf("%s: stopped = %v", name, stopped)
		}
		stop()
	}
}

func TestUsageIsWhatTheKernelSays(t *testing.T) {
	before, err := readUsage()
	if err != nil {
		t.Fatal(err)
	}
	x := 1.0
	for i := range 20_000_000 {
		x += 1 / (x + float64(i))
	}
	after, err := readUsage()
	if err != nil {
		t.Fatal(err)
	}
	if used := after.Sub(before).CPU(); used <= 0 || x == 0 {
		t.Errorf("a loop of twenty million divisions used %v s", used)
	}
	if after.PeakRSS < 1<<20 {
		t.Errorf("peak memory of %d bytes", after.PeakRSS)
	}
	var none record.Usage
	if none.Sub(none) != none {
		t.Error("nothing less nothing is something")
	}
}

// none are the items of a call that moves none.
func none(int) int { return 0 }
