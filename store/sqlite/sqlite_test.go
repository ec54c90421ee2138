package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/storetest"
)

func TestContract(t *testing.T) {
	for _, commit := range []string{"group", "each"} {
		t.Run(commit, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) store.Store {
				return opened(t, "sqlite:"+filepath.Join(t.TempDir(), "a#%41 b.db")+"?commit="+commit)
			})
		})
	}
}

func opened(t testing.TB, address string) *Store {
	t.Helper()
	s, err := Kind{}.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*Store)
}

func BenchmarkOrders(b *testing.B) {
	for _, commit := range []string{"group", "each"} {
		b.Run(commit, func(b *testing.B) {
			storetest.BenchmarkOrders(b, func(b *testing.B) store.Store {
				return opened(b, "sqlite:"+filepath.Join(b.TempDir(), "orders.db")+"?commit="+commit)
			})
		})
	}
}

// Two processes keep their records in one file.
func TestContractOfTwo(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		address := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
		return storetest.Alternate(opened(t, address), opened(t, address))
	})
}

func TestOutlivesItsProcess(t *testing.T) {
	for _, commit := range []string{"group", "each"} {
		t.Run(commit, func(t *testing.T) {
			storetest.Outlives(t, Kind{}, "sqlite:"+filepath.Join(t.TempDir(), "orders.db")+"?commit="+commit)
		})
	}
}
