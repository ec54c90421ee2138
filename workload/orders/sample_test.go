package orders_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/orders"
)

func TestSamples(t *testing.T) {
	const batch, seed = 7, 3
	all := orders.Workload{}.Samples(batch, seed)
	if diff := cmp.Diff(messages(all[0]), messages(orders.Workload{}.Samples(batch, seed)[0])); diff != "" {
		t.Errorf("the same arguments give other records: %s", diff)
	}
	if cmp.Equal(messages(all[0]), messages(orders.Workload{}.Samples(batch, seed+1)[0])) {
		t.Error("another seed gives the same records")
	}
	ids := make(map[string]bool)
	for _, s := range all {
		for _, m := range s.Messages {
			items := 0
			switch m := m.(type) {
			case *orders.CreateOrderRequest:
				items, ids[m.OrderID] = 1, true
			case *orders.ListOrdersResponse:
				items = len(m.Orders)
				for _, o := range m.Orders {
					ids[o.OrderID] = true
					var total int64
					for _, l := range o.Lines {
						total += int64(l.Quantity) * l.UnitPriceMinor
					}
					if total != o.Total.MinorUnits {
						t.Errorf("order %s says that it comes to %d, and its lines to %d", o.OrderID, o.Total.MinorUnits, total)
					}
				}
			}
			if items != s.Items {
				t.Errorf("%s holds %d items, and is said to hold %d", s.Name, items, s.Items)
			}
		}
	}
	if want := len(all[0].Messages) + batch*len(all[1].Messages); len(ids) != want || len(all[0].Messages) < 2 || len(all[1].Messages) < 2 {
		t.Errorf("%d different orders, want %d", len(ids), want)
	}
}

func messages(s workload.Sample) []any { return s.Messages }
