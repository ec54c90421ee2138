package plan_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/plan"
)

func TestProfiledTrialsTakeNoMoreThanTheirPart(t *testing.T) {
	ms, s := time.Millisecond, time.Second
	for name, c := range map[string]struct {
		r    plan.Request
		want time.Duration
	}{
		"a minute":                         {plan.Request{}, s},
		"half a minute":                    {plan.Request{For: 30 * s}, 500 * ms},
		"an hour":                          {plan.Request{For: time.Hour}, s},
		"too short for any":                {plan.Request{For: 2 * s}, 0},
		"asked for all the same":           {plan.Request{For: 2 * s, Phases: new(100 * ms)}, 100 * ms},
		"asked for more":                   {plan.Request{Phases: new(2 * s)}, 2 * s},
		"none asked for":                   {plan.Request{Phases: new(0 * s)}, 0},
		"until it is precise":              {plan.Request{Precision: 0.03}, s},
		"exact work":                       {plan.Request{Calls: 10_000}, 0},
		"exact work, asked for":            {plan.Request{Calls: 10_000, Phases: new(300 * ms)}, 300 * ms},
		"an open loop, of long slices":     {plan.Request{Rate: 100}, 0},
		"an open loop, with time for it":   {plan.Request{Rate: 100, For: 2 * time.Minute}, 2 * s},
		"of a rate that is not known yet":  {plan.Request{RateShare: 0.5, Phases: new(s)}, 2 * s},
		"an open loop, asked for a little": {plan.Request{Rate: 100, Phases: new(s)}, 2 * s},
	} {
		p := mustNew(t, c.r)
		if p.Phases != c.want || p.Header().PhasesS != c.want.Seconds() {
			t.Errorf("%s: %v, want %v", name, p.Phases, c.want)
		}
		for _, b := range p.Blocks {
			if (b.Profiled != nil) != (c.want > 0) {
				t.Fatalf("%s: profiled %+v", name, b.Profiled)
			}
			if b.Profiled == nil {
				continue
			}
			all := scenariosOf(*b.Profiled)
			slices.Sort(all)
			if !slices.Equal(all, []int{0, 1}) {
				t.Errorf("%s: profiles scenarios %v", name, all)
			}
			if trial := b.Profiled.Trials[0]; trial.Duration != c.want || trial.Calls != 0 || (trial.AtLeast > 0) != (p.Arrivals == "") {
				t.Errorf("%s: a profiled trial of %+v", name, trial)
			}
		}
		if asked := c.r.Phases; asked == nil && c.r.Calls == 0 && c.want > 0 && len(p.Notes) > 0 && p.Precision == 0 {
			t.Errorf("%s: %q", name, p.Notes)
		}
	}
	if pilot := plan.Pilot(plan.Request{RateShare: 0.5}); pilot.Phases == nil || *pilot.Phases != 0 {
		t.Errorf("a pilot tells phases: %v", pilot.Phases)
	}
	for _, wrong := range []time.Duration{-s, ms, 2 * time.Hour} {
		_, err := plan.New(plan.Request{Workload: "shop", Phases: &wrong}, facts{})
		if err == nil || !strings.Contains(err.Error(), "--phases "+wrong.String()+": takes 0s for none, or 50ms to 1h") {
			t.Errorf("%v: %v", wrong, err)
		}
	}
}

// Measured trials are the same, as far as there are as many, with profiled ones
// and without; and no two rounds make the same calls.
func TestProfiledTrialsChangeNoOther(t *testing.T) {
	with, without := mustNew(t, plan.Request{Calls: 20_000, Seed: 5, Phases: new(time.Second)}), mustNew(t, plan.Request{Calls: 20_000, Seed: 5})
	seen := map[uint64]bool{}
	for i := range with.Blocks {
		for _, r := range append(slices.Clone(with.Blocks[i].Rounds), *with.Blocks[i].Profiled) {
			if seen[r.Seed] || r.Seed >= 1<<53 {
				t.Fatalf("seed %d again, or too large", r.Seed)
			}
			seen[r.Seed] = true
		}
		with.Blocks[i].Profiled = nil
	}
	a, err := json.Marshal(with.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(without.Blocks)
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Error("the measured trials differ")
	}
}
