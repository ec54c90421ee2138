package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
)

// facts is a small catalogue: stacks are slow+text, quick+text, quick+bits;
// "quick+rare" cannot be had, and "slow+bits" cannot carry the leg "deep".
type facts struct{}

func (facts) Workload(name string) (workload.Spec, error) {
	if name != "shop" {
		return workload.Spec{}, fmt.Errorf("no workload %q; there is shop", name)
	}
	return workload.Spec{
		Name: "shop",
		Legs: []workload.Leg{
			{Name: "whole", Tiers: []workload.Tier{
				{Name: "front", Stack: "slow+text"},
				{Name: "till", Stack: workload.Varied},
			}},
			{Name: "deep", Tiers: []workload.Tier{{Name: "till", Stack: workload.Varied}}},
			{Name: "bulk", Item: "ware", Tiers: []workload.Tier{{Name: "till", Stack: workload.Varied, Calls: []*rpc.Method{{Kind: rpc.Unary}}}}},
			{Name: "flood", Item: "ware", Tiers: []workload.Tier{{Name: "till", Stack: workload.Varied, Calls: []*rpc.Method{{Kind: rpc.ClientStream}}}}},
		},
		Params: []setting.Setting{setting.Int("rows", "rows of a call", 10, 1, 1000)},
		Stacks: []string{"slow+text", "quick+bits"},
		Slice:  100 * time.Millisecond,
	}, nil
}

func (facts) Stack(name string) (map[string]string, error) {
	p, c, ok := strings.Cut(name, "+")
	switch {
	case c == "rare":
		return nil, fmt.Errorf("%w: rare is not built in", plan.ErrLeftOut)
	case !ok || p != "slow" && p != "quick" || c != "text" && c != "bits":
		return nil, fmt.Errorf("no stack %q", name)
	}
	return map[string]string{"protocol": p, "codec": c}, nil
}

func (facts) Able(stack string, leg workload.Leg, driver string) error {
	if stack == "slow+bits" && leg.Name == "deep" {
		return fmt.Errorf("%w: slow has no streams", plan.ErrLeftOut)
	}
	return nil
}

func (facts) DefaultBaseline() string { return "slow+text" }

