package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tare-bench/tare/store"
)

var listTests = tests{
	"pages are the newest first, and all of them":            pages,
	"pages of one user hold that user's orders":              pagesOfUser,
	"what comes in while pages are turned is on none":        pagesStable,
	"changes come in their order, each order as it stands":   changes,
	"changes come to a follower while others write":          changesFollowed,
	"pending orders are those that are, the oldest first":    pending,
	"lists of nothing are empty":                             listsEmpty,
	"an ended context is returned by lists":                  listsContext,
	"an order is in every list as soon as it has been added": listsAtOnce,
}

func ids(orders []store.Order) []string {
	ids := make([]string, len(orders))
	for i, o := range orders {
		ids[i] = o.ID
	}
	return ids
}

// turn gives all that pages of so many hold.
func turn(t *testing.T, s store.Store, user string, limit int, between func()) (all []store.Order) {
	t.Helper()
	for before := int64(math.MaxInt64); ; between() {
		page, err := s.(store.OrderLists).OrdersBefore(t.Context(), user, before, limit)
		if err != nil || len(page) > limit {
			t.Fatalf("OrdersBefore(%q, %d, %d) = %d orders, %v", user, before, limit, len(page), err)
		}
		if len(page) == 0 {
			return all
		}
		for _, o := range page {
			if o.Number >= before {
				t.Fatalf("OrdersBefore(%q, %d, %d) gives number %d after it", user, before, limit, o.Number)
			}
			before = o.Number
		}
		all = append(all, page...)
	}
}

func pages(t *testing.T, s store.Store) {
	var want []store.Order
	for i := range 25 {
		want = append(want, add(t, s.(store.Orders), numbered(i)))
	}
	want[3] = settle(t, s.(store.Orders), want[3].ID, paid(7))
	slices.Reverse(want)
	for _, limit := range []int{1, 7, 25, 1000, math.MaxInt32} {
		if d := cmp.Diff(want, turn(t, s, "", limit, func() {}), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("pages of %d (-want +got):\n%s", limit, d)
		}
	}
}

func pagesOfUser(t *testing.T, s store.Store) {
	users := []string{"Zoë", "Zoe", "zoë", "%", "nobody's neighbour"}
	want := map[string][]string{}
	for i := range 40 {
		o := numbered(i)
		o.User = users[i*i%len(users)]
		add(t, s.(store.Orders), o)
		want[o.User] = append([]string{o.ID}, want[o.User]...)
	}
	for _, user := range append(users, "nobody") {
		for _, limit := range []int{1, 3, 100} {
			if d := cmp.Diff(want[user], ids(turn(t, s, user, limit, func() {})), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("pages of %d of %q (-want +got):\n%s", limit, user, d)
			}
		}
		// Before a number that is another's.
		for before := int64(1); before < 45; before++ {
			page, err := s.(store.OrderLists).OrdersBefore(t.Context(), user, before, 100)
			for _, o := range page {
				if o.User != user || o.Number >= before {
					t.Errorf("OrdersBefore(%q, %d) gives %+v, %v", user, before, o, err)
				}
			}
		}
	}
}

func pagesStable(t *testing.T, s store.Store) {
	var want []string
	n := 0
	next := func() string {
		n++
		return add(t, s.(store.Orders), numbered(n)).ID
	}
	for range 20 {
		want = append([]string{next()}, want...)
	}
	for _, user := range []string{"", anOrder().User} {
		var late []string
		got := ids(turn(t, s, user, 6, func() { late = append([]string{next()}, late...) }))
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("pages of %q (-want +got):\n%s", user, d)
		}
		want = append(late, want...)
	}
}

func changes(t *testing.T, s store.Store) {
	orders, lists := s.(store.Orders), s.(store.OrderLists)
	for i := range 10 {
		add(t, orders, numbered(i))
	}
	settle(t, orders, numbered(4).ID, paid(1))
	settle(t, orders, numbered(9).ID, refusal())
	settle(t, orders, numbered(0).ID, paid(2))
	var want []string
	for _, i := range []int{1, 2, 3, 5, 6, 7, 8, 4, 9, 0} {
		want = append(want, numbered(i).ID)
	}
	for _, limit := range []int{1, 3, 10, math.MaxInt32} {
		var all []store.Order
		for after := int64(0); ; after = all[len(all)-1].Revision {
			page, err := lists.ChangesAfter(t.Context(), after, limit)
			if err != nil || len(page) > limit {
				t.Fatalf("ChangesAfter(%d, %d) = %d orders, %v", after, limit, len(page), err)
			}
			if len(page) == 0 {
				break
			}
			all = append(all, page...)
		}
		if d := cmp.Diff(want, ids(all)); d != "" {
			t.Errorf("changes, %d at a time (-want +got):\n%s", limit, d)
		}
		for _, o := range all {
			hasOrder(t, orders, o)
		}
	}
}

