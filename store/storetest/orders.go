package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tare-bench/tare/store"
)

var orderTests = tests{
	"an order comes back as it was put":            orderComesBack,
	"an unknown ID is not found":                   orderNotFound,
	"an equal order may be put again":              orderRepeated,
	"an ID is taken once":                          orderExists,
	"equal orders put at one time are one":         ordersConcurrent,
	"an order whose lines change later stays":      orderKeepsNoReference,
	"an ended context is returned and no order is": orderContext,
}

func anOrder() store.Order {
	return store.Order{
		ID: "0197-a", User: "Zoë Åkerström",
		Lines: []store.OrderLine{
			{SKU: "TEA-1", Title: "煎茶 Sencha", Quantity: 2, UnitPriceMinor: 1290},
			{SKU: "CUP-7", Title: `Tasse "Früh" 🍵`, Quantity: math.MaxInt32, UnitPriceMinor: 0},
		},
		Total:   store.Money{Currency: "EUR", Minor: 2580},
		Balance: store.Money{Currency: "EUR", Minor: math.MaxInt64},
	}
}

func manyLines() []store.OrderLine {
	lines := make([]store.OrderLine, 1000)
	for i := range lines {
		lines[i] = store.OrderLine{SKU: fmt.Sprint("S", i), Title: strings.Repeat("é", 100), Quantity: 1, UnitPriceMinor: int64(i)}
	}
	return lines
}

func orderComesBack(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	bare, large := anOrder(), anOrder()
	bare.ID, bare.User, bare.Lines, bare.Balance.Minor = "0197-b", "", nil, math.MinInt64
	large.ID, large.Lines = "0197-c", manyLines()
	all := []store.Order{anOrder(), bare, large}
	for _, o := range all {
		put(t, orders, o)
	}
	for _, o := range all {
		hasOrder(t, orders, o)
	}
}

func orderNotFound(t *testing.T, s store.Store) {
	put(t, s.(store.Orders), anOrder())
	for _, id := range []string{"", "0197", "0197-aa"} {
		if o, err := s.(store.Orders).OrderByID(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("OrderByID(%q) = %+v, %v; want ErrNotFound", id, o, err)
		}
	}
}

func orderRepeated(t *testing.T, s store.Store) {
	put(t, s.(store.Orders), anOrder())
	put(t, s.(store.Orders), anOrder())
	hasOrder(t, s.(store.Orders), anOrder())
}

func orderExists(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	put(t, orders, anOrder())
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
		"balance":    func(o *store.Order) { o.Balance.Minor-- },
	} {
		other := anOrder()
		change(&other)
		if err := orders.PutOrder(t.Context(), other); !errors.Is(err, store.ErrExists) {
			t.Errorf("PutOrder with another %s: %v; want ErrExists", what, err)
		}
	}
	hasOrder(t, orders, anOrder())
}

func ordersConcurrent(t *testing.T, s store.Store) {
	orders := s.(store.Orders)
	errs := make([]error, callers)
	together(func(i int) {
		o := anOrder()
		o.Total.Minor += int64(i % 2) // two contents under one ID
		errs[i] = orders.PutOrder(t.Context(), o)
	})
	for i, err := range errs {
		if (err == nil) != (errs[i%2] == nil) || err != nil && !errors.Is(err, store.ErrExists) {
			t.Errorf("put %d of content %d: %v; the first of its content: %v", i, i%2, err, errs[i%2])
		}
	}
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("of two contents under one ID just one may be kept; got %v and %v", errs[0], errs[1])
	}
}

func orderKeepsNoReference(t *testing.T, s store.Store) {
	o := anOrder()
	put(t, s.(store.Orders), o)
	o.Lines[0].Quantity = 99
	hasOrder(t, s.(store.Orders), anOrder())
}

func orderContext(t *testing.T, s store.Store) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	orders := s.(store.Orders)
	if err := orders.PutOrder(ended, anOrder()); !errors.Is(err, context.Canceled) {
		t.Errorf("PutOrder: %v; want context.Canceled", err)
	}
	if _, err := orders.OrderByID(ended, anOrder().ID); !errors.Is(err, context.Canceled) {
		t.Errorf("OrderByID: %v; want context.Canceled", err)
	}
	if _, err := orders.OrderByID(t.Context(), anOrder().ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("OrderByID after a put that was cancelled: %v; want ErrNotFound", err)
	}
}

func put(t *testing.T, orders store.Orders, o store.Order) {
	t.Helper()
	if err := orders.PutOrder(t.Context(), o); err != nil {
		t.Fatalf("PutOrder %s: %v", o.ID, err)
	}
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

// callers is how many goroutines the tests of concurrency use.
const callers = 64

// together calls f for each caller, all at one time, and waits for them.
func together(f func(i int)) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range callers {
		wg.Go(func() {
			<-gate
			f(i)
		})
	}
	close(gate)
	wg.Wait()
}
