package calibrate

import (
	"context"
	"fmt"
	"time"

	"github.com/tare-bench/tare/calibrate/known"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// purse holds what a trial charges a server's calls against what the kernel says of
// the server's threads, while all processes stand still.
type purse struct {
	servers []int // processes, by scenario
	last    []time.Duration
	charged []float64 // CPU of the trials
	others  []float64 // of all threads but the one that spends
	calls   []float64
}

func (p *purse) look(line record.Line) error {
	switch {
	case line.Block != nil: // there is one
		for _, peers := range line.Block.Peers {
			used, err := others(peers[1].PID)
			if err != nil {
				return err
			}
			p.servers, p.last = append(p.servers, peers[1].PID), append(p.last, used)
		}
		n := len(p.servers)
		p.charged, p.others, p.calls = make([]float64, n), make([]float64, n), make([]float64, n)
	case line.Trial != nil && line.Trial.Load != nil:
		t := line.Trial
		used, err := others(p.servers[t.Scenario])
		if err != nil {
			return err
		}
		p.charged[t.Scenario] += t.Processes[1].CPU()
		p.others[t.Scenario] += (used - p.last[t.Scenario]).Seconds()
		p.calls[t.Scenario] += float64(t.Load.Calls)
		p.last[t.Scenario] = used
	}
	return nil
}

// others is what all threads of a process have used, but for the one that spends.
func others(pid int) (used time.Duration, err error) {
	threads, err := known.ThreadsCPU(pid)
	for _, thread := range threads {
		if thread.Name != known.SpenderThread {
			used += thread.CPU
		}
	}
	return used, err
}

// weighCPU: of what a call is charged with, that is known which one thread has
// spent on it, and nothing else. To compare with a server that spends nothing would
// be to weigh what spending does to the rest of a call, through caches that go cold
// and processors that fall asleep: of 200 µs some 12 µs more.
func weighCPU(ctx context.Context, s *Scale) ([]Reading, error) {
	spent := []time.Duration{50 * time.Microsecond, 200 * time.Microsecond}
	e := experiment{inFlight: plan.DefaultInFlight, slice: 500 * time.Millisecond, rounds: 6, blocks: 1}
	for _, d := range spent {
		e.stacks = append(e.stacks, s.laden("spend", d))
	}
	var p purse
	if _, err := s.run(ctx, e, p.look); err != nil {
		return nil, err
	}
	var out []Reading
	for i, d := range spent {
		each := (p.charged[i] - p.others[i]) / p.calls[i]
		r := near(fmt.Sprintf("server CPU per call, of which %v are spent", d), "s", d.Seconds(), each, 0.05*d.Seconds())
		r.Note = fmt.Sprintf("beside %.0f µs of the call's own", 1e6*p.others[i]/p.calls[i])
		out = append(out, r)
	}
	return out, nil
}
