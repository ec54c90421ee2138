package postgres

import (
	"fmt"
	"time"

	"github.com/tare-bench/tare/store"
)

// orderRow is an order as the database has it.
type orderRow struct {
	order  store.Order // without lines and status
	lines  string
	status string
}

// statuses are how the database spells where an order stands.
var statuses = map[store.OrderStatus]string{
	store.OrderPending: "pending",
	store.OrderPaid:    "paid",
	store.OrderRefused: "refused",
}

// scan reads orderColumns.
func (r *orderRow) scan(scan func(...any) error) error {
	o := &r.order
	err := scan(&o.ID, &o.User, &r.lines, &o.Total.Currency, &o.Total.Minor, &r.status, &o.Balance, &o.Number, &o.Revision, &o.Created, &o.Updated)
	o.Created, o.Updated = instant(o.Created), instant(o.Updated)
	return err
}

// parse completes the order.
func (r *orderRow) parse() (store.Order, error) {
	o := r.order
	lines, err := store.ParseLines(r.lines)
	if err != nil {
		return o, fmt.Errorf("read order %s: %w", o.ID, err)
	}
	for status, text := range statuses {
		if text == r.status {
			o.Status = status
		}
	}
	o.Lines = lines
	return o, nil
}

// instant is a time as it is kept: the zones of server and client are nobody's
// business.
func instant(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }

// paymentRow is a payment as the database has it.
type paymentRow struct {
	store.Payment
	balance int64 // of the account after the charge
}

// scan reads paymentColumns.
func (r *paymentRow) scan(scan func(...any) error) error {
	err := scan(&r.ID, &r.User, &r.Amount.Currency, &r.Amount.Minor, &r.balance, &r.Refunded, &r.Created)
	r.Created = instant(r.Created)
	return err
}
