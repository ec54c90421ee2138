package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/tare-bench/tare/store"
)

var modelTests = tests{"whatever is done, in whatever order, is as the contract says": modelled}

// all is what a store must implement to be held against the model.
type all interface {
	store.Orders
	store.OrderLists
	store.Payments
	store.Statements
	store.Visits
}

// modelled makes drawn calls, and holds every answer against a model: the
// contract as maps and loops. All runs share a store, each with IDs and users of
// its own, from the changes on that it finds.
func modelled(t *testing.T, s store.Store) {
	var runs atomic.Int64
	rapid.Check(t, func(t *rapid.T) {
		m := &model{
			t: t, ctx: context.Background(), store: s.(all), run: fmt.Sprintf("run %d ", runs.Add(1)),
			orders: map[string]*store.Order{}, payments: map[string]*keptPayment{}, accounts: map[account]int64{},
		}
		m.begin()
		defer m.settleAll()
		t.Repeat(map[string]func(*rapid.T){
			"add": m.add, "settle": m.settle, "order": m.order,
			"before": m.before, "changes": m.changes, "pending": m.pending,
			"charge": m.charge, "payment": m.payment, "refund": m.refund,
		})
	})
}

type account struct{ user, currency string }

type keptPayment struct {
	store.Payment
	balance int64
	refunds map[string]refunded
}

type refunded struct {
	asked int64
	given store.Refunded
}

type model struct {
	t      *rapid.T
	ctx    context.Context
	store  all
	run    string
	number int64 // the newest of the store when the run began
	since  int64 // likewise the revision

	orders   map[string]*store.Order
	payments map[string]*keptPayment
	accounts map[account]int64
}

// same holds an answer against what it must be.
func (m *model) same(what string, got any, err error, want any, wantErr error) {
	if !errors.Is(err, wantErr) || wantErr == nil && err != nil {
		m.t.Fatalf("%s: %v; want %v", what, err, wantErr)
	}
	if d := gocmp.Diff(want, got, cmpopts.EquateEmpty()); err == nil && d != "" {
		m.t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// begin finds where the store stands, by an order of its own.
func (m *model) begin() {
	o, err := m.store.AddOrder(m.ctx, store.Order{ID: m.run + "first", User: m.run, Created: noon})
	if err != nil {
		m.t.Fatal(err)
	}
	end, err := m.store.SettleOrder(m.ctx, o.ID, refusal())
	if err != nil {
		m.t.Fatal(err)
	}
	m.number, m.since = o.Number, end.Revision
}

// settleAll leaves nothing pending to later runs.
func (m *model) settleAll() {
	for id := range m.orders {
		_, _ = m.store.SettleOrder(m.ctx, id, refusal()) // fails where it has ended
	}
}

func (m *model) id(t *rapid.T, what string) string {
	return m.run + rapid.SampledFrom([]string{"a", "b", "c", "A"}).Draw(t, what)
}

func (m *model) user(t *rapid.T) string {
	return m.run + rapid.SampledFrom([]string{"zoë", "Zoë", "%"}).Draw(t, "user")
}

func money(t *rapid.T) store.Money {
	return store.Money{
		Currency: rapid.SampledFrom([]string{"EUR", "JPY"}).Draw(t, "currency"),
		Minor:    rapid.SampledFrom([]int64{1, 2, 3, math.MaxInt64}).Draw(t, "minor"),
	}
}

func (m *model) add(t *rapid.T) {
	o := store.Order{ID: m.id(t, "order"), User: m.user(t), Total: money(t), Created: noon.Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "hours")) * time.Hour)}
	if rapid.Bool().Draw(t, "a line") {
		o.Lines = []store.OrderLine{{SKU: "é", Quantity: 1}}
	}
	got, err := m.store.AddOrder(m.ctx, o)
	kept := m.orders[o.ID]
	switch {
	case kept == nil:
		o.Status, o.Updated, o.Number, o.Revision = store.OrderPending, o.Created, got.Number, got.Revision
		m.same("AddOrder", got, err, o, nil)
		for _, other := range m.orders {
			if o.Number <= other.Number || o.Revision <= other.Revision {
				t.Fatalf("%+v comes after %+v", o, other)
			}
		}
		m.orders[o.ID] = &o
	case kept.User == o.User && kept.Total == o.Total && slices.Equal(kept.Lines, o.Lines):
		m.same("AddOrder again", got, err, *kept, nil)
	default:
		m.same("AddOrder with other content", got, err, nil, store.ErrExists)
	}
}

func (m *model) settle(t *rapid.T) {
	id := m.id(t, "order")
	end := rapid.SampledFrom([]store.Settlement{paid(1), paid(2), refusal()}).Draw(t, "end")
	got, err := m.store.SettleOrder(m.ctx, id, end)
	kept := m.orders[id]
	switch {
	case kept == nil:
		m.same("SettleOrder of none", got, err, nil, store.ErrNotFound)
	case kept.Status == store.OrderPending:
		for _, other := range m.orders {
			if got.Revision <= other.Revision {
				t.Fatalf("settled as %+v after %+v", got, other)
			}
		}
		kept.Status, kept.Balance, kept.Updated, kept.Revision = end.Status, end.Balance, end.At, got.Revision
		fallthrough
	case kept.Status == end.Status && kept.Balance == end.Balance:
		m.same("SettleOrder", got, err, *kept, nil)
	default:
		m.same("SettleOrder otherwise", got, err, nil, store.ErrExists)
	}
}