func mustNew(t testing.TB, r plan.Request) *plan.Plan {
	t.Helper()
	r.Workload = "shop"
	p, err := plan.New(r, facts{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestDefaults(t *testing.T) {
	p := mustNew(t, plan.Request{})
	if p.Leg != "whole" || p.Driver != plan.Native || p.InFlight != plan.DefaultInFlight ||
		p.Timeout != plan.DefaultTimeout || p.Margin != plan.DefaultMargin || p.Baseline != "slow+text" {
		t.Errorf("got %+v", *p)
	}
	if p.Params["rows"] != "10" {
		t.Errorf("rows = %q", p.Params["rows"])
	}
	// 60 s over 6 blocks of two stacks with slices of 0.1 s, a second of each profiled.
	if len(p.Blocks) != 6 || len(p.Blocks[0].Rounds) != 40 || p.Phases != time.Second {
		t.Errorf("%d blocks of %d rounds", len(p.Blocks), len(p.Blocks[0].Rounds))
	}
	if want := (plan.Trial{Scenario: p.Blocks[0].Rounds[0].Trials[0].Scenario, Duration: 100 * time.Millisecond, AtLeast: 160}); p.Blocks[0].Rounds[0].Trials[0] != want {
		t.Errorf("trial %+v", p.Blocks[0].Rounds[0].Trials[0])
	}
	want := []string{"driver → front: slow+text, in every stack", "front → till: the stack under comparison"}
	if diff := cmp.Diff(want, p.Path); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]plan.Tier{{Name: "front", Stack: "slow+text"}, {Name: "till"}}, p.Tiers); diff != "" {
		t.Error(diff)
	}
	if len(p.Notes) != 0 {
		t.Errorf("notes %q", p.Notes)
	}
}

func TestErrorsNameTheFlagAndWhatItTakes(t *testing.T) {
	for _, c := range []struct {
		r    plan.Request
		want string
	}{
		{plan.Request{Driver: "fast"}, "--driver fast: takes native or lean"},
		{plan.Request{InFlight: -1}, "--in-flight -1: takes 1 to 65536"},
		{plan.Request{Admit: -1}, "--admit -1: takes 1 to 65536"},
		{plan.Request{Rate: -1}, "--rate -1: takes calls per second"},
		{plan.Request{RateShare: 11}, "--rate 11: takes one rate: calls per second, or a share up to 1000 %"},
		{plan.Request{Arrivals: "poisson"}, "--arrivals poisson: takes poisson or constant, with --rate"},
		{plan.Request{Arrivals: "bursts", Rate: 1}, "--arrivals bursts: takes"},
		{plan.Request{Calls: -1}, "--calls -1: takes 1 to"},
		{plan.Request{Calls: 9, For: time.Minute}, "neither --for"},
		{plan.Request{Calls: 9, Precision: 0.1}, "nor --rate beside it"},
		{plan.Request{Calls: 9, Rate: 1}, "nor --rate beside it"},
		{plan.Request{For: time.Millisecond}, "--for 1ms: takes 1s to 168h"},
		{plan.Request{Precision: 3}, "--precision 3: takes a share"},
		{plan.Request{Slice: time.Millisecond}, "--slice 1ms: takes 10ms"},
		{plan.Request{Slice: time.Second, Rate: 10}, "at least 2s with --rate"},
		{plan.Request{Blocks: -6}, "--blocks -6: takes 1 to 1000"},
		{plan.Request{Timeout: time.Nanosecond}, "--timeout 1ns: takes 1ms"},
		{plan.Request{Margin: 2}, "--margin 2: takes a share"},
		{plan.Request{Leg: "sky"}, "--leg sky: shop takes whole or deep"},
		{plan.Request{Params: map[string]string{"rows": "many"}}, "--param rows=many: not a whole number (takes 1 to 1000)"},
		{plan.Request{Params: map[string]string{"cows": "1"}}, `--param no setting "cows"; there is rows`},
		{plan.Request{Stacks: []string{"slow+txet"}}, `--stacks slow+txet: no stack "slow+txet"`},
		{plan.Request{Baseline: "quick+text"}, "--baseline quick+text: takes slow+text or quick+bits"},
		{plan.Request{Calls: 100, Blocks: 6}, "--calls 100: is too few for --blocks 6; a trial takes at least 160 calls with 16 in flight"},
		{plan.Request{For: 100 * time.Hour, Slice: 10 * time.Millisecond}, "a longer --slice"},
	} {
		c.r.Workload = "shop"
		_, err := plan.New(c.r, facts{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want it to say %q", err, c.want)
		}
	}
	if _, err := plan.New(plan.Request{Workload: "shed"}, facts{}); err == nil || !strings.Contains(err.Error(), "there is shop") {
		t.Errorf("unknown workload: %v", err)
	}
	_, err := plan.New(plan.Request{Workload: "shop", Driver: "fast", Margin: 2}, facts{})
	if err == nil || !strings.Contains(err.Error(), "--driver") || !strings.Contains(err.Error(), "--margin") {
		t.Errorf("two flags are wrong, and the error is %v", err)
	}
}

func TestImpossibleStacksAreLeftOutWithTheReason(t *testing.T) {
	p := mustNew(t, plan.Request{Leg: "deep", Stacks: []string{"slow+bits", "quick+rare", "quick+text"}})
	if len(p.Scenarios) != 1 || p.Scenarios[0].Name != "quick+text" || p.Baseline != "quick+text" {
		t.Errorf("scenarios %v, baseline %s", p.Scenarios, p.Baseline)
	}
	got := fmt.Sprint(p.LeftOut)
	if want := "[{slow+bits slow has no streams} {quick+rare rare is not built in}]"; got != want {
		t.Errorf("left out %s, want %s", got, want)
	}

	_, err := plan.New(plan.Request{Workload: "shop", Stacks: []string{"quick+rare"}}, facts{})
	if err == nil || !strings.Contains(err.Error(), "none can run; quick+rare: rare is not built in") {
		t.Errorf("got %v", err)
	}
	_, err = plan.New(plan.Request{Workload: "shop", Stacks: []string{"quick+rare", "slow+text"}, Baseline: "quick+rare"}, facts{})
	if err == nil || !strings.Contains(err.Error(), "--baseline quick+rare: is left out: rare is not built in") {
		t.Errorf("got %v", err)
	}
	if errors.Is(err, plan.ErrLeftOut) {
		t.Error("an error of the request wraps ErrLeftOut")
	}
}

func TestAStackGivenTwiceIsTwoScenarios(t *testing.T) {
	p := mustNew(t, plan.Request{Stacks: []string{"slow+text", "quick+bits", "slow+text"}, Baseline: "slow+text#2"})
	var names []string
	for _, s := range p.Scenarios {
		names = append(names, s.Name)
	}
	if want := []string{"slow+text#1", "quick+bits", "slow+text#2"}; !slices.Equal(names, want) {
		t.Errorf("names %q", names)
	}
	if p.Baseline != "slow+text#2" {
		t.Errorf("baseline %s", p.Baseline)
	}
	if p := mustNew(t, plan.Request{Stacks: []string{"slow+text", "slow+text"}}); p.Baseline != "slow+text#1" {
		t.Errorf("default baseline %s", p.Baseline)
	}
}

func TestEachRoundHoldsEachScenarioOnceAndTheNextReversesIt(t *testing.T) {
	p := mustNew(t, plan.Request{Stacks: []string{"slow+text", "quick+bits", "quick+text", "slow+bits"}, Seed: 7})
	orders := make(map[string]bool)
	seeds := make(map[uint64]bool)
	for b, block := range p.Blocks {
		for i, r := range block.Rounds {
			order := scenariosOf(r)
			sorted := slices.Sorted(slices.Values(order))
			if !slices.Equal(sorted, []int{0, 1, 2, 3}) {
				t.Fatalf("block %d, round %d: %v", b, i, order)
			}
			if i%2 == 1 {
				back := scenariosOf(block.Rounds[i-1])
				slices.Reverse(back)
				if !slices.Equal(order, back) {
					t.Fatalf("block %d, round %d is %v, and no reverse of the one before", b, i, order)
				}
			}
			orders[fmt.Sprint(order)] = true
			if seeds[r.Seed] || r.Seed >= 1<<53 {
				t.Fatalf("block %d, round %d: seed %d again, or too long for JSON", b, i, r.Seed)
			}
			seeds[r.Seed] = true
		}
	}
	if len(orders) < 20 { // of 24 that there are, in 150 rounds
		t.Errorf("only %d orders", len(orders))
	}
}

func scenariosOf(r plan.Round) []int {
	var out []int
	for _, t := range r.Trials {
		out = append(out, t.Scenario)
	}
	return out
}

func TestEqualRequestsGiveEqualPlans(t *testing.T) {
	text := func(seed uint64) string {
		b, err := json.Marshal(mustNew(t, plan.Request{Seed: seed}))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if first, again := text(3), text(3); first != again {
		t.Error("equal requests, different plans")
	}
	orders := func(seed uint64) (out string) {
		for _, b := range mustNew(t, plan.Request{Seed: seed}).Blocks {
			for _, r := range b.Rounds {
				out += fmt.Sprint(scenariosOf(r))
			}
		}
		return out
	}
	if orders(3) == orders(4) {
		t.Error("the seed does not change the order")
	}
	if mustNew(t, plan.Request{Seed: 3}).Blocks[0].Rounds[0].Seed == mustNew(t, plan.Request{Seed: 4}).Blocks[0].Rounds[0].Seed {
		t.Error("the seed does not change the calls")
	}
}

func TestExactWorkIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := plan.Request{Workload: "shop", Calls: rapid.IntRange(1, 3_000_000).Draw(rt, "calls")}
		p, err := plan.New(r, facts{})
		if err != nil {
			rt.Fatal(err)
		}
		sum := make([]int, len(p.Scenarios))
		for _, b := range p.Blocks {
			for _, round := range b.Rounds {
				for _, trial := range round.Trials {
					sum[trial.Scenario] += trial.Calls
					if trial.Calls != round.Trials[0].Calls {
						rt.Fatalf("a round of %v", round.Trials)
					}
					if trial.Calls < min(160, r.Calls) || trial.Calls > 3000 || trial.Duration != 0 {
						rt.Fatalf("a trial of %+v", trial)
					}
				}
			}
		}
		for i, n := range sum {
			if n != r.Calls {
				rt.Fatalf("scenario %d makes %d calls of %d", i, n, r.Calls)
			}
		}
	})
}

