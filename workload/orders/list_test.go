package orders

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload"
)

// keep puts an order straight into a store.
func keep(t testing.TB, s *memory.Store, id, user string) {
	t.Helper()
	r := probeOrder(id, func(r *CreateOrderRequest) { r.UserName = user })
	if _, err := s.AddOrder(t.Context(), r.order(now())); err != nil {
		t.Fatal(err)
	}
}

func page(t *testing.T, h rpc.Handler, r ListOrdersRequest) ([]string, string) {
	t.Helper()
	out, err := rpc.Invoke(t.Context(), h, ListOrders, &r)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, o := range out.(*ListOrdersResponse).Orders {
		ids = append(ids, o.OrderID)
	}
	return ids, out.(*ListOrdersResponse).NextPageToken
}

// Orders that come in while pages are turned are on none of them and move none.
func TestPagesUnderInserts(t *testing.T) {
	for _, user := range []string{"", "ada"} {
		s := memory.New()
		h := handler(t, orderTier, s, workload.Answers{})
		var want []string
		for n := range 103 {
			id := fmt.Sprint("order-", n)
			keep(t, s, id, []string{"ada", "bob"}[n%2])
			if user == "" || n%2 == 0 {
				want = append(want, id)
			}
		}
		slices.Reverse(want)
		var got []string
		r := ListOrdersRequest{UserName: user, PageSize: 7}
		for turned := 0; ; turned++ {
			ids, next := page(t, h, r)
			got = append(got, ids...)
			if len(ids) > 7 || len(ids) < 7 && next != "" {
				t.Errorf("a page of 7 has %d, and then %q", len(ids), next)
			}
			if next == "" {
				break
			}
			r.PageToken = next
			keep(t, s, fmt.Sprint("new-", turned), "ada")
		}
		if !slices.Equal(got, want) {
			t.Errorf("orders of %q are %v; want %v", user, got, want)
		}
	}
}

func TestPageSizes(t *testing.T) {
	s := memory.New()
	h := handler(t, orderTier, s, workload.Answers{})
	if ids, next := page(t, h, ListOrdersRequest{}); len(ids) != 0 || next != "" {
		t.Errorf("with no orders: %v, %q", ids, next)
	}
	for n := range 50 {
		keep(t, s, fmt.Sprint(n), "ada")
	}
	if ids, next := page(t, h, ListOrdersRequest{}); len(ids) != 50 || next != "" {
		t.Errorf("of 50 orders a page has %d, and another follows: %v", len(ids), next != "")
	}
	keep(t, s, "50", "ada")
	if ids, next := page(t, h, ListOrdersRequest{}); len(ids) != 50 || next == "" {
		t.Errorf("of 51 orders a page has %d, and another follows: %v", len(ids), next != "")
	}
	if ids, next := page(t, h, ListOrdersRequest{PageSize: 1000}); len(ids) != 51 || next != "" {
		t.Errorf("a page of 1000 has %d", len(ids))
	}
}

// A token is of the list that gave it.
func TestBadPageTokens(t *testing.T) {
	s := memory.New()
	h := handler(t, orderTier, s, workload.Answers{})
	good := workload.PageToken(5, "ada")
	raw, err := base64.RawURLEncoding.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	raw[0]++
	for name, token := range map[string]string{
		"text":               "next",
		"padded":             good + "=",
		"longer":             good + "AA",
		"shorter":            good[:len(good)-2],
		"of another user":    workload.PageToken(5, "bob"),
		"of all users":       workload.PageToken(5, ""),
		"of another version": base64.RawURLEncoding.EncodeToString(raw),
		"of no order":        workload.PageToken(0, "ada"),
		"negative":           workload.PageToken(-5, "ada"),
		"altered at its end": good[:len(good)-1] + string(good[len(good)-1]+1),
	} {
		_, err := rpc.Invoke(t.Context(), h, ListOrders, &ListOrdersRequest{UserName: "ada", PageToken: token})
		if e := rpc.ErrorOf(err); e == nil || e.Code != rpc.InvalidArgument || len(e.Violations) != 1 || e.Violations[0].Field != "page_token" {
			t.Errorf("a token that is %s gave %v", name, err)
		}
	}
	if _, err := rpc.Invoke(t.Context(), h, ListOrders, &ListOrdersRequest{UserName: "ada", PageToken: good, PageSize: 3}); err != nil {
		t.Errorf("a token with another size gave %v", err)
	}
}
