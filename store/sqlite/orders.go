package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/tare-bench/tare/store"
)

const (
	orderColumns = "id, user_name, lines, currency, total_minor, status, balance_minor, number, revision, created_us, updated_us"
	orderByID    = "SELECT " + orderColumns + " FROM orders WHERE id = ?"
)

// statuses are how the file spells where an order stands.
var statuses = map[store.OrderStatus]string{
	store.OrderPending: "pending",
	store.OrderPaid:    "paid",
	store.OrderRefused: "refused",
}

// orderRow is an order as the file has it.
type orderRow struct {
	order            store.Order // without lines, status and times
	lines, status    string
	created, updated int64
}

// scan reads orderColumns.
func (r *orderRow) scan(scan func(...any) error) error {
	o := &r.order
	return scan(&o.ID, &o.User, &r.lines, &o.Total.Currency, &o.Total.Minor, &r.status, &o.Balance, &o.Number, &o.Revision, &r.created, &r.updated)
}

// parse completes the order. It is left to the caller of an operation, so that
// the writer does nothing that others can.
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
	o.Lines, o.Created, o.Updated = lines, instant(r.created), instant(r.updated)
	return o, nil
}

func instant(micros int64) time.Time { return time.UnixMicro(micros).UTC() }

type addOrder struct {
	given  orderRow
	kept   orderRow
	exists bool // with other content
}

// AddOrder implements store.Orders.
func (s *Store) AddOrder(ctx context.Context, o store.Order) (store.Order, error) {
	if err := o.CheckText(); err != nil {
		return store.Order{}, fmt.Errorf("add order: %w", err)
	}
	lines, err := store.FormatLines(o.Lines)
	if err != nil {
		return store.Order{}, err
	}
	created := o.Created.UnixMicro()
	op := &addOrder{given: orderRow{
		order: store.Order{ID: o.ID, User: o.User, Total: o.Total}, lines: lines,
		status: statuses[store.OrderPending], created: created, updated: created,
	}}
	if err := s.do(ctx, op); err != nil {
		return store.Order{}, err
	}
	if op.exists {
		return store.Order{}, store.ErrExists
	}
	return op.kept.parse()
}

func (op *addOrder) size() int { return len(op.given.lines) }

func (op *addOrder) run(w *writer) error {
	if err := w.draw(); err != nil {
		return err
	}
	g := op.given
	g.order.Number, g.order.Revision = w.number+1, w.revision+1
	done, err := w.addOrder.Exec(g.order.ID, g.order.User, g.lines, g.order.Total.Currency, g.order.Total.Minor,
		g.order.Number, g.order.Revision, g.created, g.updated)
	if err != nil {
		return err
	}
	added, err := done.RowsAffected()
	if err != nil {
		return err
	}
	if added == 1 {
		w.number, w.revision = g.order.Number, g.order.Revision
		op.kept, op.exists = g, false
		return nil
	}
	if err := op.kept.scan(w.order.QueryRow(g.order.ID).Scan); err != nil {
		return err
	}
	k := op.kept
	op.exists = k.order.User != g.order.User || k.order.Total != g.order.Total || k.lines != g.lines
	return nil
}

type settleOrder struct {
	id     string
	end    store.Settlement
	kept   orderRow
	answer error
}

// SettleOrder implements store.Orders.
func (s *Store) SettleOrder(ctx context.Context, id string, end store.Settlement) (store.Order, error) {
	if err := end.Check(); err != nil {
		return store.Order{}, err
	}
	op := &settleOrder{id: id, end: end}
	if err := s.do(ctx, op); err != nil {
		return store.Order{}, err
	}
	if op.answer != nil {
		return store.Order{}, op.answer
	}
	return op.kept.parse()
}

func (op *settleOrder) size() int { return len(op.id) }

func (op *settleOrder) run(w *writer) error {
	if err := w.draw(); err != nil {
		return err
	}
	op.answer = nil
	status := statuses[op.end.Status]
	err := op.kept.scan(w.settle.QueryRow(status, op.end.Balance, op.end.At.UnixMicro(), w.revision+1, op.id).Scan)
	if err == nil {
		w.revision++
		return nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	err = op.kept.scan(w.order.QueryRow(op.id).Scan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		op.answer = store.ErrNotFound
	case err != nil:
		return err
	case op.kept.status != status || op.kept.order.Balance != op.end.Balance:
		op.answer = store.ErrExists
	}
	return nil
}
