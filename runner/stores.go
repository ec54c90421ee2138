package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Stores give each server a store of its own, so that no contender finds, or
// waits for, what another has kept.
type Stores interface {
	// Apart gives the address of a store that name makes a server's own.
	Apart(name string) (address string, err error)
	// Remove deletes the store at an address that Apart gave, once its server
	// has ended. Its error names what is left, and nothing secret.
	Remove(ctx context.Context, address string) error
}

// removeWithin is how long all of a block's stores may take to be removed.
const removeWithin = time.Minute

// kept are the stores of a block.
type kept struct {
	*run
	block     int
	mu        sync.Mutex
	addresses []string
}

// apart gives the address of the store of a tier of a scenario. Its name is of
// this run alone, so that no other, and none that was killed before it could
// remove its stores, has one like it.
func (k *kept) apart(tier, scenario string) (string, error) {
	if k.Stores == nil {
		return k.plan.Store, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	address, err := k.Stores.Apart(fmt.Sprintf("%s-%d-block%d-%s-%s",
		k.Started.UTC().Format("20060102t150405"), os.Getpid(), k.block, tier, scenario))
	if err != nil {
		return "", err
	}
	k.addresses = append(k.addresses, address)
	return address, nil
}

// remove deletes what the block's servers have kept, even where the run was
// ended from outside. What is left is said at the end of the run, whose figures
// it does not touch.
func (k *kept) remove(ctx context.Context) {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer done()
	for _, address := range k.addresses {
		if err := k.Stores.Remove(ctx, address); err != nil {
			k.left = append(k.left, err)
		}
	}
}

// LeftoverError says which stores a run has left behind.
type LeftoverError struct{ err error }

func (e *LeftoverError) Error() string { return fmt.Sprintf("left behind: %v", e.err) }

func (e *LeftoverError) Unwrap() error { return e.err }

func (r *run) leftover() error {
	if len(r.left) == 0 {
		return nil
	}
	return &LeftoverError{errors.Join(r.left...)}
}
