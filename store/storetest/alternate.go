package storetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/tare-bench/tare/store"
)

// Alternate is one store of two that keep their records in one place, as two
// processes do: each call goes to the other than the call before it. Run holds
// them to the contract together.
func Alternate(a, b store.Store) store.Store {
	return &alternate{of: [2]store.Store{a, b}}
}

type alternate struct {
	of    [2]store.Store
	calls atomic.Uint64
}

func (a *alternate) next() all { return a.of[a.calls.Add(1)%2].(all) }

func (a *alternate) Ping(ctx context.Context) error {
	return errors.Join(a.of[0].Ping(ctx), a.of[1].Ping(ctx))
}

func (a *alternate) Close() error { return errors.Join(a.of[0].Close(), a.of[1].Close()) }

func (a *alternate) AddOrder(ctx context.Context, o store.Order) (store.Order, error) {
	return a.next().AddOrder(ctx, o)
}

func (a *alternate) SettleOrder(ctx context.Context, id string, end store.Settlement) (store.Order, error) {
	return a.next().SettleOrder(ctx, id, end)
}

func (a *alternate) OrderByID(ctx context.Context, id string) (store.Order, error) {
	return a.next().OrderByID(ctx, id)
}

func (a *alternate) OrdersBefore(ctx context.Context, user string, before int64, limit int) ([]store.Order, error) {
	return a.next().OrdersBefore(ctx, user, before, limit)
}

func (a *alternate) ChangesAfter(ctx context.Context, after int64, limit int) ([]store.Order, error) {
	return a.next().ChangesAfter(ctx, after, limit)
}

func (a *alternate) PendingBefore(ctx context.Context, t time.Time, limit int) ([]store.Order, error) {
	return a.next().PendingBefore(ctx, t, limit)
}

func (a *alternate) Charge(ctx context.Context, p store.Payment, opening int64) (int64, error) {
	return a.next().Charge(ctx, p, opening)
}

func (a *alternate) PaymentByID(ctx context.Context, id string) (store.Payment, error) {
	return a.next().PaymentByID(ctx, id)
}

func (a *alternate) Refund(ctx context.Context, r store.Refund) (store.Refunded, error) {
	return a.next().Refund(ctx, r)
}

func (a *alternate) PutStatements(ctx context.Context, all []store.Statement) ([]store.Outcome, error) {
	return a.next().PutStatements(ctx, all)
}

func (a *alternate) StatementByID(ctx context.Context, id string) (store.Statement, error) {
	return a.next().StatementByID(ctx, id)
}

func (a *alternate) StatementsAfter(ctx context.Context, subject string, after int64, limit int) ([]store.Statement, error) {
	return a.next().StatementsAfter(ctx, subject, after, limit)
}

func (a *alternate) EachStatement(ctx context.Context, subject string, after int64, do func(*store.Statement) error) error {
	return a.next().EachStatement(ctx, subject, after, do)
}

func (a *alternate) CountStatements(ctx context.Context) (int64, error) {
	return a.next().CountStatements(ctx)
}

func (a *alternate) AddVisit(ctx context.Context, v store.Visit) (store.Visit, error) {
	return a.next().AddVisit(ctx, v)
}

func (a *alternate) ChangeVisit(ctx context.Context, v store.Visit) (store.Visit, error) {
	return a.next().ChangeVisit(ctx, v)
}

func (a *alternate) VisitByID(ctx context.Context, id string) (store.Visit, error) {
	return a.next().VisitByID(ctx, id)
}

func (a *alternate) VisitsBefore(ctx context.Context, patient string, before int64, limit int) ([]store.Visit, error) {
	return a.next().VisitsBefore(ctx, patient, before, limit)
}
