package cli

import (
	"cmp"
	"context"

	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/runner"
	"github.com/tare-bench/tare/store"
)

// takeStores gives the address of each request's store, and leaves in the
// requests what of it plans, results and reports may tell. An address that no
// kind of store takes is an error.
func (a *app) takeStores(requests []plan.Request) (addresses []string, err error) {
	for i := range requests {
		r := &requests[i]
		r.Store = cmp.Or(r.Store, a.catalog.KeptIn)
		s, err := a.stores(r.Store)
		if err != nil {
			return nil, err
		}
		if _, err := s.Apart("a"); err != nil {
			return nil, err
		}
		addresses = append(addresses, r.Store)
		r.Store = store.Redact(r.Store)
		if r.Sweep != nil {
			point := *r.Sweep
			point.Value = store.Redact(point.Value) // which is an address where stores differ
			r.Sweep = &point
		}
	}
	return addresses, nil
}

// stores are those beside the one at an address.
func (a *app) stores(address string) (runner.Stores, error) {
	kind, err := a.catalog.Store(address)
	return stores{kind, address}, err
}

type stores struct {
	kind    store.Kind
	address string
}

func (s stores) Apart(name string) (string, error) { return s.kind.Apart(s.address, name) }

func (s stores) Remove(ctx context.Context, address string) error { return s.kind.Remove(ctx, address) }
