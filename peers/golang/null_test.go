package golang

import (
	"testing"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/setting"
)

func TestOwnCostCountsTheLoopsAllocations(t *testing.T) {
	c := catalog.Default()
	w := c.Workloads[0]
	params, err := setting.Resolve(w.Spec().Params, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, leg := range w.Spec().Legs {
		if len(leg.Tiers) > 1 {
			continue
		}
		const calls = 2000
		loop, whole, err := OwnCost(t.Context(), c, peer.Start{
			Workload: w.Spec().Name, Leg: leg.Name, Tier: leg.Tiers[0].Name, Params: params, Store: c.KeptIn,
		}, calls)
		if err != nil {
			t.Fatal(err)
		}
		if loop.Allocations > 100.0/calls {
			t.Errorf("the loop allocates %v for each call; want nothing", loop.Allocations)
		}
		if whole.Allocations < 1 { // the deadline of each call
			t.Errorf("with its deadline a call allocates %v; want 1 or more", whole.Allocations)
		}
		return
	}
	t.Error("no leg of one tier")
}
