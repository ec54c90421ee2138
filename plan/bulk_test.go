package plan_test

import (
	"strings"
	"testing"

	"github.com/tare-bench/tare/plan"
)

func TestAPlanSaysWhatItsCallsMoveAndWhatServersUse(t *testing.T) {
	p := mustNew(t, plan.Request{Leg: "flood", Workers: 1})
	if h := p.Header(); h.Item != "ware" || !h.Streams || h.Workers != 1 {
		t.Errorf("the header says %q, %v, %d", h.Item, h.Streams, h.Workers)
	}
	for _, want := range []string{"each server process uses 1 processor at once", "rates and costs are by the ware; latency is of a whole stream"} {
		if !strings.Contains(p.String(), want) {
			t.Errorf("no %q in %s", want, p)
		}
	}
	if p := mustNew(t, plan.Request{Leg: "bulk"}); p.Streams || p.Item != "ware" {
		t.Errorf("got %v, %q", p.Streams, p.Item)
	}
	if text := mustNew(t, plan.Request{}).String(); strings.Contains(text, "rates and costs") || strings.Contains(text, "processor") {
		t.Errorf("a plan by the call says so: %s", text)
	}
}

// Calls that move items say something of a trial that is hardly longer than they
// are: it needs fewer of them.
func TestATrialTakesFewCallsInBulk(t *testing.T) {
	for leg, want := range map[string]int{"whole": 50, "bulk": 6, "flood": 6} {
		if p := mustNew(t, plan.Request{Leg: leg, InFlight: 2}); p.Blocks[0].Rounds[0].Trials[0].AtLeast != want {
			t.Errorf("%s: at least %d calls, want %d", leg, p.Blocks[0].Rounds[0].Trials[0].AtLeast, want)
		}
	}
	p, err := plan.New(plan.Request{Workload: "shop", Leg: "flood", InFlight: 1, Calls: 36}, facts{})
	if err != nil || len(p.Blocks) != plan.DefaultBlocks || len(p.Blocks[0].Rounds) != 2 {
		t.Errorf("36 streams: %v, %v", p, err)
	}
}

// A driver holds the calls of a trial, which are large where they move items.
func TestTrialsOfExactWorkInBulkAreShort(t *testing.T) {
	for leg, want := range map[string]int{"deep": 1500, "bulk": 150} {
		p := mustNew(t, plan.Request{Leg: leg, Calls: 36_000, InFlight: 1})
		if got := p.Blocks[0].Rounds[0].Trials[0].Calls; got != want {
			t.Errorf("%s: a trial of %d calls, want %d", leg, got, want)
		}
	}
}

func TestLegsOfOtherUnitsAreNoSweep(t *testing.T) {
	_, err := plan.NewSeries(points("leg", []string{"bulk", "deep"}, func(r *plan.Request, _ int) { r.Leg = r.Sweep.Value }), facts{})
	if err == nil || !strings.Contains(err.Error(), "at leg=deep: costs are by the call, and at leg=bulk by the ware") {
		t.Errorf("got %v", err)
	}
	s, err := plan.NewSeries(points("leg", []string{"bulk", "flood"}, func(r *plan.Request, i int) { r.Leg, r.Workers = r.Sweep.Value, i }), facts{})
	if err != nil {
		t.Fatal(err)
	}
	if out := s.String(); !strings.Contains(out, "leg: 2 values") || !strings.Contains(out, "1 processor a server") {
		t.Error(out)
	}
}

func TestWorkersAreBounded(t *testing.T) {
	for _, n := range []int{-1, 1025} {
		if _, err := plan.New(plan.Request{Workload: "shop", Workers: n}, facts{}); err == nil || !strings.Contains(err.Error(), "--workers") {
			t.Errorf("%d: %v", n, err)
		}
	}
}
