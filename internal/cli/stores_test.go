package cli

import (
	"strings"
	"testing"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// A password reaches the store and nothing that is kept or shown.
func TestPasswordsOfStoresAreKeptFromRequests(t *testing.T) {
	const address = "postgres://u:sesame@host/db"
	a := &app{catalog: catalog.Default()}
	requests := []plan.Request{
		{Store: address, Sweep: &record.Sweep{Axis: "store", Value: address}},
		{},
	}
	swept := requests[0].Sweep
	addresses, err := a.takeStores(requests)
	if err != nil {
		t.Fatal(err)
	}
	if addresses[0] != address || addresses[1] != a.catalog.KeptIn {
		t.Errorf("stores at %q", addresses)
	}
	for _, shown := range []string{requests[0].Store, requests[0].Sweep.Value} {
		if strings.Contains(shown, "sesame") || !strings.Contains(shown, "host/db") {
			t.Errorf("%q is shown", shown)
		}
	}
	if swept.Value != address {
		t.Error("the point of another request was changed")
	}
}
