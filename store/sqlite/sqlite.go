// Package sqlite keeps what the services keep in one file, by the pure Go
// translation of SQLite.
//
// One connection writes, and has those that wait share a transaction, since
// what a commit costs is the disk's sync; others read beside it. A commit is
// synced before it is acknowledged, so that it outlives a loss of power.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"time"

	"modernc.org/sqlite"

	"github.com/tare-bench/tare/internal/groupcommit"
	"github.com/tare-bench/tare/store"
)

// Kind opens files.
type Kind struct{}

// Spec describes the store.
func (Kind) Spec() store.Spec {
	return store.Spec{Name: "sqlite", Module: "modernc.org/sqlite", About: "one file; an answer waits until it is on disk: sqlite:FILE, ?commit=each for a sync per record"}
}

// patience is how long a statement waits while another process has the lock.
const patience = 5 * time.Second

// A batch is bounded so that who comes last into it does not wait for many, and
// so that the log can be kept short.
const (
	batchOps   = 256
	batchBytes = 1 << 20
)

// cursors may be open at one time; who comes then waits for one to end, for
// as long as patience lasts: a slow reader may never end.
const cursors = 16

// Open opens the file at an address, and makes it if there is none.
func (k Kind) Open(ctx context.Context, text string) (store.Store, error) {
	s, err := open(ctx, text, patience)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", text, err)
	}
	return s, nil
}

// Store implements every interface of package store.
type Store struct {
	path   string
	writes *sql.DB
	write  *writer
	queue  *groupcommit.Queue[operation]
	reads  *sql.DB
	read   reader
	// cursors are connections of their own, so that what is streamed to slow
	// readers keeps no other read waiting.
	cursors  *sql.DB
	patience time.Duration
}

func open(ctx context.Context, text string, patience time.Duration) (_ *Store, err error) {
	a, err := parseAddress(text)
	if err != nil {
		return nil, err
	}
	if err := makeFile(a.file); err != nil {
		return nil, err
	}
	// It syncs what fsync does but for a file's times. Elsewhere than on Linux
	// there may be no such call, and fsync stays.
	_, _ = sqlite.Fdatasync(true)
	s := &Store{path: a.file, patience: patience}
	defer func() {
		if err != nil {
			err = errors.Join(s.explain(err), s.Close())
		}
	}()
	wait := fmt.Sprintf("busy_timeout(%d)", patience.Milliseconds())
	if s.writes, err = database(a.file, 1, wait, "synchronous(FULL)", "foreign_keys(1)", "cache_size(-32768)"); err != nil {
		return nil, err
	}
	if s.write, err = newWriter(ctx, s.writes); err != nil {
		return nil, err
	}
	if s.reads, err = database(a.file, max(4, runtime.GOMAXPROCS(0)), wait, "query_only(1)"); err != nil {
		return nil, err
	}
	if s.read, err = newReader(ctx, s.reads); err != nil {
		return nil, err
	}
	if s.cursors, err = database(a.file, cursors, wait, "query_only(1)"); err != nil {
		return nil, err
	}
	ops := batchOps
	if !a.group {
		ops = 1
	}
	s.queue = groupcommit.New(groupcommit.Config[operation]{
		Commit: s.write.commit, Alone: func(err error) bool { return !errors.Is(s.explain(err), store.ErrUnavailable) },
		Size: operation.size, MostOps: ops, MostBytes: batchBytes,
	})
	return s, nil
}

// database gives so many connections to a file, each with the same settings.
func database(path string, connections int, pragmas ...string) (*sql.DB, error) {
	from, err := source(path, pragmas...)
	if err != nil {
		return nil, err
	}
	c, err := sqlite.NewConnector(from)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// Ping says whether the store can be written to: whether its lock is free.
func (s *Store) Ping(ctx context.Context) error { return s.do(ctx, new(ping)) }

// do has an operation committed.
func (s *Store) do(ctx context.Context, op operation) error {
	err := s.queue.Do(ctx, op)
	if err != nil && !errors.Is(err, ctx.Err()) {
		return s.explain(err)
	}
	return err
}

// Close ends the store, once what it has taken is committed.
func (s *Store) Close() error {
	if s.queue != nil {
		s.queue.Close()
	}
	var errs []error
	if s.reads != nil {
		errs = append(errs, s.read.close(), s.reads.Close())
	}
	if s.cursors != nil {
		errs = append(errs, s.cursors.Close())
	}
	if s.write != nil {
		errs = append(errs, s.write.close())
	}
	if s.writes != nil { // last, so that it takes the log into the file
		errs = append(errs, s.writes.Close())
	}
	return s.explain(errors.Join(errs...))
}
