package golang

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/peers/golang/phase"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
)

// driver makes a workload's calls at its first tier.
type driver struct {
	start    peer.Start
	work     workload.Workload
	next     *upstream
	carry    carrier
	sampled  sample
	timeout  time.Duration
	fastest  float64 // calls per second of the fastest trial, to foretell the next
	profiler profiler
	profiled bool         // whether the next trial is
	onClock  record.Usage // CPU used while calls were made, and not on preparing and summing up
}

func drive(ctx context.Context, c catalog.Catalog, start peer.Start) (role, error) {
	w, err := c.Workload(start.Workload)
	if err != nil {
		return nil, err
	}
	d := &driver{
		start: start, work: w, timeout: time.Duration(start.TimeoutS * float64(time.Second)),
		profiler: profiler{rules: phase.NewRules(c, record.PhaseCheck)},
	}
	if d.next, err = dial(ctx, c, start); err != nil {
		return nil, err
	}
	if d.sampled.codec, err = nextCodec(c, start); err != nil {
		return nil, errors.Join(err, d.next.conn.Close())
	}
	if d.carry, err = newCarrier(ctx, c, d); err != nil {
		return nil, errors.Join(err, d.next.conn.Close())
	}
	return d, nil
}

func (d *driver) Addr() string         { return "" }
func (d *driver) Failed() <-chan error { return nil }
func (d *driver) Close() error         { return errors.Join(d.carry.close(), d.next.conn.Close()) }

func (d *driver) usage() (record.Usage, error) {
	u, err := readUsage()
	u.CPUUserS, u.CPUSystemS = d.onClock.CPUUserS, d.onClock.CPUSystemS
	u.Dialed = d.next.dialed.asCaller().Add(d.carry.wire())
	return u, err
}

// probe makes the workload's probes one after the other, through the stack's
// own client whichever driver will load.
func (d *driver) probe(ctx context.Context) ([]peer.Answer, error) {
	var answers []peer.Answer
	for i, call := range d.work.Probes(d.start.Leg, d.start.Params) {
		a := peer.Answer{Call: fmt.Sprintf("%s, probe %d", call.Method.Name, i+1)}
		s := session{keep: func(out any) {
			d.sampled.add(call.Method.Out, out)
			if call.Same != nil {
				out = call.Same(out)
			}
			text, err := json.Marshal(out)
			if err != nil {
				text = []byte(err.Error())
			}
			a.Replies = append(a.Replies, string(text))
		}}
		s.call = &call
		ctx, cancel := context.WithTimeout(ctx, max(d.timeout, probeWithin))
		err := d.next.conn.Handle(ctx, call.Method, &s)
		cancel()
		a.Code = rpc.OK.String()
		if e := rpc.ErrorOf(err); e != nil {
			a.Code, a.Message = e.Code.String(), e.Message
		}
		if wrong := s.verdict(err); wrong != nil {
			a.Wrong = wrong.Error()
		}
		a.Unanswered = unanswered(err)
		answers = append(answers, a)
		if a.Unanswered {
			break
		}
	}
	return answers, nil
}

// probeWithin is a probe's deadline where the calls' own is shorter: whether
// answers are right does not depend on how soon they come.
const probeWithin = 5 * time.Second

func unanswered(err error) bool {
	e := rpc.ErrorOf(err)
	return e != nil && (e.Code == rpc.DeadlineExceeded || e.Transport != rpc.NoFault)
}

// trial loads for one slice. What it does before and after the calls is
// charged to nobody.
func (d *driver) trial(ctx context.Context, t peer.Trial) (*record.Load, error) {
	expected := d.expect(t)
	src := newSource(d.work.Calls(d.start.Leg, setting.Values(d.start.Params), t.Seed), expected)
	defer src.close()
	if err := d.carry.ready(src.calls); err != nil {
		return nil, err
	}
	rec := newTally(t.InFlight, expected)
	if d.profiled {
		_ = d.profiler.start() // what it fails with is told when the profile ends; the trial goes on
	}
	before, err := readUsage()
	if err != nil {
		return nil, err
	}
	totals, err := d.load(ctx, t, src, rec)
	if err := errors.Join(err, d.profiler.stop()); err != nil {
		return nil, err
	}
	after, err := readUsage()
	if err != nil {
		return nil, err
	}
	used := after.Sub(before)
	d.onClock.CPUUserS += used.CPUUserS
	d.onClock.CPUSystemS += used.CPUSystemS
	sum := rec.sum(t.Rate > 0, func(n int) int { return src.at(n).Items })
	sum.NotStarted, sum.Unprepared, sum.Fed = totals.NotStarted, src.unprepared(), d.carry.fed()
	d.fastest = max(d.fastest, float64(sum.Calls)/sum.Seconds)
	return sum, nil
}

// load runs the trial's calls. It gives up where none succeeds.
func (d *driver) load(ctx context.Context, t peer.Trial, src *source, rec load.Recorder) (load.Totals, error) {
	running, stop := context.WithCancel(ctx)
	defer stop()
	rec = &hopeless{Recorder: rec, after: max(t.InFlight, enough), slots: t.InFlight, stop: stop}
	totals, err := d.carry.run(running, t.InFlight, pace(t), src.at, rec)
	if running.Err() != nil { // given up, which shows in what was recorded
		err = nil
	}
	return totals, err
}

// expect foretells how many calls a trial will make, generously: what is
// missing must be made up on the clock.
func (d *driver) expect(t peer.Trial) int {
	const generous = 1.5 // over the fastest trial so far: a busy machine may fall quiet
	switch {
	case t.Calls > 0:
		return t.Calls
	case t.Rate > 0:
		return int(generous*t.Rate*t.DurationS) + t.InFlight
	}
	return max(int(generous*d.fastest*t.DurationS), t.AtLeast) + 2*t.InFlight
}
