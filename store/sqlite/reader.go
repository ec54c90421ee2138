package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/tare-bench/tare/store"
)

// reader are the statements that read. A connection that reads sees what was
// committed before its statement began, and waits for no writer.
type reader struct {
	order, before, beforeOf, changes, pending, payment   *sql.Stmt
	statement, statements, statementsOf, countStatements *sql.Stmt
	visit, visits, visitsOf                              *sql.Stmt

	all []*sql.Stmt
}

func newReader(ctx context.Context, db *sql.DB) (r reader, err error) {
	for to, text := range map[**sql.Stmt]string{
		&r.order:    orderByID,
		&r.before:   "SELECT " + orderColumns + " FROM orders WHERE number < ? ORDER BY number DESC LIMIT ?",
		&r.beforeOf: "SELECT " + orderColumns + " FROM orders WHERE user_name = ? AND number < ? ORDER BY number DESC LIMIT ?",
		&r.changes:  "SELECT " + orderColumns + " FROM orders WHERE revision > ? ORDER BY revision LIMIT ?",
		&r.pending:  "SELECT " + orderColumns + " FROM orders WHERE status = 'pending' AND created_us < ? ORDER BY created_us, number LIMIT ?",
		&r.payment:  paymentByID,

		&r.statement:       statementByID,
		&r.statements:      statementsAll,
		&r.statementsOf:    statementsOf,
		&r.countStatements: "SELECT count(*) FROM statements",
		&r.visit:           visitByID,
		&r.visits:          visitsFrom + "WHERE number < ? ORDER BY number DESC LIMIT ?",
		&r.visitsOf:        visitsFrom + "WHERE patient = ? AND number < ? ORDER BY number DESC LIMIT ?",
	} {
		if *to, err = db.PrepareContext(ctx, text); err != nil {
			return r, err
		}
		r.all = append(r.all, *to)
	}
	return r, nil
}

func (r *reader) close() error {
	var errs []error
	for _, s := range r.all {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// OrderByID implements store.Orders.
func (s *Store) OrderByID(ctx context.Context, id string) (store.Order, error) {
	var row orderRow
	if err := row.scan(s.read.order.QueryRowContext(ctx, id).Scan); err != nil {
		return store.Order{}, s.readError(ctx, err)
	}
	return row.parse()
}

// OrdersBefore implements store.OrderLists.
func (s *Store) OrdersBefore(ctx context.Context, user string, before int64, limit int) ([]store.Order, error) {
	if user == "" {
		return s.list(ctx, s.read.before, before, limit)
	}
	return s.list(ctx, s.read.beforeOf, user, before, limit)
}

// ChangesAfter implements store.OrderLists.
func (s *Store) ChangesAfter(ctx context.Context, after int64, limit int) ([]store.Order, error) {
	return s.list(ctx, s.read.changes, after, limit)
}

// PendingBefore implements store.OrderLists.
func (s *Store) PendingBefore(ctx context.Context, t time.Time, limit int) ([]store.Order, error) {
	return s.list(ctx, s.read.pending, t.UnixMicro(), limit)
}

// PaymentByID implements store.Payments.
func (s *Store) PaymentByID(ctx context.Context, id string) (store.Payment, error) {
	p, _, err := scanPayment(s.read.payment.QueryRowContext(ctx, id).Scan)
	if err != nil {
		return store.Payment{}, s.readError(ctx, err)
	}
	return p, nil
}

func (s *Store) list(ctx context.Context, of *sql.Stmt, args ...any) (orders []store.Order, err error) {
	rows, err := of.QueryContext(ctx, args...)
	if err != nil {
		return nil, s.readError(ctx, err)
	}
	defer func() {
		if err = errors.Join(err, rows.Close()); err != nil {
			orders, err = nil, s.readError(ctx, err)
		}
	}()
	for rows.Next() {
		var row orderRow
		if err := row.scan(rows.Scan); err != nil {
			return nil, err
		}
		o, err := row.parse()
		if err != nil {
			return nil, err
		}
		orders = append(orders, o)
	}
	return orders, rows.Err()
}

func (s *Store) readError(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return store.ErrNotFound
	case ctx.Err() != nil: // or the driver's word for it
		return ctx.Err()
	}
	return s.explain(err)
}
