package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tare-bench/tare/store"
)

var orderTests = tests{
	"an order comes back as it was added":          orderComesBack,
	"an unknown ID is not found":                   orderNotFound,
	"an equal order may be added again":            orderRepeated,
	"an ID is taken once":                          orderExists,
	"of orders added at one time one is kept":      ordersConcurrent,
	"an order whose lines change later stays":      orderKeepsNoReference,
	"numbers and revisions grow":                   orderNumbers,
	"an order ends once":                           orderSettled,
	"an order that ended may be added again":       settledRepeated,
	"of settlements made at one time one is":       settlementsConcurrent,
	"an order ends as paid or as refused":          settlementInvalid,
	"an ended context is returned and no order is": orderContext,
	"an order whose context ends is whole or none": orderInterrupted,
	"what is no text is kept as it is, or refused": orderOfNoText,
}

// noon is when things happen in tests: to the microsecond, which stores keep.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 123_456_000, time.UTC)

func anOrder() store.Order {
	return store.Order{
		ID: "0197-a", User: "Zoë Åkerström",
		Lines: []store.OrderLine{
			{SKU: "TEA-1", Title: "煎茶 Sencha", Quantity: 2, UnitPriceMinor: 1290},
			{SKU: "CUP-7", Title: `Tasse "Früh" 🍵`, Quantity: math.MaxInt32, UnitPriceMinor: 0},
		},
		Total:   store.Money{Currency: "EUR", Minor: 2580},
		Created: noon,
	}
}

// numbered is an order of its own for each i.
func numbered(i int) store.Order {
	o := anOrder()
	o.ID = fmt.Sprintf("order-%04d", i)
	o.Created = noon.Add(time.Duration(i) * time.Second)
	return o
}

func paid(balance int64) store.Settlement {
	return store.Settlement{Status: store.OrderPaid, Balance: balance, At: noon.Add(time.Minute)}
}

func refusal() store.Settlement {
	return store.Settlement{Status: store.OrderRefused, At: noon.Add(time.Hour)}
}

