// Package postgres keeps what the services keep in a schema of a PostgreSQL
// database, by the driver pgx.
//
// Writes that wait share a transaction, a round trip or two and one sync of the
// server's disk; orders and payments are written side by side. Several services
// may keep their records in one schema at one time.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tare-bench/tare/internal/groupcommit"
	"github.com/tare-bench/tare/store"
)

// Kind opens schemas of databases.
type Kind struct{}

// Spec describes the store.
func (Kind) Spec() store.Spec {
	return store.Spec{Name: "postgres", Module: "github.com/jackc/pgx/v5", About: "a schema of a PostgreSQL server: postgres://USER@HOST/DATABASE, ?schema=NAME, ?commit=each for a transaction per record"}
}

const (
	connectWithin = 5 * time.Second
	writeWithin   = 10 * time.Second // for one attempt at a transaction
	readers       = 4                // connections, unless pool_max_conns says otherwise
)

// A batch is bounded so that who comes last into it does not wait for many, and
// so that other processes' turns come soon: they wait while it is written.
const (
	batchOps   = 256
	batchBytes = 1 << 20
)

// Open opens the schema at an address, and makes it if there is none.
func (k Kind) Open(ctx context.Context, text string) (store.Store, error) {
	s, err := open(ctx, text)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", store.Redact(text), err)
	}
	return s, nil
}

// Store implements every interface of package store.
type Store struct {
	server   *pgx.ConnConfig // for errors
	schema   string
	reads    *pgxpool.Pool
	writes   *pgxpool.Pool // of its own, so that no write waits for a thousand reads
	sql      statements
	orders   *groupcommit.Queue[orderChange]
	payments *groupcommit.Queue[paymentChange]
	puts     *groupcommit.Queue[putCall]
	visits   *groupcommit.Queue[visitChange]
	// cursors are connections of their own, so that what is streamed to slow
	// readers keeps no other read waiting.
	cursors *pgxpool.Pool
}

func open(ctx context.Context, text string) (_ *Store, err error) {
	a, err := parseAddress(text)
	if err != nil {
		return nil, err
	}
	c, err := a.config()
	if err != nil {
		return nil, err
	}
	s := &Store{server: c.ConnConfig, schema: a.schema, sql: newStatements(pgx.Identifier{a.schema}.Sanitize())}
	defer func() {
		if err != nil {
			err = errors.Join(s.explain(err), s.Close())
		}
	}()
	writes := c.Copy()
	writes.MaxConns, writes.MinConns, writes.MinIdleConns = 4, 0, 0 // one for each queue
	walks := writes.Copy()
	walks.MaxConns = cursors
	if !strings.Contains(a.server, "pool_max_conns=") {
		c.MaxConns = readers
	}
	if s.writes, err = pgxpool.NewWithConfig(ctx, writes); err != nil {
		return nil, err
	}
	if s.reads, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, err
	}
	if s.cursors, err = pgxpool.NewWithConfig(ctx, walks); err != nil {
		return nil, err
	}
	migrating := func(conn *pgxpool.Conn) error { return migrate(ctx, conn.Conn(), a.schema) }
	if err := s.writes.AcquireFunc(ctx, migrating); err != nil {
		return nil, err
	}
	ops := batchOps
	if !a.group {
		ops = 1
	}
	s.orders = groupcommit.New(groupcommit.Config[orderChange]{
		Commit: s.commitOrders, Alone: mayBeAlone, Size: orderChange.size, MostOps: ops, MostBytes: batchBytes,
	})
	s.payments = groupcommit.New(groupcommit.Config[paymentChange]{
		Commit: s.commitPayments, Alone: mayBeAlone, Size: paymentChange.size, MostOps: ops, MostBytes: batchBytes,
	})
	s.puts = groupcommit.New(groupcommit.Config[putCall]{
		Commit: s.commitPuts, Alone: mayBeAlone, Size: putCall.size, MostOps: ops, MostBytes: batchBytes,
	})
	s.visits = groupcommit.New(groupcommit.Config[visitChange]{
		Commit: s.commitVisits, Alone: mayBeAlone, Size: visitChange.size, MostOps: ops, MostBytes: batchBytes,
	})
	return s, nil
}

// mayBeAlone: what makes the server unavailable is no single record's fault.
func mayBeAlone(err error) bool { return !errors.Is(err, store.ErrUnavailable) }

// Ping says whether the server can be written to.
func (s *Store) Ping(ctx context.Context) error {
	var standby bool
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, "SELECT pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean").Scan(&standby)
	})
	if err == nil && standby {
		return &failure{where: where(s.server), text: remedies["25006"].text, kind: store.ErrUnavailable, err: errors.New("it accepts no writes")}
	}
	return err
}

// Close ends the store, once what it has taken is committed.
func (s *Store) Close() error {
	if s.orders != nil {
		s.orders.Close()
	}
	if s.payments != nil {
		s.payments.Close()
	}
	if s.puts != nil {
		s.puts.Close()
	}
	if s.visits != nil {
		s.visits.Close()
	}
	if s.cursors != nil {
		s.cursors.Close()
	}
	if s.reads != nil {
		s.reads.Close()
	}
	if s.writes != nil {
		s.writes.Close()
	}
	return nil
}

func (s *Store) explain(err error) error { return explain(s.server, err) }
