package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
	"github.com/tare-bench/tare/store"
)

// verdict is what the journal and the stores say together.
type verdict struct {
	acknowledged, refused, unknown int // entries, by what the clients know
	asked                          int // equal answers to orders that were posted again
	found                          int // reads of acknowledged orders right after a kill
	absent, paid, unpaid           int // of the unknown: what the stores say

	lost       []string // acknowledged, and not kept as it was
	double     []string // charges that belong to no order, or to one twice
	unsettled  []string // pending, after all that time
	wrong      []string // answers and records that disagree otherwise
	payments   [2]int   // orders by how many payments they have
	accounts   int
	notAddedUp []string // accounts whose balance is not what was opened less what was paid
}

func (v *verdict) sound() bool {
	return len(v.lost)+len(v.double)+len(v.unsettled)+len(v.wrong)+len(v.notAddedUp) == 0
}

// books are the two stores, opened by the verifier itself.
type books struct {
	orders   store.OrderLists
	payments store.Payments
	close    func() error
}

// openBooks opens the stores of services that have ended.
func openBooks(ctx context.Context, kind store.Kind, orders, payments string) (*books, error) {
	o, err := kind.Open(ctx, orders)
	if err != nil {
		return nil, fmt.Errorf("open the store of orders: %w", err)
	}
	p, err := kind.Open(ctx, payments)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the store of payments: %w", err), o.Close())
	}
	b := &books{close: func() error { return errors.Join(o.Close(), p.Close()) }}
	var keeps [2]bool
	b.orders, keeps[0] = o.(store.OrderLists)
	b.payments, keeps[1] = p.(store.Payments)
	if keeps != [2]bool{true, true} {
		return nil, errors.Join(fmt.Errorf("a store of %s keeps no orders and payments", kind.Spec().Name), b.close())
	}
	return b, nil
}