func (m *model) order(t *rapid.T) {
	id := m.id(t, "order")
	got, err := m.store.OrderByID(m.ctx, id)
	if kept := m.orders[id]; kept != nil {
		m.same("OrderByID", got, err, *kept, nil)
	} else {
		m.same("OrderByID", got, err, nil, store.ErrNotFound)
	}
}

// those gives the orders that pass, by one of their numbers.
func (m *model) those(pass func(*store.Order) bool, by func(*store.Order) int64, limit int) (list []store.Order) {
	for _, o := range m.orders {
		if pass(o) {
			list = append(list, *o)
		}
	}
	slices.SortFunc(list, func(a, b store.Order) int {
		return cmp.Or(cmp.Compare(by(&a), by(&b)), cmp.Compare(a.Number, b.Number))
	})
	return list[:min(limit, len(list))]
}

func limit(t *rapid.T) int { return rapid.IntRange(1, 5).Draw(t, "limit") }

func (m *model) before(t *rapid.T) {
	user, n := m.user(t), limit(t)
	before := m.number + int64(rapid.IntRange(0, 8).Draw(t, "before"))
	got, err := m.store.OrdersBefore(m.ctx, user, before, n)
	m.same("OrdersBefore", got, err, m.those(
		func(o *store.Order) bool { return o.User == user && o.Number < before },
		func(o *store.Order) int64 { return -o.Number }, n), nil)
}

func (m *model) changes(t *rapid.T) {
	after, n := m.since+int64(rapid.IntRange(0, 8).Draw(t, "after")), limit(t)
	got, err := m.store.ChangesAfter(m.ctx, after, n)
	m.same("ChangesAfter", got, err, m.those(
		func(o *store.Order) bool { return o.Revision > after },
		func(o *store.Order) int64 { return o.Revision }, n), nil)
}

func (m *model) pending(t *rapid.T) {
	before, n := noon.Add(time.Duration(rapid.IntRange(0, 4).Draw(t, "hours"))*time.Hour), limit(t)
	got, err := m.store.PendingBefore(m.ctx, before, n)
	m.same("PendingBefore", got, err, m.those(
		func(o *store.Order) bool { return o.Status == store.OrderPending && o.Created.Before(before) },
		func(o *store.Order) int64 { return o.Created.UnixMicro() }, n), nil)
}

func (m *model) charge(t *rapid.T) {
	p := store.Payment{ID: m.id(t, "payment"), User: m.user(t), Amount: money(t), Created: noon}
	const opening = 5
	got, err := m.store.Charge(m.ctx, p, opening)
	of := account{p.User, p.Amount.Currency}
	balance, open := m.accounts[of]
	if !open {
		balance = opening
	}
	switch kept := m.payments[p.ID]; {
	case kept != nil && kept.User == p.User && kept.Amount == p.Amount:
		m.same("Charge again", got, err, kept.balance, nil)
	case kept != nil:
		m.same("Charge with other content", got, err, nil, store.ErrExists)
	case balance < p.Amount.Minor:
		m.same("Charge beyond the account", got, err, nil, store.ErrInsufficientFunds)
	default:
		m.accounts[of] = balance - p.Amount.Minor
		m.payments[p.ID] = &keptPayment{p, balance - p.Amount.Minor, map[string]refunded{}}
		m.same("Charge", got, err, balance-p.Amount.Minor, nil)
	}
}

func (m *model) payment(t *rapid.T) {
	id := m.id(t, "payment")
	got, err := m.store.PaymentByID(m.ctx, id)
	if kept := m.payments[id]; kept != nil {
		m.same("PaymentByID", got, err, kept.Payment, nil)
	} else {
		m.same("PaymentByID", got, err, nil, store.ErrNotFound)
	}
}

func (m *model) refund(t *rapid.T) {
	r := store.Refund{
		PaymentID: m.id(t, "payment"), ID: rapid.SampledFrom([]string{"x", "y"}).Draw(t, "refund"),
		Minor: rapid.Int64Range(0, 3).Draw(t, "minor"),
	}
	got, err := m.store.Refund(m.ctx, r)
	p := m.payments[r.PaymentID]
	if p == nil {
		m.same("Refund of none", got, err, nil, store.ErrNotFound)
		return
	}
	left := p.Amount.Minor - p.Refunded
	given := cmp.Or(r.Minor, left)
	switch kept, made := p.refunds[r.ID]; {
	case made && kept.asked == r.Minor:
		m.same("Refund again", got, err, kept.given, nil)
	case made:
		m.same("Refund with other content", got, err, nil, store.ErrExists)
	case given == 0 || given > left:
		m.same("Refund of more than is left", got, err, nil, store.ErrSpent)
	default:
		of := account{p.User, p.Amount.Currency}
		m.accounts[of] += given
		p.Refunded += given
		p.refunds[r.ID] = refunded{r.Minor, store.Refunded{Payment: p.Payment, Minor: given, Balance: m.accounts[of]}}
		m.same("Refund", got, err, p.refunds[r.ID].given, nil)
	}
}
