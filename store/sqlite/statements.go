package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/tare-bench/tare/store"
)

const (
	statementColumns = "number, id, subject, updated_us, body"
	statementsFrom   = "SELECT " + statementColumns + " FROM statements "
	statementByID    = statementsFrom + "WHERE id = ?"
	statementsAll    = statementsFrom + "WHERE number > ? ORDER BY number LIMIT ?"
	statementsOf     = statementsFrom + "WHERE subject = ? AND number > ? ORDER BY number LIMIT ?"
)

// putSizes are how many rows a statement of SQL puts at once, the most first: a
// step into SQLite costs as much as a row.
var putSizes = [...]int{50, 5, 1}

// putText is a statement of SQL that puts so many rows. It leaves alone those
// that are kept already, and gives those that it changed.
func putText(rows int) string {
	return "INSERT INTO statements (" + statementColumns + ") VALUES " + strings.Repeat("(?, ?, ?, ?, ?), ", rows-1) + `(?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET subject = excluded.subject, updated_us = excluded.updated_us, body = excluded.body
		WHERE subject <> excluded.subject OR body <> excluded.body RETURNING number, id`
}

type putStatements struct {
	given    []store.Statement
	bytes    int
	outcomes []store.Outcome
}

// PutStatements implements store.Statements. A call is one transaction or a part
// of one, whatever ?commit= says: with each it is not shared with other calls.
func (s *Store) PutStatements(ctx context.Context, all []store.Statement) ([]store.Outcome, error) {
	own, bytes, err := store.OwnStatements(all)
	if err != nil {
		return nil, err
	}
	op := &putStatements{given: own, bytes: bytes, outcomes: make([]store.Outcome, len(own))}
	if len(own) == 0 {
		return op.outcomes, ctx.Err()
	}
	if err := s.do(ctx, op); err != nil {
		return nil, err
	}
	return op.outcomes, nil
}

func (op *putStatements) size() int { return op.bytes }

func (op *putStatements) run(w *writer) error {
	if err := w.drawStatement(); err != nil {
		return err
	}
	places := make(map[string]int, putSizes[0]) // of the IDs in a piece
	from := 0
	for i := range op.given {
		// One that comes twice is compared with the one before it.
		if _, twice := places[op.given[i].ID]; twice || i-from == putSizes[0] {
			if err := op.put(w, from, i, places); err != nil {
				return err
			}
			from = i
			clear(places)
		}
		places[op.given[i].ID] = i
	}
	return op.put(w, from, len(op.given), places)
}

// put puts the statements between two places.
func (op *putStatements) put(w *writer, from, to int, places map[string]int) error {
	for i, size := range putSizes {
		for ; to-from >= size; from += size {
			if err := op.putRows(w, w.put[i], from, from+size, places); err != nil {
				return err
			}
		}
	}
	return nil
}