// Text that SQL, JSON, arrays, LIKE, C and normal forms of Unicode treat apart.
var awkward = []string{
	`'; DROP TABLE orders; --`, `\`, `\x00`, `{"a":[1,"b"]}`, `{a,NULL,"b"}`, `%_`, "a\tb\r\nc", " spaces ", "NULL", "007",
	"é", "e\u0301", "ﬀ", "İı", "\u202e\u200b\ufeff", "👩‍👩‍👧‍👦", "\U0010ffff", "\x01\x7f\u0085\u2028", strings.Repeat("長", 85),
}

func orderComesBack(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	bare, large, extreme := anOrder(), anOrder(), anOrder()
	bare.ID, bare.User, bare.Lines, bare.Created = "0197-b", "", nil, time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	large.ID, large.Lines = "0197-c", manyLines()
	extreme.ID, extreme.Total.Minor, extreme.Created = strings.Repeat("x", 128), math.MinInt64, time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
	extreme.Lines = []store.OrderLine{{Quantity: math.MinInt32, UnitPriceMinor: math.MaxInt64}, {Quantity: math.MaxInt32, UnitPriceMinor: math.MinInt64}}
	all := []store.Order{anOrder(), bare, large, extreme}
	for i, text := range awkward {
		o := anOrder()
		o.ID, o.User, o.Lines[0].SKU, o.Lines[1].Title = fmt.Sprint("awkward ", text), text, text, text
		o.Total.Minor = int64(i)
		all = append(all, o)
	}
	for i := range all {
		all[i] = add(t, orders, all[i])
	}
	for _, o := range all {
		hasOrder(t, orders, o)
	}
}

func manyLines() []store.OrderLine {
	lines := make([]store.OrderLine, 1000)
	for i := range lines {
		lines[i] = store.OrderLine{SKU: fmt.Sprint("S", i), Title: strings.Repeat("é", 100), Quantity: 1, UnitPriceMinor: int64(i)}
	}
	return lines
}

func orderNotFound(t *testing.T, s store.Store) {
	add(t, s.(store.Orders), anOrder())
	for _, id := range []string{"", "0197", "0197-aa", "0197-A", "0197-a "} {
		if o, err := s.(store.Orders).OrderByID(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("OrderByID(%q) = %+v, %v; want ErrNotFound", id, o, err)
		}
		if o, err := s.(store.Orders).SettleOrder(t.Context(), id, paid(1)); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("SettleOrder(%q) = %+v, %v; want ErrNotFound", id, o, err)
		}
	}
}

func orderRepeated(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	first := add(t, orders, anOrder())
	again := anOrder()
	again.Created, again.Status, again.Balance, again.Number = noon.Add(time.Hour), store.OrderPaid, 7, 9 // none of them is content
	if got, err := orders.AddOrder(t.Context(), again); err != nil || cmp.Diff(first, got) != "" {
		t.Errorf("AddOrder again = %+v, %v; want the first, %+v", got, err, first)
	}
	hasOrder(t, orders, first)
}

func orderExists(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	first := add(t, orders, anOrder())
	for what, change := range map[string]func(*store.Order){
		"user":       func(o *store.Order) { o.User = "Zoe Akerstrom" },
		"fewer":      func(o *store.Order) { o.Lines = o.Lines[:1] },
		"order":      func(o *store.Order) { o.Lines[0], o.Lines[1] = o.Lines[1], o.Lines[0] },
		"sku":        func(o *store.Order) { o.Lines[1].SKU = "CUP-8" },
		"title":      func(o *store.Order) { o.Lines[1].Title = "" },
		"quantity":   func(o *store.Order) { o.Lines[0].Quantity++ },
		"unit price": func(o *store.Order) { o.Lines[0].UnitPriceMinor++ },
		"currency":   func(o *store.Order) { o.Total.Currency = "SEK" },
		"total":      func(o *store.Order) { o.Total.Minor++ },
	} {
		other := anOrder()
		change(&other)
		if _, err := orders.AddOrder(t.Context(), other); !errors.Is(err, store.ErrExists) {
			t.Errorf("AddOrder with another %s: %v; want ErrExists", what, err)
		}
	}
	hasOrder(t, orders, first)
}

func ordersConcurrent(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	kept := make([]store.Order, callers)
	errs := make([]error, callers)
	together(func(i int) {
		o := anOrder()
		o.Total.Minor += int64(i % 2) // two contents under one ID
		kept[i], errs[i] = orders.AddOrder(t.Context(), o)
	})
	for i, err := range errs {
		if (err == nil) != (errs[i%2] == nil) || err != nil && !errors.Is(err, store.ErrExists) {
			t.Errorf("order %d of content %d: %v; the first of its content: %v", i, i%2, err, errs[i%2])
		}
		if err == nil && cmp.Diff(kept[i%2], kept[i]) != "" {
			t.Errorf("order %d is kept as %+v, and the first of its content as %+v", i, kept[i], kept[i%2])
		}
	}
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("of two contents under one ID just one may be kept; got %v and %v", errs[0], errs[1])
	}
}

func orderKeepsNoReference(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	o := anOrder()
	want := add(t, orders, o)
	want.Lines = anOrder().Lines
	o.Lines[0].Quantity = 99
	hasOrder(t, orders, want)
}

func orderNumbers(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	first, second := add(t, orders, numbered(1)), add(t, orders, numbered(2))
	if first.Number <= 0 || second.Number <= first.Number {
		t.Errorf("orders are numbered %d, then %d", first.Number, second.Number)
	}
	if first.Revision <= 0 || second.Revision <= first.Revision {
		t.Errorf("orders have revisions %d, then %d", first.Revision, second.Revision)
	}
	if end := settle(t, orders, first.ID, paid(7)); end.Number != first.Number || end.Revision <= second.Revision {
		t.Errorf("settled: number %d, revision %d; want number %d, revision above %d", end.Number, end.Revision, first.Number, second.Revision)
	}
}

func orderSettled(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	for i, end := range []store.Settlement{paid(0), paid(math.MaxInt64), paid(math.MinInt64), refusal()} {
		want := add(t, orders, numbered(i))
		got := settle(t, orders, want.ID, end)
		want.Status, want.Balance, want.Updated, want.Revision = end.Status, end.Balance, end.At, got.Revision
		if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("SettleOrder %+v (-want +got):\n%s", end, d)
		}
		later := end
		later.At = end.At.Add(time.Hour)
		if again := settle(t, orders, want.ID, later); cmp.Diff(got, again) != "" {
			t.Errorf("settled again: %+v; want %+v", again, got)
		}
		for _, other := range []store.Settlement{paid(end.Balance + 1), paid(1), refusal()} {
			if other.Status == end.Status && other.Balance == end.Balance {
				continue
			}
			if o, err := orders.SettleOrder(t.Context(), want.ID, other); !errors.Is(err, store.ErrExists) {
				t.Errorf("SettleOrder %+v after %+v = %+v, %v; want ErrExists", other, end, o, err)
			}
		}
		hasOrder(t, orders, got)
	}
}

func settledRepeated(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	add(t, orders, anOrder())
	want := settle(t, orders, anOrder().ID, paid(42))
	if got := add(t, orders, anOrder()); cmp.Diff(want, got) != "" {
		t.Errorf("AddOrder again = %+v; want it as it ended, %+v", got, want)
	}
}

func settlementsConcurrent(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	add(t, orders, anOrder())
	errs := make([]error, callers)
	together(func(i int) { _, errs[i] = orders.SettleOrder(t.Context(), anOrder().ID, paid(int64(i%2))) })
	for i, err := range errs {
		if (err == nil) != (errs[i%2] == nil) || err != nil && !errors.Is(err, store.ErrExists) {
			t.Errorf("settlement %d with balance %d: %v; the first with it: %v", i, i%2, err, errs[i%2])
		}
	}
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("an order ends in one way only; got %v and %v", errs[0], errs[1])
	}
}

func settlementInvalid(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	want := add(t, orders, anOrder())
	for _, end := range []store.Settlement{{At: noon}, {Status: store.OrderPending, At: noon}, {Status: 77, At: noon}, {Status: store.OrderRefused, Balance: 1, At: noon}} {
		if o, err := orders.SettleOrder(t.Context(), want.ID, end); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("SettleOrder %+v = %+v, %v; want ErrInvalid", end, o, err)
		}
	}
	hasOrder(t, orders, want)
}

func orderContext(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	pending := add(t, orders, numbered(1))
	if _, err := orders.AddOrder(ended(t), anOrder()); !errors.Is(err, context.Canceled) {
		t.Errorf("AddOrder: %v; want context.Canceled", err)
	}
	if _, err := orders.SettleOrder(ended(t), pending.ID, paid(1)); !errors.Is(err, context.Canceled) {
		t.Errorf("SettleOrder: %v; want context.Canceled", err)
	}
	if _, err := orders.OrderByID(ended(t), anOrder().ID); !errors.Is(err, context.Canceled) {
		t.Errorf("OrderByID: %v; want context.Canceled", err)
	}
	if _, err := orders.OrderByID(t.Context(), anOrder().ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("OrderByID after an AddOrder that was cancelled: %v; want ErrNotFound", err)
	}
	hasOrder(t, orders, pending)
}

// orderInterrupted ends contexts while orders are added under them.
func orderInterrupted(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	added := make([][]error, callers)
	together(func(i int) {
		for n := range 20 {
			o := numbered(i*100 + n)
			_, err := orders.AddOrder(ctx, o)
			added[i] = append(added[i], err)
			if i == callers/2 && n == 2 {
				cancel()
			}
		}
	})
	for i := range added {
		for n, err := range added[i] {
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("AddOrder: %v; want context.Canceled", err)
			}
			want := numbered(i*100 + n)
			got, missing := orders.OrderByID(t.Context(), want.ID)
			if err == nil && missing != nil || missing != nil && !errors.Is(missing, store.ErrNotFound) {
				t.Errorf("AddOrder %s: %v, and OrderByID: %v", want.ID, err, missing)
			}
			if missing == nil && (len(got.Lines) != len(want.Lines) || got.Status != store.OrderPending) {
				t.Errorf("what was added while its context ended is %+v", got)
			}
		}
	}
}

func orderOfNoText(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	for _, text := range []string{"\x00", "a\x00b", "\xff", "\xed\xa0\x80"} {
		for what, change := range map[string]func(*store.Order){
			"ID": func(o *store.Order) { o.ID = text }, "user": func(o *store.Order) { o.User = text },
			"SKU": func(o *store.Order) { o.Lines[0].SKU = text }, "title": func(o *store.Order) { o.Lines[1].Title = text },
		} {
			o := anOrder()
			o.ID = fmt.Sprintf("%s %x", what, text)
			change(&o)
			kept, err := orders.AddOrder(t.Context(), o)
			if err == nil {
				hasOrder(t, orders, kept)
				continue
			}
			if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("AddOrder with %s %q: %v; want ErrInvalid", what, text, err)
			}
			if got, err := orders.OrderByID(t.Context(), o.ID); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("an order that was refused is %+v, %v", got, err)
			}
		}
	}
}

// add adds an order and holds what is kept against it.
func add(t *testing.T, orders store.Orders, o store.Order) store.Order {
	t.Helper()
	got, err := orders.AddOrder(t.Context(), o)
	if err != nil {
		t.Fatalf("AddOrder %s: %v", o.ID, err)
	}
	want := o
	want.Number, want.Revision = got.Number, got.Revision
	if want.Status, want.Updated = store.OrderPending, o.Created; got.Status != store.OrderPending {
		want = got // it was there before, and what became of it is not o's
		want.User, want.Lines, want.Total = o.User, o.Lines, o.Total
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("AddOrder %s (-want +got):\n%s", o.ID, d)
	}
	return got
}

func settle(t *testing.T, orders store.Orders, id string, end store.Settlement) store.Order {
	t.Helper()
	got, err := orders.SettleOrder(t.Context(), id, end)
	if err != nil {
		t.Fatalf("SettleOrder %s %+v: %v", id, end, err)
	}
	return got
}

func hasOrder(t *testing.T, orders store.Orders, want store.Order) {
	t.Helper()
	got, err := orders.OrderByID(t.Context(), want.ID)
	if err != nil {
		t.Fatalf("OrderByID %s: %v", want.ID, err)
	}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("order %s (-want +got):\n%s", want.ID, d)
	}
}
