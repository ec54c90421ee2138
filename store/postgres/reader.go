package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tare-bench/tare/store"
)

// OrderByID implements store.Orders.
func (s *Store) OrderByID(ctx context.Context, id string) (store.Order, error) {
	var row orderRow
	if err := s.one(ctx, row.scan, s.sql.byID, id); err != nil {
		return store.Order{}, err
	}
	return row.parse()
}

// PaymentByID implements store.Payments.
func (s *Store) PaymentByID(ctx context.Context, id string) (store.Payment, error) {
	var row paymentRow
	if err := s.one(ctx, row.scan, s.sql.payment, id); err != nil {
		return store.Payment{}, err
	}
	return row.Payment, nil
}

// one reads what is kept under an ID.
func (s *Store) one(ctx context.Context, scan func(func(...any) error) error, sql, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if store.CheckText(id) != nil {
		return store.ErrNotFound // nothing has such an ID
	}
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return scan(c.QueryRow(ctx, sql, id).Scan)
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return store.ErrNotFound
	}
	return err
}

// OrdersBefore implements store.OrderLists.
func (s *Store) OrdersBefore(ctx context.Context, user string, before int64, limit int) ([]store.Order, error) {
	if store.CheckText(user) != nil {
		return nil, ctx.Err() // nobody has such a name
	}
	if user == "" {
		return s.list(ctx, s.sql.before, before, limit)
	}
	return s.list(ctx, s.sql.beforeOf, user, before, limit)
}

// ChangesAfter implements store.OrderLists.
func (s *Store) ChangesAfter(ctx context.Context, after int64, limit int) ([]store.Order, error) {
	return s.list(ctx, s.sql.changes, after, limit)
}

// PendingBefore implements store.OrderLists.
func (s *Store) PendingBefore(ctx context.Context, t time.Time, limit int) ([]store.Order, error) {
	return s.list(ctx, s.sql.pending, t, limit)
}

func (s *Store) list(ctx context.Context, sql string, args ...any) ([]store.Order, error) {
	var found []orderRow
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		found = nil
		rows, err := c.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		return eachOrder(rows, func(row orderRow) { found = append(found, row) })
	})
	if err != nil {
		return nil, err
	}
	orders := make([]store.Order, len(found))
	for i := range found {
		if orders[i], err = found[i].parse(); err != nil {
			return nil, err
		}
	}
	return orders, nil
}
