// Package memory keeps what the services keep in the process's own memory, for
// as long as the process lives.
//
// A long run keeps millions of records, and the collector must not spend more
// on them as they grow in number, or the store's weight would drift into every
// stack's figures: so records are bytes in tables without pointers. What is
// replaced for good is kept as versions, of which a reader sees those of one
// instant.
package memory

import (
	"context"
	"fmt"

	"github.com/tare-bench/tare/store"
)

// Kind opens stores that live and die with the process.
type Kind struct{}

// Spec describes the store.
func (Kind) Spec() store.Spec {
	return store.Spec{Name: "memory", Passing: true, Module: "std", About: "maps in the service's own process; nothing outlives it"}
}

// Open makes an empty store. The address is the kind's name, alone.
func (k Kind) Open(_ context.Context, address string) (store.Store, error) {
	if err := k.check(address); err != nil {
		return nil, fmt.Errorf("open store %w", err)
	}
	return New(), nil
}

func (k Kind) check(address string) error {
	if name := k.Spec().Name; address != name {
		return fmt.Errorf("%q: %s takes no address: write %[2]s alone", address, name)
	}
	return nil
}

// Apart gives the address back: every store of this kind is apart.
func (k Kind) Apart(address, _ string) (string, error) { return address, k.check(address) }

// Remove does nothing: nothing is left of a store.
func (Kind) Remove(context.Context, string) error { return nil }

// Store implements every interface of package store.
type Store struct {
	orders     *table
	journal    *journal
	payments   *table
	refunds    *table
	accounts   accounts
	statements *versions
	visits     *versions
}

// New makes an empty store.
func New() *Store {
	return &Store{
		orders: newTable(), journal: newJournal(),
		payments: newTable(), refunds: newTable(), accounts: accounts{balance: map[account]int64{}},
		statements: newVersions(), visits: newVersions(),
	}
}

// Ping implements store.Store.
func (*Store) Ping(ctx context.Context) error { return ctx.Err() }

// Close does nothing: the collector frees the store.
func (*Store) Close() error { return nil }
