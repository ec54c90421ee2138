package orders

import (
	"fmt"
	"testing"

	"github.com/tare-bench/tare/store"
)

// However many refusals there are to look at again, a payment that is known to
// be owed is kept.
func TestNoDebtIsDropped(t *testing.T) {
	w := newOwed()
	for n := range mostOwed + 1 {
		w.maybe(store.Order{ID: fmt.Sprint(n)})
	}
	w.now(store.Order{ID: "owed"})
	due := w.due(now())
	if len(w.orders) != mostOwed+1 || len(due) != 1 || due[0].ID != "owed" {
		t.Errorf("%d are kept and %v due, want %d and the one that is owed", len(w.orders), due, mostOwed+1)
	}
}
