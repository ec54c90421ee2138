package postgres

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/postgres/postgrestest"
	"github.com/tare-bench/tare/store/storetest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }

// apart is the address of a schema of the test's own, which ends with it.
func apart(t testing.TB, server, options string) string {
	t.Helper()
	if !strings.Contains(server, "?") {
		server += "?"
	}
	if options != "" {
		server += "&" + options
	}
	address, err := Kind{}.Apart(server, fmt.Sprint(os.Getpid(), " ", t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := (Kind{}).Remove(context.Background(), address); err != nil {
			t.Error(err)
		}
	})
	return address
}

func opened(t testing.TB, address string) *Store {
	t.Helper()
	s, err := Kind{}.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return s.(*Store)
}

func TestContract(t *testing.T) {
	for _, commit := range []string{"commit=group", "commit=each"} {
		t.Run(commit, func(t *testing.T) {
			storetest.Run(t, func(t *testing.T) store.Store {
				return opened(t, apart(t, postgrestest.Address(t), commit))
			})
		})
	}
}

// Two processes keep their records in one schema.
func TestContractOfTwo(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		address := apart(t, postgrestest.Address(t), "")
		return storetest.Alternate(opened(t, address), opened(t, address))
	})
}

func TestOutlivesItsProcess(t *testing.T) {
	for _, commit := range []string{"commit=group", "commit=each"} {
		t.Run(commit, func(t *testing.T) {
			storetest.Outlives(t, Kind{}, apart(t, postgrestest.Address(t), commit))
		})
	}
}

func BenchmarkOrders(b *testing.B) {
	server := postgrestest.New(b)
	for _, commit := range []string{"commit=group", "commit=each"} {
		b.Run(commit, func(b *testing.B) {
			storetest.BenchmarkOrders(b, func(b *testing.B) store.Store {
				return opened(b, apart(b, server.Address(), commit))
			})
		})
	}
}
