// Package store says what the services keep, and how. A store implements Store
// and those of the other interfaces here whose workloads it can keep; each is a
// folder below this one, run through storetest, and listed in catalog.
package store

import (
	"context"
	"io"
)

// Spec is what a kind of store says of itself.
type Spec struct {
	Name   string // the scheme of its address: "memory", "sqlite"
	Module string // Go module of the driver, or "std"
	About  string // one line for a person
	// Passing says that what such a store keeps is gone once it is closed.
	Passing bool
}

// Kind opens stores of one kind. An address is what follows --store: the
// kind's name, alone or as a scheme.
type Kind interface {
	Spec() Spec
	// Open opens the store at an address, and makes it if there is none. An
	// error names the address, without any password in it, and the remedy.
	Open(ctx context.Context, address string) (Store, error)
	// Apart gives the address of a store beside the one at address, which name
	// makes its own: each process of a comparison keeps its records apart.
	Apart(address, name string) (string, error)
	// Remove deletes the store at an address that Apart gave, once it is closed.
	Remove(ctx context.Context, address string) error
}

// Store is an open store. It is safe for concurrent use. A workload asks it,
// by type assertion, for the interface that it needs.
type Store interface {
	// Ping says whether the store can keep and give at this time.
	Ping(ctx context.Context) error
	io.Closer
}