// changesFollowed has one reader follow writers. It must meet revisions that
// rise, each order's last one, and no order as something that it never was.
func changesFollowed(t *testing.T, s store.Store) {
	orders, lists := s.(store.Orders), s.(store.OrderLists)
	const each = 8
	var writing atomic.Bool
	writing.Store(true)
	seen := map[string]store.Order{}
	followed := make(chan error, 1)
	go func() {
		after := int64(0)
		for last := false; ; {
			page, err := lists.ChangesAfter(t.Context(), after, 50)
			if err != nil {
				followed <- err
				return
			}
			for _, o := range page {
				if o.Revision <= after {
					followed <- fmt.Errorf("revision %d comes after %d", o.Revision, after)
					return
				}
				after, seen[o.ID] = o.Revision, o
			}
			if len(page) == 0 && last {
				followed <- nil
				return
			}
			last = !writing.Load() // what was written until now is there for the next reading
		}
	}()
	together(func(i int) {
		for n := range each {
			o := numbered(i*each + n)
			if _, err := orders.AddOrder(t.Context(), o); err != nil {
				t.Errorf("AddOrder %s: %v", o.ID, err)
			}
			if n%3 == 0 {
				continue // as pending
			}
			if _, err := orders.SettleOrder(t.Context(), o.ID, paid(int64(n))); err != nil {
				t.Errorf("SettleOrder %s: %v", o.ID, err)
			}
		}
	})
	writing.Store(false)
	if err := <-followed; err != nil {
		t.Fatalf("follow changes: %v", err)
	}
	if len(seen) != callers*each {
		t.Errorf("the follower saw %d orders of %d", len(seen), callers*each)
	}
	for _, o := range seen {
		hasOrder(t, orders, o)
	}
}

func pending(t *testing.T, s store.Store) {
	orders, lists := s.(store.Orders), s.(store.OrderLists)
	for _, i := range []int{5, 3, 9, 1, 7, 2, 8, 4, 6, 0} { // not as they were created
		add(t, orders, numbered(i))
	}
	settle(t, orders, numbered(3).ID, paid(1))
	settle(t, orders, numbered(0).ID, refusal())
	want := []string{}
	for _, i := range []int{1, 2, 4, 5, 6} {
		want = append(want, numbered(i).ID)
	}
	for _, limit := range []int{100, 3, 1} {
		for range 2 { // a list changes nothing
			got, err := lists.PendingBefore(t.Context(), numbered(7).Created, limit)
			if d := cmp.Diff(want[:min(limit, len(want))], ids(got)); err != nil || d != "" {
				t.Errorf("PendingBefore, limit %d: %v (-want +got):\n%s", limit, err, d)
			}
		}
	}
	settle(t, orders, numbered(2).ID, paid(1))
	if got, err := lists.PendingBefore(t.Context(), numbered(4).Created.Add(time.Microsecond), 100); err != nil || cmp.Diff([]string{want[0], want[2]}, ids(got)) != "" {
		t.Errorf("PendingBefore = %q, %v; want %q", ids(got), err, []string{want[0], want[2]})
	}
}

func listsEmpty(t *testing.T, s store.Store) {
	for _, when := range []string{"the store is empty", "nothing is beyond"} {
		for what, list := range lists(t.Context(), s) {
			if got, err := list(); err != nil || len(got) > 0 {
				t.Errorf("%s where %s: %v, %v", what, when, got, err)
			}
		}
		add(t, s.(store.Orders), anOrder())
	}
}

// lists are lists that hold nothing, even where the store holds anOrder.
func lists(ctx context.Context, s store.Store) map[string]func() ([]store.Order, error) {
	lists := s.(store.OrderLists)
	return map[string]func() ([]store.Order, error){
		"OrdersBefore 0":            func() ([]store.Order, error) { return lists.OrdersBefore(ctx, "", 0, 10) },
		"OrdersBefore 1":            func() ([]store.Order, error) { return lists.OrdersBefore(ctx, anOrder().User, 1, 10) },
		"OrdersBefore the least":    func() ([]store.Order, error) { return lists.OrdersBefore(ctx, "", math.MinInt64, 10) },
		"OrdersBefore of nobody":    func() ([]store.Order, error) { return lists.OrdersBefore(ctx, "nobody", math.MaxInt64, 10) },
		"ChangesAfter the greatest": func() ([]store.Order, error) { return lists.ChangesAfter(ctx, math.MaxInt64, 10) },
		"PendingBefore":             func() ([]store.Order, error) { return lists.PendingBefore(ctx, noon, 10) },
	}
}

func listsContext(t *testing.T, s store.Store) {
	add(t, s.(store.Orders), anOrder())
	for what, list := range lists(ended(t), s) {
		if got, err := list(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s = %v, %v; want context.Canceled", what, got, err)
		}
	}
}

// listsAtOnce has each caller look for what it has just done.
func listsAtOnce(t *testing.T, s store.Store) {
	orders, lists := s.(store.Orders), s.(store.OrderLists)
	together(func(i int) {
		o := numbered(i)
		o.User = fmt.Sprint("user ", i)
		kept, err := orders.AddOrder(t.Context(), o)
		if err != nil {
			t.Errorf("AddOrder: %v", err)
			return
		}
		if got, err := lists.OrdersBefore(t.Context(), o.User, math.MaxInt64, 2); err != nil || !slices.Equal(ids(got), []string{o.ID}) {
			t.Errorf("OrdersBefore = %q, %v; want %q", ids(got), err, o.ID)
		}
		if got, err := lists.PendingBefore(t.Context(), noon.Add(time.Hour), callers); err != nil || !slices.Contains(ids(got), o.ID) {
			t.Errorf("PendingBefore = %q, %v; want %q among them", ids(got), err, o.ID)
		}
		if got, err := lists.ChangesAfter(t.Context(), kept.Revision-1, 1); err != nil || !slices.Equal(ids(got), []string{o.ID}) {
			t.Errorf("ChangesAfter = %q, %v; want %q", ids(got), err, o.ID)
		}
	})
}
