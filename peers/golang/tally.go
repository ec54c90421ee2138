package golang

import (
	"time"

	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/rpc"
)

// fill is the share of a trial that fills the pipeline and counts for nothing
// but work done.
const fill = 0.1

// tally keeps one trial's observations, a list for each slot, so that to record
// costs one append and no slot waits for another.
type tally struct{ slots [][]load.Observation }

// newTally makes room for an expected number of calls.
func newTally(slots, expected int) *tally {
	t := &tally{slots: make([][]load.Observation, slots)}
	for i := range t.slots {
		t.slots[i] = make([]load.Observation, 0, 2*expected/slots+16)
	}
	return t
}

// Record implements load.Recorder.
func (t *tally) Record(slot int, o load.Observation) { t.slots[slot] = append(t.slots[slot], o) }

// each visits every observation.
func (t *tally) each(visit func(load.Observation)) {
	for _, slot := range t.slots {
		for _, o := range slot {
			visit(o)
		}
	}
}

// sum adds the observations up. The window that counts begins after the fill
// and ends with the last start, when the pipeline begins to drain.
// Items says how many items a call moves, by its number.
func (t *tally) sum(open bool, items func(n int) int) *record.Load {
	var lastStart, lastEnd time.Duration
	t.each(func(o load.Observation) {
		lastStart, lastEnd = max(lastStart, o.Start), max(lastEnd, o.End)
	})
	s := tallied{
		Load: &record.Load{Errors: make(map[string]int), Latency: record.NewHistogram()},
		from: time.Duration(fill * float64(lastStart)),
		to:   lastStart, items: items,
	}
	s.Seconds, s.WindowS = lastEnd.Seconds(), (s.to - s.from).Seconds()
	if open {
		late := record.NewHistogram()
		s.Lateness = &late
	}
	t.each(s.add)
	return s.Load
}

// tallied is a sum under way.
type tallied struct {
	*record.Load
	from, to time.Duration
	items    func(n int) int
}

func (t *tallied) add(o load.Observation) {
	t.Calls++
	within := max(0, min(o.End, t.to)-max(o.Start, t.from))
	t.BusyS += within.Seconds()
	if o.Err != nil {
		t.Errors[rpc.Class(o.Err)]++
		if t.FirstError == "" {
			t.FirstError = o.Err.Error()
		}
		return
	}
	t.OK++
	if n := t.items(o.N); n > 0 {
		t.Items += n
		t.WindowItems += float64(n) * within.Seconds() / max(o.End-o.Start, 1).Seconds()
	}
	if o.End > t.from && o.End <= t.to {
		t.WindowCalls++
	}
	if o.Intended < t.from {
		return
	}
	t.Latency.Record(o.End - o.Intended)
	if t.Lateness != nil && o.Waited {
		t.Lateness.Record(o.Start - o.Intended)
	}
}
