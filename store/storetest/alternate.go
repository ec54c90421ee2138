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
