package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tare-bench/tare/store"
)

// cursors may be open at one time; who comes then waits for one to end.
const cursors = 16

// statementRow reads statementColumns again and again, with the body as the
// driver has it in its buffer.
type statementRow struct {
	store.Statement
	updated time.Time
	body    pgtype.DriverBytes
	to      [5]any
}

func (r *statementRow) scan(scan func(...any) error) error {
	if r.to[0] == nil {
		r.to = [5]any{&r.Number, &r.ID, &r.Subject, &r.updated, &r.body}
	}
	err := scan(r.to[:]...)
	r.Updated = instant(r.updated)
	return err
}

// StatementByID implements store.Statements.
func (s *Store) StatementByID(ctx context.Context, id string) (store.Statement, error) {
	var found store.Statement
	err := s.one(ctx, func(scan func(...any) error) error {
		return scan(&found.Number, &found.ID, &found.Subject, &found.Updated, &found.Body)
	}, s.sql.statement, id)
	if err != nil {
		return store.Statement{}, err
	}
	found.Updated = instant(found.Updated)
	return found, nil
}

// StatementsAfter implements store.Statements.
func (s *Store) StatementsAfter(ctx context.Context, subject string, after int64, limit int) (all []store.Statement, err error) {
	if limit < 1 || store.CheckText(subject) != nil { // nobody has such a name
		return nil, ctx.Err()
	}
	sql, args := s.sql.statementsAfter, []any{after, limit}
	if subject != "" {
		sql, args = s.sql.statementsOf, []any{after, limit, subject}
	}
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		all = nil
		rows, err := c.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		var row statementRow
		for rows.Next() {
			if err := row.scan(rows.Scan); err != nil {
				return err
			}
			row.Body = append([]byte(nil), row.body...)
			all = append(all, row.Statement)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// CountStatements implements store.Statements.
func (s *Store) CountStatements(ctx context.Context) (n int64, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	err = s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		return c.QueryRow(ctx, s.sql.countStatements).Scan(&n)
	})
	return n, err
}

// EachStatement implements store.Statements. The server sends rows as they are
// taken, on a connection for cursors alone, which may stand still for as long as
// do takes. As long as one is open, the server's vacuum leaves what was replaced
// since it began.
func (s *Store) EachStatement(ctx context.Context, subject string, after int64, do func(*store.Statement) error) error {
	if store.CheckText(subject) != nil {
		return ctx.Err()
	}
	w := &walk{do: do, sql: s.sql.statementsAfter, args: []any{after, nil}}
	if subject != "" {
		w.sql, w.args = s.sql.statementsOf, []any{after, nil, subject}
	}
	err := s.attempts(ctx, s.cursors, func(ctx context.Context, c *pgxpool.Conn) error {
		err := w.rows(ctx, c.Conn(), s.sql.orderByIndex)
		if w.begun { // what was handed over is not handed over again
			w.broken, err = err, nil
		}
		return err
	})
	switch {
	case w.done != nil:
		return w.done
	case (err != nil || w.broken != nil) && ctx.Err() != nil:
		return ctx.Err()
	case w.broken != nil:
		return s.explain(w.broken)
	}
	return err
}

// walk is one cursor.
type walk struct {
	do     func(*store.Statement) error
	sql    string
	args   []any
	begun  bool
	done   error // of do, or of the context
	broken error // of the way to the server, once it had begun
}

// rows hands them over. To end early it has the driver cancel the query and close
// the connection, which the pool replaces: it would have to read the rest.
func (w *walk) rows(ctx context.Context, c *pgx.Conn, before string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var b pgx.Batch
	b.Queue(before)
	b.Queue(w.sql, w.args...)
	results := c.SendBatch(ctx, &b)
	if _, err := results.Exec(); err != nil {
		_ = results.Close() // says the same
		return err
	}
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
		return err
	}
	var row statementRow
	var given store.Statement
	for rows.Next() {
		if w.done = ctx.Err(); w.done == nil {
			if err = row.scan(rows.Scan); err != nil {
				break
			}
			w.begun = true
			body := append(given.Body[:0], row.body...) // the driver's own is a part of its buffer
			given = row.Statement
			given.Body = body
			w.done = w.do(&given)
		}
		if w.done != nil {
			cancel()
			break
		}
	}
	rows.Close()
	if err == nil {
		err = rows.Err()
	}
	if closing := results.Close(); err == nil {
		err = closing
	}
	return err
}
