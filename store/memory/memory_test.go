package memory

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		s, err := Kind{}.Open(t.Context(), Kind{}.Spec().Name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

// One hash for all keys: every row of a shard hangs on one chain.
func TestContractWhereHashesCollide(t *testing.T) {
	same := func(string) uint64 { return 7 }
	storetest.Run(t, func(*testing.T) store.Store {
		s := New()
		s.orders, s.payments = newTableOf(same), newTableOf(same)
		return s
	})
}

func TestOpenRefusesAnAddress(t *testing.T) {
	for _, address := range []string{"", "memory:", "memory://here", "disk"} {
		if s, err := (Kind{}).Open(t.Context(), address); err == nil {
			t.Errorf("Open(%q) = %v; want an error", address, s)
		}
	}
}

func TestTable(t *testing.T) {
	table := newTable()
	row := func(i int) []byte { return []byte(strings.Repeat(fmt.Sprint(i), i%5000)) }
	const rows = 2000 // several chunks a shard
	for i := range rows {
		key := fmt.Sprint("key ", i)
		table.shardOf(key).add(key, row(i))
	}
	for i := range rows {
		key := fmt.Sprint("key ", i)
		got, ok := table.shardOf(key).find(key)
		if !ok || string(got) != string(row(i)) {
			t.Fatalf("row %d: got %d bytes, %v; want %d", i, len(got), ok, len(row(i)))
		}
		if cap(got) != len(got) {
			t.Fatalf("row %d: an append to it would overwrite its neighbour", i)
		}
	}
	if _, ok := table.shardOf("key").find("key"); ok {
		t.Error("found a key that was never added")
	}
}

func BenchmarkPutOrder(b *testing.B) {
	s := New()
	o := store.Order{User: "Zoë Åkerström", Total: store.Money{Currency: "EUR", Minor: 2580}, Balance: store.Money{Currency: "EUR", Minor: 1e12}}
	for i := range 4 {
		o.Lines = append(o.Lines, store.OrderLine{SKU: fmt.Sprint("TEA-", i), Title: "Sencha 煎茶, 100 g", Quantity: 2, UnitPriceMinor: 1290})
	}
	ids := make([]string, b.N)
	for i := range ids {
		ids[i] = fmt.Sprintf("0197f3b2-2f6c-8d2a-b4aa-%012x", i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for _, id := range ids {
		o.ID = id
		if err := s.PutOrder(b.Context(), o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCharge(b *testing.B) {
	s := New()
	p := store.Payment{User: "Zoë Åkerström", Amount: store.Money{Currency: "EUR", Minor: 1}}
	ids := make([]string, b.N)
	for i := range ids {
		ids[i] = fmt.Sprintf("0197f3b2-2f6c-8d2a-b4aa-%012x", i)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for _, id := range ids {
		p.ID = id
		if _, err := s.Charge(b.Context(), p, 1e12); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCollect is one collection with a million orders and payments kept:
// what the store costs the process that holds it.
func BenchmarkCollect(b *testing.B) {
	s := New()
	lines := []store.OrderLine{{SKU: "TEA-1", Title: "Sencha 煎茶", Quantity: 2, UnitPriceMinor: 1290}, {SKU: "CUP-1", Title: "Tasse", Quantity: 1, UnitPriceMinor: 890}}
	for i := range 1_000_000 {
		id := fmt.Sprintf("0197f3b2-2f6c-8d2a-b4aa-%012x", i)
		if err := s.PutOrder(b.Context(), store.Order{ID: id, User: "Zoë Åkerström", Lines: lines}); err != nil {
			b.Fatal(err)
		}
		if _, err := s.Charge(b.Context(), store.Payment{ID: id, User: "Zoë Åkerström", Amount: store.Money{Minor: 1}}, 1e12); err != nil {
			b.Fatal(err)
		}
	}
	b.ResetTimer()
	for b.Loop() {
		runtime.GC()
	}
	runtime.KeepAlive(s)
}
