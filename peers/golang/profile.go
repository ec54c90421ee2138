package golang

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/peers/golang/phase"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/rpc"
)

// profiler samples the CPU of this process, of which there can be one at a time.
// Between start and stop a signal comes for every 10 ms of CPU that a thread
// uses; at all other times it costs nothing.
type profiler struct {
	rules   phase.Rules
	started bool
	failure error   // of the last start
	before  float64 // CPU that the kernel had charged at the start
	used    float64 // until the stop
	written bytes.Buffer
}

func (p *profiler) start() error {
	p.written.Reset()
	if p.failure = pprof.StartCPUProfile(&p.written); p.failure != nil {
		return fmt.Errorf("profile own CPU: %w", p.failure)
	}
	p.started = true
	u, err := readUsage()
	p.before = u.CPU()
	return err
}

// stop ends the samples. What it takes to write them down is not counted. It
// does nothing where nothing was started.
func (p *profiler) stop() error {
	if !p.started {
		return nil
	}
	u, err := readUsage()
	p.used = u.CPU() - p.before
	pprof.StopCPUProfile()
	p.started = false
	return err
}

// phases are those of what was sampled last.
func (p *profiler) phases() (*record.Phases, error) {
	switch {
	case p.failure != nil:
		return nil, fmt.Errorf("profile own CPU: %w", p.failure)
	case p.written.Len() == 0:
		return nil, errors.New("tell phases: no profile was begun")
	}
	phases, err := p.rules.Charge(&p.written)
	if err != nil {
		return nil, err
	}
	phases.CPUS = p.used
	return phases, nil
}

// profile begins or ends a profile of all that a server does.
func (s *Server) profile(what string) (*record.Phases, error) {
	switch what {
	case peer.ProfileBegin:
		return nil, s.profiler.start()
	case peer.ProfileEnd:
		if err := s.profiler.stop(); err != nil {
			return nil, err
		}
		return s.profiler.phases()
	}
	return nil, unknownProfile(what)
}

// profile has a driver's next trial profiled while it makes calls, or ends that.
func (d *driver) profile(what string) (*record.Phases, error) {
	switch what {
	case peer.ProfileBegin:
		d.profiled = true
		return nil, nil
	case peer.ProfileEnd:
		d.profiled = false
		return d.profiler.phases()
	}
	return nil, unknownProfile(what)
}

func unknownProfile(what string) error {
	return fmt.Errorf("profile %q: takes %s or %s", what, peer.ProfileBegin, peer.ProfileEnd)
}

// A goroutine bears one of these while it works.
var (
	towardNext = phase.TowardNext()
	noLabels   = context.Background()
)

// labelled marks what works for calls to the next tier, so that a profile can
// tell it from what works for the calls that are answered. A mark is a store
// into the goroutine, and with its removal takes 18 ns a call, whether a profile is taken or not:
// connections outlive trials, and what reads them bears the mark from its start.
type labelled struct{ protocol.Conn }

func (l labelled) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	pprof.SetGoroutineLabels(towardNext)
	defer pprof.SetGoroutineLabels(noLabels)
	return l.Conn.Handle(ctx, m, s)
}

// dialNext is dial for a server, with the mark on what dialling starts and on
// each call.
func dialNext(ctx context.Context, c catalog.Catalog, start peer.Start) (*upstream, error) {
	pprof.SetGoroutineLabels(towardNext)
	defer pprof.SetGoroutineLabels(noLabels)
	u, err := dial(ctx, c, start)
	if err == nil {
		u.conn = labelled{u.conn}
	}
	return u, err
}
