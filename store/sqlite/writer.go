package sqlite

import (
	"context"
	"database/sql"
	"errors"
)

// operation is one change that waits for its commit.
type operation interface {
	size() int
	// run makes the change in the writer's transaction. An error undoes the
	// whole transaction; what the store answers to the operation alone, such as
	// store.ErrExists, it keeps to itself, and has changed nothing then. It may
	// run again.
	run(w *writer) error
}

// ping takes the lock and changes nothing.
type ping struct{}

func (*ping) size() int         { return 0 }
func (*ping) run(*writer) error { return nil }

// writer is the connection that writes. One goroutine uses it, without contexts:
// a statement takes microseconds, and who no longer waits has left already.
type writer struct {
	conn       *sql.Conn
	statements []*sql.Stmt // all of them

	begin, end, rollback *sql.Stmt

	newest, addOrder, settle, order                            *sql.Stmt
	take, openAccount, give, addPayment, payment, markRefunded *sql.Stmt
	addRefund, refund                                          *sql.Stmt
	newestStatement, addVisit, changeVisit, visit              *sql.Stmt
	put                                                        [len(putSizes)]*sql.Stmt

	drawn            bool // number and revision are of this transaction
	number, revision int64
	statementDrawn   bool // likewise of statements
	statement        int64
	args             []any
}

func newWriter(ctx context.Context, db *sql.DB) (_ *writer, err error) {
	w := new(writer)
	if w.conn, err = db.Conn(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if err := migrate(ctx, w.conn); err != nil {
		return nil, err
	}
	texts := map[**sql.Stmt]string{
		&w.begin:    "BEGIN IMMEDIATE",
		&w.end:      "COMMIT",
		&w.rollback: "ROLLBACK",
		&w.newest:   "SELECT coalesce((SELECT max(number) FROM orders), 0), coalesce((SELECT max(revision) FROM orders), 0)",
		&w.addOrder: `INSERT INTO orders (` + orderColumns + `) VALUES (?, ?, ?, ?, ?, 'pending', 0, ?, ?, ?, ?)
			ON CONFLICT (id) DO NOTHING`,
		&w.settle: `UPDATE orders SET status = ?, balance_minor = ?, updated_us = ?, revision = ?
			WHERE id = ? AND status = 'pending' RETURNING ` + orderColumns,
		&w.order: orderByID,
		&w.take: `UPDATE accounts SET balance_minor = balance_minor - ?1 WHERE user_name = ?2 AND currency = ?3
			AND balance_minor >= ?1 AND NOT EXISTS (SELECT 1 FROM payments WHERE id = ?4) RETURNING balance_minor`,
		&w.openAccount:  "INSERT INTO accounts (user_name, currency, balance_minor) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
		&w.give:         "UPDATE accounts SET balance_minor = balance_minor + ? WHERE user_name = ? AND currency = ? RETURNING balance_minor",
		&w.addPayment:   "INSERT INTO payments (id, user_name, currency, amount_minor, balance_minor, created_us) VALUES (?, ?, ?, ?, ?, ?)",
		&w.payment:      paymentByID,
		&w.markRefunded: "UPDATE payments SET refunded_minor = ? WHERE id = ?",
		&w.addRefund:    "INSERT INTO refunds (payment_id, id, asked_minor, given_minor, refunded_minor, balance_minor) VALUES (?, ?, ?, ?, ?, ?)",
		&w.refund:       "SELECT asked_minor, given_minor, refunded_minor, balance_minor FROM refunds WHERE payment_id = ? AND id = ?",

		&w.newestStatement: "SELECT coalesce(max(number), 0) FROM statements",
		&w.addVisit: `INSERT INTO visits (` + visitColumns + `)
			VALUES ((SELECT coalesce(max(number), 0) + 1 FROM visits), ?, ?, ?, ?, '', 1, ?, ?, ?, ?)
			ON CONFLICT (id) DO NOTHING RETURNING ` + visitColumns,
		&w.changeVisit: `UPDATE visits SET patient = ?, status = ?, procedures = ?, signed_by = ?, updated_us = ?, revision = revision + 1
			WHERE id = ? AND revision = ? RETURNING ` + visitColumns,
		&w.visit: visitByID,
	}
	for i, rows := range putSizes {
		texts[&w.put[i]] = putText(rows)
	}
	for to, text := range texts {
		if *to, err = w.conn.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
		w.statements = append(w.statements, *to)
	}
	return w, nil
}

// close ends the statements before the connection: with one left, SQLite would
// leave its log beside the file.
func (w *writer) close() error {
	var errs []error
	for _, s := range w.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// commit makes all of a batch durable, or nothing of it. It takes no savepoint
// for each: an operation that the store refuses has changed nothing, and after a
// failure of the disk SQLite may undo the transaction by itself, and savepoints
// with it.
func (w *writer) commit(batch []operation) (err error) {
	if _, err := w.begin.Exec(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = w.rollback.Exec() // fails where SQLite has done so
		}
	}()
	w.drawn, w.statementDrawn = false, false
	for _, op := range batch {
		if err := op.run(w); err != nil {
			return err
		}
	}
	_, err = w.end.Exec()
	return err
}

// draw reads the newest number and revision. The transaction has the lock of all
// processes until its commit, so that both become visible in their order.
func (w *writer) draw() error {
	if w.drawn {
		return nil
	}
	w.drawn = true
	return w.newest.QueryRow().Scan(&w.number, &w.revision)
}
