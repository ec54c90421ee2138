package cli

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// importBatch is how many records are kept in one commit.
const importBatch = 500

// commitGrace is how long a commit has to end that has begun when an import is
// interrupted: what has been kept can then be told for sure.
const commitGrace = 5 * time.Second

// openStore opens the store at an address, of a kind that records can be moved
// into or out of.
func (a *app) openStore(ctx context.Context, address string) (store.Store, error) {
	kind, err := a.catalog.Store(address)
	if err != nil {
		return nil, usage(err)
	}
	if kind.Spec().Passing {
		return nil, usage(fmt.Errorf("what a store of %s keeps ends with the command: name one that outlives it with --store", kind.Spec().Name))
	}
	return kind.Open(ctx, address)
}

func (a *app) importFile(ctx context.Context, d workload.Dataset, m moving, path string) (err error) {
	s, err := a.openStore(ctx, m.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	to := &importing{app: a, dataset: d, store: s, address: store.Redact(m.store)}
	in, err := a.read(ctx, d, m, path, func(e workload.Entry) error { return to.add(ctx, e) })
	if in == nil {
		return err
	}
	if err == nil {
		err = to.flush(ctx)
	}
	fmt.Fprintf(a.Out, "%d %s written to %s, %d there already, %d rejected\n", to.done.Written, d.Item, to.address, to.done.Unchanged, in.rejected)
	if err != nil {
		if ctx.Err() != nil {
			err = errStopped
		}
		return &importError{err, to.last, in.records}
	}
	return in.verdict()
}

// importing is records on their way into a store.
type importing struct {
	app     *app
	dataset workload.Dataset
	store   store.Store
	address string

	batch []any
	done  workload.Put
	line  int64 // of the last in the batch
	last  int64 // line up to which all is kept, or was rejected
}

func (to *importing) add(ctx context.Context, e workload.Entry) error {
	to.batch = append(to.batch, e.Record)
	to.line = e.Line
	if len(to.batch) < importBatch {
		return nil
	}
	return to.flush(ctx)
}

func (to *importing) flush(ctx context.Context) error {
	if len(to.batch) == 0 {
		return nil
	}
	commit, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(commitGrace, cancel) })()
	done, err := to.dataset.Put(commit, to.store, to.batch, to.app.Now())
	if err != nil {
		return fmt.Errorf("keep %s in %s: %w", to.dataset.Item, to.address, err)
	}
	to.done.Written += done.Written
	to.done.Unchanged += done.Unchanged
	to.last, to.batch = to.line, to.batch[:0]
	return nil
}

// importError ends an import in the middle.
type importError struct {
	error
	last, read int64
}

func (e *importError) Unwrap() error { return e.error }

func (e *importError) Error() string {
	if e.last == 0 {
		return e.error.Error() + "; nothing of the file is known to be kept"
	}
	return fmt.Sprintf("%v; up to line %d of the file all is kept or rejected", e.error, e.last)
}

func (e *importError) Hint() string {
	const again = "the same command again goes on: what is kept already stays as it is"
	if errors.Is(e.error, syscall.ENOSPC) || says("disk is full", "No space left", "no space left")(e.error) {
		return "free some space on the store's disk; " + again
	}
	return again
}

func (a *app) export(ctx context.Context, d workload.Dataset, m moving) (err error) {
	f, err := format(d, m.to)
	if err != nil {
		return usage(err)
	}
	s, err := a.openStore(ctx, m.store)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var n int64
	err = a.write(m.out, f, func(w workload.RecordWriter) error {
		shown := a.meter("read "+d.Item, -1)
		defer shown.end()
		err := d.Each(ctx, s, func(record any) error {
			n++
			shown.step(n, n)
			return w.Write(record)
		})
		switch {
		case ctx.Err() != nil:
			return errStopped
		case err == nil && n == 0:
			return emptyStore{}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("export %s from %s: %w", d.Item, store.Redact(m.store), err)
	}
	fmt.Fprintf(a.Err, "%d %s of %s written\n", n, d.Item, store.Redact(m.store))
	return nil
}

// emptyStore is of a store from which there is nothing to export: one whose
// address is misspelt is made anew where it is opened.
type emptyStore struct{}

func (emptyStore) Error() string { return "it keeps none" }

func (emptyStore) Hint() string {
	return "look at the address after --store; a store that was not there is made"
}