func TestWhatIsNotAsAskedIsNoted(t *testing.T) {
	for _, c := range []struct {
		r    plan.Request
		want string
	}{
		{plan.Request{Blocks: 4}, "no verdict: that takes at least 5 blocks, and there are 4"},
		{plan.Request{Calls: 400}, "only 2 blocks, since a trial takes at least 160 calls with 16 in flight"},
		{plan.Request{Calls: 600, InFlight: 100}, "only 1 block, since a trial takes at least 1000 calls with 100 in flight"},
		{plan.Request{Calls: 600, InFlight: 100, Blocks: 1}, "--calls 600 gives each of 100 in flight fewer than 10"},
		{plan.Request{InFlight: 100}, "a trial takes at least 1000 calls with 100 in flight: it may last longer than its slice of 100ms"},
		{plan.Request{For: 43 * time.Second, Slice: time.Second, Phases: new(time.Duration(0))}, "fills 24s of --for 43s: a block holds rounds in pairs"},
		{plan.Request{For: time.Second}, "2.4s of load are needed for 2 rounds in each of 6 blocks; --for 1s is too short"},
		{plan.Request{Precision: 0.03}, "from the 5th on, once every headline interval is within ±3 %; the 10m0s of load are the most"},
	} {
		if got := strings.Join(mustNew(t, c.r).Notes, "\n"); !strings.Contains(got, c.want) {
			t.Errorf("notes %q, want %q", got, c.want)
		}
	}
}

