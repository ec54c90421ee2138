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
}

// Kind opens stores of one kind. An address is what follows --store: the
// kind's name, alone or as a scheme.
type Kind interface {
	Spec() Spec
	Open(ctx context.Context, address string) (Store, error)
}

// Store is an open store. It is safe for concurrent use. A workload asks it,
// by type assertion, for the interface that it needs.
type Store interface {
	io.Closer
}
