// Package memory keeps what the services keep in the process's own memory, for
// as long as the process lives.
//
// A long run keeps millions of records, and the collector must not spend more
// on them as they grow in number, or the store's weight would drift into every
// stack's figures: so records are bytes in tables without pointers.
package memory

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/tare-bench/tare/store"
)

// Kind opens stores that live and die with the process.
type Kind struct{}

// Spec describes the store.
func (Kind) Spec() store.Spec {
	return store.Spec{Name: "memory", Module: "std", About: "maps in the service's own process; nothing outlives it"}
}

// Open makes an empty store. The address is the kind's name, alone.
func (k Kind) Open(_ context.Context, address string) (store.Store, error) {
	if address != k.Spec().Name {
		return nil, fmt.Errorf("open store %q: %s takes no address", address, k.Spec().Name)
	}
	return New(), nil
}

// Store implements every interface of package store.
type Store struct {
	orders   *table
	payments *table
	accounts accounts
}

// New makes an empty store.
func New() *Store {
	return &Store{orders: newTable(), payments: newTable(), accounts: accounts{balance: map[account]int64{}}}
}

// Close does nothing: the collector frees the store.
func (*Store) Close() error { return nil }

// PutOrder implements store.Orders.
func (s *Store) PutOrder(ctx context.Context, o store.Order) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var room [512]byte // most orders fit, so that encoding one allocates nothing
	row := appendOrder(room[:0], o)
	sh := s.orders.shardOf(o.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	kept, ok := sh.find(o.ID)
	switch {
	case !ok:
		sh.add(o.ID, row)
		return nil
	case string(kept) == string(row):
		return nil
	}
	return store.ErrExists
}

// OrderByID implements store.Orders.
func (s *Store) OrderByID(ctx context.Context, id string) (store.Order, error) {
	if err := ctx.Err(); err != nil {
		return store.Order{}, err
	}
	sh := s.orders.shardOf(id)
	sh.mu.Lock()
	row, ok := sh.find(id)
	sh.mu.Unlock()
	if !ok {
		return store.Order{}, store.ErrNotFound
	}
	return parseOrder(id, row), nil // rows never change once added
}

// Charge implements store.Payments. It holds the payment's shard while it
// changes the account, so that of two charges under one ID the second waits
// for the first; locks are always taken in this order.
func (s *Store) Charge(ctx context.Context, p store.Payment, opening int64) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	var room [128]byte
	content := appendPayment(room[:0], p)
	sh := s.payments.shardOf(p.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if row, ok := sh.find(p.ID); ok {
		kept, balance := splitBalance(row)
		if string(kept) != string(content) {
			return 0, store.ErrExists
		}
		return balance, nil
	}
	balance, err := s.accounts.take(account{p.User, p.Amount.Currency}, p.Amount.Minor, opening)
	if err != nil {
		return 0, err
	}
	sh.add(p.ID, appendBalance(content, balance))
	return balance, nil
}

type account struct{ user, currency string }

// accounts are few beside payments and are locked for some tens of
// nanoseconds: one map and one lock suffice.
type accounts struct {
	mu      sync.Mutex
	balance map[account]int64
}

func (a *accounts) take(of account, amount, opening int64) (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	balance, ok := a.balance[of]
	if !ok {
		balance = opening
	}
	if balance < amount {
		return 0, store.ErrInsufficientFunds
	}
	balance -= amount
	if !ok { // the request's strings may be windows on a large buffer
		of = account{strings.Clone(of.user), strings.Clone(of.currency)}
	}
	a.balance[of] = balance
	return balance, nil
}