func (op *putStatements) putRows(w *writer, put *sql.Stmt, from, to int, places map[string]int) (err error) {
	w.args = w.args[:0]
	for i := from; i < to; i++ {
		g := &op.given[i]
		w.args = append(w.args, w.statement+1+int64(i-from), g.ID, g.Subject, g.Updated.UnixMicro(), g.Body)
		op.outcomes[i] = store.Unchanged
	}
	rows, err := put.Query(w.args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	newest := w.statement
	var number int64
	var id string
	for rows.Next() {
		if err := rows.Scan(&number, &id); err != nil {
			return err
		}
		outcome := &op.outcomes[places[id]]
		if *outcome = store.Replaced; number > newest {
			*outcome = store.Added
			w.statement = max(w.statement, number)
		}
	}
	return rows.Err()
}

// drawStatement is draw for statements.
func (w *writer) drawStatement() error {
	if w.statementDrawn {
		return nil
	}
	w.statementDrawn = true
	return w.newestStatement.QueryRow().Scan(&w.statement)
}

// statementRow reads statementColumns again and again.
type statementRow struct {
	store.Statement
	updated int64
	body    sql.RawBytes
	to      [5]any
}

func (r *statementRow) scan(scan func(...any) error) error {
	if r.to[0] == nil {
		r.to = [5]any{&r.Number, &r.ID, &r.Subject, &r.updated, &r.body}
	}
	err := scan(r.to[:]...)
	r.Updated, r.Body = instant(r.updated), r.body
	return err
}

// StatementByID implements store.Statements.
func (s *Store) StatementByID(ctx context.Context, id string) (store.Statement, error) {
	var found store.Statement
	var updated int64
	err := s.read.statement.QueryRowContext(ctx, id).Scan(&found.Number, &found.ID, &found.Subject, &updated, &found.Body)
	if err != nil {
		return store.Statement{}, s.readError(ctx, err)
	}
	found.Updated = instant(updated)
	return found, nil
}

// StatementsAfter implements store.Statements.
func (s *Store) StatementsAfter(ctx context.Context, subject string, after int64, limit int) (all []store.Statement, err error) {
	if limit < 1 { // to SQLite a negative limit is none
		return nil, ctx.Err()
	}
	var rows *sql.Rows
	if subject == "" {
		rows, err = s.read.statements.QueryContext(ctx, after, limit)
	} else {
		rows, err = s.read.statementsOf.QueryContext(ctx, subject, after, limit)
	}
	if err != nil {
		return nil, s.readError(ctx, err)
	}
	defer func() {
		if err = errors.Join(err, rows.Close()); err != nil {
			all, err = nil, s.readError(ctx, err)
		}
	}()
	var row statementRow
	for rows.Next() {
		if err := row.scan(rows.Scan); err != nil {
			return nil, err
		}
		row.Body = append([]byte(nil), row.Body...)
		all = append(all, row.Statement)
	}
	return all, rows.Err()
}

// EachStatement implements store.Statements. Its connection is one of those for
// cursors alone, which may stand still for as long as do takes. As long as one
// is open, SQLite takes none of what was committed since it began out of its log
// into the file, and the log grows.
func (s *Store) EachStatement(ctx context.Context, subject string, after int64, do func(*store.Statement) error) error {
	conn, err := s.cursor(ctx)
	if err != nil {
		return s.readError(ctx, err)
	}
	done, err := s.eachStatement(ctx, conn, subject, after, do)
	err = errors.Join(err, conn.Close())
	switch {
	case done != nil:
		return done
	case err != nil:
		return s.readError(ctx, err)
	}
	return nil
}

// cursor waits for one of the connections for cursors, and not for good: those
// who hold them may read as slowly as they like.
func (s *Store) cursor(ctx context.Context) (*sql.Conn, error) {
	waiting, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel()
	conn, err := s.cursors.Conn(waiting)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return nil, &failure{
			path: s.path, kind: store.ErrUnavailable,
			text: fmt.Sprintf("all %d cursors are held by slow readers: wait for them, or end some", cursors),
			err:  fmt.Errorf("none was free for %v", s.patience), // no end of the call's own
		}
	}
	return conn, err
}

// eachStatement tells what ended it from a failure of the store. SQLite is told
// of no context: it would look at it at each step, and a row takes microseconds.
func (s *Store) eachStatement(ctx context.Context, conn *sql.Conn, subject string, after int64, do func(*store.Statement) error) (done, err error) {
	const all = -1
	query, args := statementsAll, []any{after, all}
	if subject != "" {
		query, args = statementsOf, []any{subject, after, all}
	}
	rows, err := conn.QueryContext(context.WithoutCancel(ctx), query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var row statementRow
	var given store.Statement // which do may write to
	for rows.Next() {
		if err := ctx.Err(); err != nil {
			return err, nil
		}
		if err := row.scan(rows.Scan); err != nil {
			return nil, err
		}
		given = row.Statement
		if err := do(&given); err != nil {
			return err, nil
		}
	}
	return nil, rows.Err()
}

// CountStatements implements store.Statements.
func (s *Store) CountStatements(ctx context.Context) (n int64, err error) {
	if err := s.read.countStatements.QueryRowContext(ctx).Scan(&n); err != nil {
		return 0, s.readError(ctx, err)
	}
	return n, nil
}
