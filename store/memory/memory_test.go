package memory

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

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
		s.orders, s.payments, s.refunds = newTableOf(same), newTableOf(same), newTableOf(same)
		few := func(text string) uint64 { return uint64(crc32.ChecksumIEEE([]byte(text)) % 16) } // one would take minutes
		s.statements, s.visits = newVersionsOf(few), newVersionsOf(few)
		return s
	})
}

func TestOpenRefusesAnAddress(t *testing.T) {
	for _, address := range []string{"", "memory:", "memory://here", "disk"} {
		if s, err := (Kind{}).Open(t.Context(), address); err == nil {
			t.Errorf("Open(%q) = %v; want an error", address, s)
		}
		if apart, err := (Kind{}).Apart(address, "a"); err == nil {
			t.Errorf("Apart(%q) = %q; want an error", address, apart)
		}
	}
}

func TestTable(t *testing.T) {
	table := newTable()
	row := func(i int) []byte { return []byte(strings.Repeat(fmt.Sprint(i), i%5000)) }
	const rows = 2000 // several chunks a shard
	for i := range rows {
		key := fmt.Sprint("key ", i)
		kept, at := table.shardOf(key).add(key, row(i))
		if k, r := table.shardAt(at).at(at); string(k) != key || string(r) != string(kept) || string(r) != string(row(i)) {
			t.Fatalf("row %d by its reference: key %q, %d bytes, want %d", i, k, len(r), len(row(i)))
		}
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

// BenchmarkOrder is what one order of two tiers costs: added, charged, settled.
func BenchmarkOrder(b *testing.B) {
	s := New()
	o := store.Order{User: "Zoë Åkerström", Total: store.Money{Currency: "EUR", Minor: 2580}}
	for i := range 4 {
		o.Lines = append(o.Lines, store.OrderLine{SKU: fmt.Sprint("TEA-", i), Title: "Sencha 煎茶, 100 g", Quantity: 2, UnitPriceMinor: 1290})
	}
	ids := benchIDs(b.N)
	b.ReportAllocs()
	b.ResetTimer()
	for _, id := range ids {
		o.ID = id
		if _, err := s.AddOrder(b.Context(), o); err != nil {
			b.Fatal(err)
		}
		balance, err := s.Charge(b.Context(), store.Payment{ID: id, User: o.User, Amount: store.Money{Currency: "EUR", Minor: 1}}, 1e12)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.SettleOrder(b.Context(), id, store.Settlement{Status: store.OrderPaid, Balance: balance}); err != nil {
			b.Fatal(err)
		}
	}
}

func benchIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("0197f3b2-2f6c-8d2a-b4aa-%012x", i)
	}
	return ids
}

func TestQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var want []waiting
		for i, created := range rapid.SliceOf(rapid.Int64Range(0, 20)).Draw(t, "created") {
			q.push(waiting{created, int64(i)})
			want = append(want, waiting{created, int64(i)})
		}
		odd := func(w waiting) bool { return w.created%2 == 1 }
		if rapid.Bool().Draw(t, "keep odd") {
			q.keep(odd)
			want = slices.DeleteFunc(want, func(w waiting) bool { return !odd(w) })
		}
		slices.SortFunc(want, func(a, b waiting) int {
			return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.number, b.number))
		})
		for i, w := range want {
			if got := q.pop(); got != w {
				t.Fatalf("entry %d is %v; want %v", i, got, w)
			}
		}
		if len(q) > 0 {
			t.Fatalf("%v is left", q)
		}
	})
}

// One order that nobody settles must not keep all later ones in the queue.
func TestSettledOrdersLeaveTheQueue(t *testing.T) {
	s := New()
	for i := range 10_000 {
		id := fmt.Sprint(i)
		if _, err := s.AddOrder(t.Context(), store.Order{ID: id, Created: time.UnixMicro(int64(i))}); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			continue
		}
		if _, err := s.SettleOrder(t.Context(), id, store.Settlement{Status: store.OrderPaid}); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.journal.pending); n > 2500 {
		t.Errorf("the queue holds %d orders, of which 1 is pending", n)
	}
	if got, err := s.PendingBefore(t.Context(), time.UnixMicro(5), 9); err != nil || len(got) != 1 || got[0].ID != "0" {
		t.Errorf("PendingBefore = %v, %v; want the first order", got, err)
	}
}

func BenchmarkCharge(b *testing.B) {
	s := New()
	p := store.Payment{User: "Zoë Åkerström", Amount: store.Money{Currency: "EUR", Minor: 1}}
	ids := benchIDs(b.N)
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
		if _, err := s.AddOrder(b.Context(), store.Order{ID: id, User: "Zoë Åkerström", Lines: lines}); err != nil {
			b.Fatal(err)
		}
		if _, err := s.SettleOrder(b.Context(), id, store.Settlement{Status: store.OrderPaid}); err != nil {
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
