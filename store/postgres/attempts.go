package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// pauses come between attempts: none after the first, since a connection that a
// restarted server has ended fails before anything is sent.
var pauses = []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond, 400 * time.Millisecond}

// uniqueViolation says, in a batch of payments, that another process added what
// this one had found missing.
const uniqueViolation = "23505"

// write runs a transaction, and again where it failed by what may pass. That is
// safe even where its COMMIT was sent and no answer came: what it did is known
// by IDs, and a repetition finds it done. Callers that wait leave by themselves.
func (s *Store) write(do func(context.Context, *pgx.Conn) error) error {
	return s.attempts(context.Background(), s.writes, func(ctx context.Context, c *pgxpool.Conn) error {
		ctx, done := context.WithTimeout(ctx, writeWithin)
		defer done()
		return do(ctx, c.Conn())
	})
}

// read runs what changes nothing, likewise, until ctx ends.
func (s *Store) read(ctx context.Context, do func(context.Context, *pgxpool.Conn) error) error {
	err := s.attempts(ctx, s.reads, do)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (s *Store) attempts(ctx context.Context, pool *pgxpool.Pool, do func(context.Context, *pgxpool.Conn) error) error {
	begun := time.Now()
	for try := 0; ; try++ {
		err := pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return do(ctx, c) })
		if err == nil || !again(err) || ctx.Err() != nil || try == len(pauses) || time.Since(begun) > writeWithin {
			return s.explain(err)
		}
		if lost(err) {
			pool.Reset() // its other connections are as dead
		}
		select {
		case <-time.After(pauses[try]):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// again says whether an error may be gone at the next attempt.
func again(err error) bool {
	var said *pgconn.PgError
	if errors.As(err, &said) && said.Code == uniqueViolation {
		return true
	}
	r, ok := known(err)
	return ok && r.passes
}
