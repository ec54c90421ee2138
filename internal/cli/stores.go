package cli

import (
	"context"

	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/runner"
	"github.com/tare-bench/tare/store"
)

// checkStore refuses an address that no kind of store takes, and leaves in the
// requests what of it plans, results and reports may tell.
func (a *app) checkStore(requests []plan.Request) error {
	for i := range requests {
		r := &requests[i]
		s, err := a.stores(r.Store)
		if err != nil {
			return err
		}
		if _, err := s.Apart("a"); err != nil {
			return err
		}
		r.Store = store.Redact(r.Store)
	}
	return nil
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