// verify holds what the stores keep against what the clients were told, and
// against what the order service listed before it ended.
func verify(ctx context.Context, j *journal, b *books, listed map[string]*ordersv1.Order) (*verdict, error) {
	v := &verdict{}
	kept, err := b.all(ctx)
	if err != nil {
		return nil, err
	}
	v.list(kept, listed)
	accounts := map[string][]store.Order{}
	for _, e := range j.all() {
		id := e.order.OrderId
		o, found := kept[id]
		delete(kept, id)
		payment, err := b.payments.PaymentByID(ctx, id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, fmt.Errorf("read payment %s: %w", id, err)
		}
		charged := err == nil
		v.order(e, o, found, payment, charged)
		if charged && found && o.Status == store.OrderPaid {
			accounts[o.User] = append(accounts[o.User], o)
		}
	}
	for id := range kept {
		v.wrong = append(v.wrong, id+": kept, though no client posted it")
	}
	v.accounts = len(accounts)
	for user, orders := range accounts {
		if err := v.account(ctx, b.payments, user, orders); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// all gives every order that is kept.
func (b *books) all(ctx context.Context) (map[string]store.Order, error) {
	all := map[string]store.Order{}
	for before := int64(math.MaxInt64); ; {
		page, err := b.orders.OrdersBefore(ctx, "", before, 500)
		if err != nil {
			return nil, fmt.Errorf("read orders: %w", err)
		}
		for _, o := range page {
			all[o.ID], before = o, o.Number
		}
		if len(page) == 0 {
			return all, nil
		}
	}
}

// list holds the list of the order service against the store.
func (v *verdict) list(kept map[string]store.Order, listed map[string]*ordersv1.Order) {
	if len(kept) != len(listed) {
		v.wrong = append(v.wrong, fmt.Sprintf("%d orders are kept, and %d were listed", len(kept), len(listed)))
	}
	for id, o := range kept {
		if l := listed[id]; l.GetRevision() != o.Revision || l.GetTotal().GetMinorUnits() != o.Total.Minor || l.GetBalance().GetMinorUnits() != o.Balance {
			v.wrong = append(v.wrong, fmt.Sprintf("%s: listed as %v, and kept as %+v", id, l, o))
		}
	}
}

// order judges one entry by its order and its payment.
func (v *verdict) order(e *entry, o store.Order, found bool, p store.Payment, charged bool) {
	id := e.order.OrderId
	for _, w := range e.wrong {
		v.wrong = append(v.wrong, id+": "+w)
	}
	payments := 0
	if charged {
		payments = 1
	}
	v.payments[payments]++
	v.asked += e.again
	v.found += e.found

	paid := found && o.Status == store.OrderPaid
	switch {
	case found && o.Status == store.OrderPending:
		v.unsettled = append(v.unsettled, id)
	case found && (o.User != e.order.UserName || o.Total != (store.Money{Currency: currency, Minor: e.total}) || len(o.Lines) != len(e.order.Lines)):
		v.wrong = append(v.wrong, fmt.Sprintf("%s: kept as %+v, and posted as %v", id, o, e.order))
	case charged && (p.User != e.order.UserName || p.Amount != (store.Money{Currency: currency, Minor: e.total})):
		v.wrong = append(v.wrong, fmt.Sprintf("%s: charged %+v, and not %d", id, p, e.total))
	case charged && !paid:
		v.double = append(v.double, fmt.Sprintf("%s: charged, though no order of this ID is paid", id))
	}

	switch {
	case e.answer != nil:
		v.acknowledged++
		if !paid || !charged || !answers(e.answer, o) {
			v.lost = append(v.lost, fmt.Sprintf("%s: answered %v, and kept as %+v, charged: %t", id, e.answer, o, charged))
		}
	case e.refused:
		v.refused++
		if !found || paid || charged {
			v.wrong = append(v.wrong, fmt.Sprintf("%s: refused, and kept as %+v, charged: %t", id, o, charged))
		}
	default:
		v.unknown++
		switch {
		case !found:
			v.absent++
		case paid:
			v.paid++
			if !charged {
				v.wrong = append(v.wrong, id+": paid without a payment")
			}
		default:
			v.unpaid++
		}
	}
}

// answers says whether an acknowledgement is of the order as it is kept.
func answers(a *ordersv1.CreateOrderResponse, o store.Order) bool {
	return a.OrderId == o.ID && a.Status == ordersv1.OrderStatus_ORDER_STATUS_PAID &&
		a.Total.GetCurrencyCode() == o.Total.Currency && a.Total.GetMinorUnits() == o.Total.Minor &&
		a.Balance.GetCurrencyCode() == o.Total.Currency && a.Balance.GetMinorUnits() == o.Balance
}

// account follows one account from charge to charge by the balances that its
// orders were answered with: from one to the next nothing is missing but the
// order's own total. One more charge tells the balance at the end.
func (v *verdict) account(ctx context.Context, payments store.Payments, user string, orders []store.Order) error {
	slices.SortFunc(orders, func(a, b store.Order) int { return cmp.Compare(b.Balance, a.Balance) })
	balance := orders[0].Balance + orders[0].Total.Minor
	opened := balance
	for _, o := range orders {
		if excess := balance - o.Total.Minor - o.Balance; excess != 0 {
			v.double = append(v.double, fmt.Sprintf("%s: %d were charged before %s, for no order", user, excess, o.ID))
		}
		balance = o.Balance
	}
	left, err := payments.Charge(ctx, store.Payment{
		ID: "verify-" + user, User: user, Amount: store.Money{Currency: currency, Minor: 1}, Created: orders[0].Created,
	}, opening)
	switch {
	case errors.Is(err, store.ErrInsufficientFunds) && balance == 0:
		left = -1
	case err != nil:
		return fmt.Errorf("charge %s once more: %w", user, err)
	}
	if opened != opening || left+1 != balance {
		v.notAddedUp = append(v.notAddedUp, fmt.Sprintf(
			"%s: opened with %d, %d by its first order; holds %d, %d by its last order", user, int64(opening), opened, left+1, balance))
	}
	return nil
}
