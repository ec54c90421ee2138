package main

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/memory"
)

// world is a journal and the stores that it is held against.
type world struct {
	*testing.T
	journal          *journal
	orders, payments *memory.Store
}

func (w world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// posted is an order that a client has posted.
func (w world) posted(n int64) *entry {
	return w.journal.open(order(rand.New(rand.NewPCG(1, uint64(n))), 1, n))
}

// add keeps the order.
func (w world) add(e *entry) {
	w.Helper()
	_, err := w.orders.AddOrder(w.Context(), store.Order{
		ID: e.order.OrderId, User: e.order.UserName, Total: store.Money{Currency: currency, Minor: e.total},
		Lines: linesOf(e), Created: time.Unix(1, 0).UTC(),
	})
	w.must(err)
}

func linesOf(e *entry) (lines []store.OrderLine) {
	for _, l := range e.order.Lines {
		lines = append(lines, store.OrderLine{SKU: l.Sku, Title: l.Title, Quantity: l.Quantity, UnitPriceMinor: l.UnitPriceMinor})
	}
	return lines
}

// pay charges for the order under an ID.
func (w world) pay(e *entry, id string) (balance int64) {
	w.Helper()
	balance, err := w.payments.Charge(w.Context(), store.Payment{
		ID: id, User: e.order.UserName, Amount: store.Money{Currency: currency, Minor: e.total}, Created: time.Unix(1, 0).UTC(),
	}, opening)
	w.must(err)
	return balance
}

func (w world) settle(e *entry, status store.OrderStatus, balance int64) {
	w.Helper()
	_, err := w.orders.SettleOrder(w.Context(), e.order.OrderId, store.Settlement{Status: status, Balance: balance, At: time.Unix(2, 0).UTC()})
	w.must(err)
}

// answer is what the client was told.
func (w world) answer(e *entry, balance int64) {
	money := func(minor int64) *paymentsv1.Money {
		return &paymentsv1.Money{CurrencyCode: currency, MinorUnits: minor}
	}
	w.journal.acknowledge(e, &ordersv1.CreateOrderResponse{
		OrderId: e.order.OrderId, Status: ordersv1.OrderStatus_ORDER_STATUS_PAID, Total: money(e.total), Balance: money(balance),
	})
}

// paid is an order that went well.
func (w world) paid(n int64) *entry {
	w.Helper()
	e := w.posted(n)
	w.add(e)
	balance := w.pay(e, e.order.OrderId)
	w.settle(e, store.OrderPaid, balance)
	w.answer(e, balance)
	return e
}

// What a verdict finds.
const lost, double, unsettled, accounts, wrong = "lost", "double", "unsettled", "accounts", "wrong"

// histories are what may have happened, and what is found of it.
var histories = map[string]struct {
	happens func(world)
	found   []string
}{
	"nothing": {func(w world) { w.paid(1) }, nil},
	"an order that was refused": {func(w world) {
		e := w.posted(1)
		w.add(e)
		w.settle(e, store.OrderRefused, 0)
		e.refuse()
	}, nil},
	"an order that never arrived": {func(w world) { w.posted(1).note(1) }, nil},
	"an order that was paid, and the answer lost": {func(w world) {
		e := w.posted(1)
		w.add(e)
		w.settle(e, store.OrderPaid, w.pay(e, e.order.OrderId))
		e.note(1)
	}, nil},
	"an acknowledged order is not kept": {func(w world) {
		e := w.posted(1)
		w.answer(e, opening-e.total)
	}, []string{lost}},
	"an acknowledged order is pending": {func(w world) {
		e := w.posted(1)
		w.add(e)
		w.answer(e, w.pay(e, e.order.OrderId))
	}, []string{lost, unsettled}},
	"an acknowledged order has no payment": {func(w world) {
		e := w.posted(1)
		w.add(e)
		w.settle(e, store.OrderPaid, opening-e.total)
		w.answer(e, opening-e.total)
	}, []string{lost}},
	"an acknowledged order is kept with another balance": {func(w world) {
		e := w.posted(1)
		w.add(e)
		balance := w.pay(e, e.order.OrderId)
		w.settle(e, store.OrderPaid, balance-1)
		w.answer(e, balance)
	}, []string{lost, accounts}},
	"an order is charged twice, first under another ID": {func(w world) {
		e := w.posted(1)
		w.pay(e, "again")
		w.add(e)
		balance := w.pay(e, e.order.OrderId)
		w.settle(e, store.OrderPaid, balance)
		w.answer(e, balance)
	}, []string{accounts}},
	"an order is charged twice, last under another ID": {func(w world) { w.pay(w.paid(1), "again") }, []string{accounts}},
	"a charge between two orders": {func(w world) {
		e := w.paid(1)
		w.pay(e, "again")
		for n := int64(2); ; n++ {
			if order(rand.New(rand.NewPCG(1, uint64(n))), 1, n).UserName == e.order.UserName {
				w.paid(n)
				return
			}
		}
	}, []string{double}},
	"a payment without its order": {func(w world) {
		e := w.posted(1)
		w.pay(e, e.order.OrderId)
	}, []string{double}},
	"a refused order is charged": {func(w world) {
		e := w.posted(1)
		w.add(e)
		w.pay(e, e.order.OrderId)
		w.settle(e, store.OrderRefused, 0)
		e.refuse()
	}, []string{double, wrong}},
	"an order that no client knows to be taken has no payment": {func(w world) {
		e := w.posted(1)
		w.add(e)
		w.settle(e, store.OrderPaid, opening-e.total)
	}, []string{wrong}},
	"an order stays pending": {func(w world) { w.add(w.posted(1)) }, []string{unsettled}},
	"an order that nobody posted": {func(w world) {
		w.paid(1)
		e := w.posted(2)
		w.add(e)
		w.settle(e, store.OrderRefused, 0)
		w.journal.entries = w.journal.entries[:1]
	}, []string{wrong}},
	"another answer to the same order": {func(w world) {
		e := w.paid(1)
		w.answer(e, 0)
	}, []string{wrong}},
	"a refusal after an answer": {func(w world) { w.paid(1).refuse() }, []string{wrong}},
}

// What can go wrong is found as what it is.
func TestVerify(t *testing.T) {
	for name, test := range histories {
		t.Run(name, func(t *testing.T) {
			w := world{t, newJournal(), memory.New(), memory.New()}
			test.happens(w)
			b := &books{orders: w.orders, payments: w.payments}
			kept, err := b.all(t.Context())
			w.must(err)
			v, err := verify(t.Context(), w.journal, b, listOf(kept))
			w.must(err)
			var found []string
			for _, f := range []struct {
				name string
				all  []string
			}{{lost, v.lost}, {double, v.double}, {unsettled, v.unsettled}, {accounts, v.notAddedUp}, {wrong, v.wrong}} {
				if len(f.all) > 0 {
					found = append(found, f.name)
				}
			}
			if fmt.Sprint(found) != fmt.Sprint(test.found) || v.sound() != (found == nil) {
				t.Errorf("it finds %v, want %v: %+v", found, test.found, v)
			}
		})
	}
}

// listOf is what an order service lists that keeps these.
func listOf(kept map[string]store.Order) map[string]*ordersv1.Order {
	all := map[string]*ordersv1.Order{}
	for id, o := range kept {
		all[id] = &ordersv1.Order{
			OrderId: id, Revision: o.Revision,
			Total:   &paymentsv1.Money{CurrencyCode: o.Total.Currency, MinorUnits: o.Total.Minor},
			Balance: &paymentsv1.Money{CurrencyCode: o.Total.Currency, MinorUnits: o.Balance},
		}
	}
	return all
}
