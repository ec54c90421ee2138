// Package workloadtest is the contract of package workload as tests. It chains
// a leg's tiers in one process, handler to handler, so that a workload is held
// to it without any protocol; each workload's own test calls Run.
package workloadtest

import (
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/validate"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// Contract is a workload and what the tests must know of it.
type Contract struct {
	Workload workload.Workload
	// Store opens an empty store for one tier.
	Store func(t testing.TB) store.Store
	// Params are the parameters to test under, besides the defaults.
	Params []map[string]string
	// Instead are tested under in place of the defaults, where these make calls
	// too large to be looked into field by field.
	Instead map[string]string
	// ID gives what identifies a call's effect and must be unique to it, or ""
	// where it has none; nil where calls leave no trace.
	ID func(in any) string
	// Calls is how many calls of each leg are made: 500 where it is 0.
	Calls int
	// Drawn is how many calls are drawn from a seed to be compared: 100 where it
	// is 0.
	Drawn int
	// Alike are the legs whose calls are the same whatever the seed.
	Alike []string
}

// Run holds a workload to the contract.
func Run(t *testing.T, c Contract) {
	if c.Calls == 0 {
		c.Calls = 500
	}
	if c.Drawn == 0 {
		c.Drawn = 100
	}
	spec := c.Workload.Spec()
	t.Run("spec", func(t *testing.T) { testSpec(t, spec) })
	for _, given := range append([]map[string]string{c.Instead}, c.Params...) {
		params, err := setting.Resolve(spec.Params, given)
		if err != nil {
			t.Fatalf("resolve %v: %v", given, err)
		}
		for _, leg := range spec.Legs {
			l := legTest{c, leg, params}
			t.Run(fmt.Sprintf("%s/%v", leg.Name, given), func(t *testing.T) {
				t.Run("equal seeds give equal calls", l.equalSeeds)
				t.Run("no ID comes twice", l.uniqueIDs)
				t.Run("calls are answered rightly", l.answers)
				t.Run("probes are answered as they want", l.probes)
				t.Run("a reply with any field altered is refused", l.altered)
				t.Run("messages survive their mapping", l.mapping)
				t.Run("an ended context ends a call", l.ended)
			})
		}
	}
	t.Run("an unknown tier is refused", func(t *testing.T) {
		env := workload.Env{Tier: "no such tier", Store: c.Store(t)}
		if h, err := c.Workload.Handler(t.Context(), env); err == nil {
			t.Errorf("Handler gave %v; want an error", h)
		}
	})
}

func testSpec(t *testing.T, spec workload.Spec) {
	if spec.Name == "" || spec.About == "" || spec.Slice <= 0 || len(spec.Legs) == 0 || len(spec.Stacks) == 0 {
		t.Errorf("spec is not filled in: %+v", spec)
	}
	var legs []string
	for _, leg := range spec.Legs {
		if leg.Name == "" || leg.About == "" || slices.Contains(legs, leg.Name) {
			t.Errorf("leg %q has no name, none of its own, or no description", leg.Name)
		}
		legs = append(legs, leg.Name)
		varied := 0
		for _, tier := range leg.Tiers {
			if tier.Stack == workload.Varied {
				varied++
			}
			testService(t, tier)
		}
		if varied != 1 {
			t.Errorf("leg %s varies %d tiers; want 1", leg.Name, varied)
		}
	}
}

func testService(t *testing.T, tier workload.Tier) {
	if tier.Name == "" || tier.Stack == "" || tier.Service == nil || len(tier.Service.Methods) == 0 {
		t.Fatalf("tier is not filled in: %+v", tier)
	}
	if len(tier.Calls) == 0 {
		t.Errorf("tier %s does not say which methods its leg calls", tier.Name)
	}
	for _, m := range tier.Calls {
		if !slices.Contains(tier.Service.Methods, m) {
			t.Errorf("tier %s is called by %s, which its service has not", tier.Name, m.Name)
		}
	}
	for _, m := range tier.Service.Methods {
		if m.Route == "" {
			t.Errorf("method %s has no route", m.Name)
		}
		if m.Service != tier.Service.Name {
			t.Errorf("method %s says it is of service %s, not %s", m.Name, m.Service, tier.Service.Name)
		}
		for _, typ := range []*rpc.Type{m.In, m.Out} {
			if got := string(typ.NewProto().ProtoReflect().Descriptor().FullName()); got != typ.Name {
				t.Errorf("type %s makes messages of type %s", typ.Name, got)
			}
		}
	}
}

// legTest is a leg under some parameters.
type legTest struct {
	Contract
	leg    workload.Leg
	params setting.Values
}

func (l legTest) calls(seed uint64, n int) []workload.Call {
	calls := make([]workload.Call, 0, n)
	for c := range l.Workload.Calls(l.leg.Name, l.params, seed) {
		if calls = append(calls, c); len(calls) == n {
			break
		}
	}
	return calls
}

// chain gives the leg's first tier, each on a fresh store, behind the rules of
// its schema, and calling the next.
func (l legTest) chain(t testing.TB) rpc.Handler {
	t.Helper()
	var next rpc.Handler
	for _, tier := range slices.Backward(l.leg.Tiers) {
		rules, err := validate.New(tier.Service)
		if err != nil {
			t.Fatal(err)
		}
		h, err := l.Workload.Handler(t.Context(), workload.Env{
			Tier: tier.Name, Leg: l.leg.Name, Params: l.params, Store: l.Store(t), Next: next, Check: rules.Check,
		})
		if err != nil {
			t.Fatalf("start tier %s: %v", tier.Name, err)
		}
		if c, ok := h.(io.Closer); ok {
			t.Cleanup(func() { // after t.Context has ended
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		next = rules.Handler(h)
	}
	return next
}

// do makes a call, and gives its replies, or what is wrong with its outcome.
func do(ctx context.Context, h rpc.Handler, c workload.Call) (replies []any, err error) {
	err = rpc.Call(ctx, h, c.Method, c.In, func(out any) error {
		i := len(replies)
		replies = append(replies, out)
		return c.Check(i, out)
	})
	code := rpc.OK
	if err != nil {
		code = rpc.ErrorOf(err).Code
	}
	switch {
	case code != c.Want:
		return replies, fmt.Errorf("gave %v; want %v: %w", code, c.Want, rpc.ErrorOf(err))
	case len(replies) != c.Replies:
		return replies, fmt.Errorf("gave %d replies; want %d", len(replies), c.Replies)
	}
	return replies, nil
}