func TestATrialTakesTurnsEnoughForAThroughput(t *testing.T) {
	for inFlight, want := range map[int]int{1: 50, 5: 50, 16: 160, 1000: 10_000} {
		timed := mustNew(t, plan.Request{InFlight: inFlight}).Blocks[0].Rounds[0].Trials[0]
		if timed.AtLeast != want {
			t.Errorf("%d in flight: at least %d calls, want %d", inFlight, timed.AtLeast, want)
		}
		work := mustNew(t, plan.Request{InFlight: inFlight, Calls: 100_000})
		for _, b := range work.Blocks {
			for _, r := range b.Rounds {
				if got := r.Trials[0].Calls; got < want {
					t.Errorf("%d in flight: a trial of %d calls, want at least %d", inFlight, got, want)
				}
			}
		}
	}
}

func TestEveryOrderHasItsReverse(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := plan.Request{Workload: "shop"}
		if rapid.Bool().Draw(rt, "by work") {
			r.Calls = rapid.IntRange(1, 3_000_000).Draw(rt, "calls")
		} else {
			r.For = time.Duration(rapid.IntRange(1, 300).Draw(rt, "seconds")) * time.Second
		}
		p, err := plan.New(r, facts{})
		if err != nil {
			rt.Fatal(err)
		}
		// One round alone is all that little work has.
		if n := len(p.Blocks[0].Rounds); n%2 != 0 && (r.Calls == 0 || n > 1) {
			rt.Fatalf("blocks of %d rounds", n)
		}
	})
}

func TestTheVariedTierIsToldToReaders(t *testing.T) {
	for leg, want := range map[string]int{"whole": 1, "deep": 0} {
		if got := mustNew(t, plan.Request{Leg: leg}).Header().VariedTier; got == nil || *got != want {
			t.Errorf("leg %s: varied tier %v, want %d", leg, got, want)
		}
	}
}

func TestPrecisionPlansManyBlocksToStopAt(t *testing.T) {
	p := mustNew(t, plan.Request{Precision: 0.03})
	if len(p.Blocks) != 60 || len(p.Blocks[0].Rounds) != 40 {
		t.Errorf("%d blocks of %d rounds", len(p.Blocks), len(p.Blocks[0].Rounds))
	}
	p = mustNew(t, plan.Request{Precision: 0.03, For: 10 * time.Second})
	if len(p.Blocks) != 5 {
		t.Errorf("%d blocks", len(p.Blocks))
	}
}

func TestOpenLoopsTakeLongerSlices(t *testing.T) {
	for rate, want := range map[float64]time.Duration{1000: 2 * time.Second, 10: 5 * time.Second} {
		p := mustNew(t, plan.Request{Rate: rate})
		trial := p.Blocks[0].Rounds[0].Trials[0]
		if p.Slice != want || trial.Duration != want || trial.AtLeast != 0 {
			t.Errorf("at %g calls/s: slice %s, trial %+v; want %s", rate, p.Slice, trial, want)
		}
		if p.Arrivals != plan.Poisson || p.InFlight != plan.DefaultSlots {
			t.Errorf("arrivals %s, %d in flight", p.Arrivals, p.InFlight)
		}
	}
}

func TestTextShowsWhatWillRun(t *testing.T) {
	got := mustNew(t, plan.Request{Stacks: []string{"slow+text", "quick+rare", "quick+bits"}, Seed: 1, Store: "cellar"}).String()
	const want = `workload  shop, leg whole
          driver → front: slow+text, in every stack
          front → till: the stack under comparison
params    rows=10
store     cellar
load      closed loop: 16 in flight
          each service works for 1024 calls at once, as many wait, more are refused
          native driver, deadline of 10s a call
design    6 blocks on fresh processes, of 40 rounds, of a trial of each stack
work      48s under load, a trial 100ms or 160 calls, whichever is longer
phases    12s more, a profiled trial of 1s of each stack at the end of each block; no other figure knows of them
verdict   against slow+text, with a margin of 2 %
seed      1
stacks    0  slow+text
          1  quick+bits
left out  quick+rare: rare is not built in
order     round 0: 1 0
          round 1: 0 1
          round 2: 0 1
          round 3: 1 0
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
