package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/tare-bench/tare/store"
)

// paymentChange is a charge or a refund that waits for its commit.
type paymentChange interface {
	size() int
	// apply makes the change to what was read of the database. It may run again.
	apply(*ledger)
	// wants adds what it must read.
	wants(*wanted)
}

type charge struct {
	payment store.Payment
	opening int64
	balance int64
	answer  error
}

type refund struct {
	given  store.Refund
	made   store.Refunded
	answer error
}

// Charge implements store.Payments.
func (s *Store) Charge(ctx context.Context, p store.Payment, opening int64) (int64, error) {
	if err := p.Check(); err != nil {
		return 0, err
	}
	if err := store.CheckText(p.ID, p.User, p.Amount.Currency); err != nil {
		return 0, fmt.Errorf("charge: %w", err)
	}
	p.Created, p.Refunded = instant(p.Created), 0
	c := &charge{payment: p, opening: opening}
	if err := s.payments.Do(ctx, c); err != nil {
		return 0, err
	}
	return c.balance, c.answer
}

// Refund implements store.Payments.
func (s *Store) Refund(ctx context.Context, r store.Refund) (store.Refunded, error) {
	if err := r.Check(); err != nil {
		return store.Refunded{}, err
	}
	if err := store.CheckText(r.PaymentID, r.ID); err != nil {
		return store.Refunded{}, fmt.Errorf("refund: %w", err)
	}
	c := &refund{given: r}
	if err := s.payments.Do(ctx, c); err != nil {
		return store.Refunded{}, err
	}
	return c.made, c.answer
}

// commitPayments makes all of a batch durable, in two round trips: one locks and
// reads, one writes and commits. What it decides in between hangs on the changes
// before it in the batch, which no single statement could follow. A transaction
// that fails in between ends with its connection, which the pool then closes.
func (s *Store) commitPayments(batch []paymentChange) error {
	return s.write(func(ctx context.Context, conn *pgx.Conn) error {
		l, err := s.readLedger(ctx, conn, batch)
		if err != nil {
			return err
		}
		for _, c := range batch {
			c.apply(l)
		}
		var b pgx.Batch
		l.write(&b, &s.sql)
		b.Queue(s.sql.end)
		return conn.SendBatch(ctx, &b).Close()
	})
}

// wanted is what a batch must read, by column.
type wanted struct {
	users, currencies       []string // of accounts
	payments                []string // to be charged
	refunded                []string // payments to be given back,
	refundsOf, refundsNamed []string // by these refunds
}

func (c *charge) wants(w *wanted) {
	w.users, w.currencies = append(w.users, c.payment.User), append(w.currencies, c.payment.Amount.Currency)
	w.payments = append(w.payments, c.payment.ID)
}

func (c *refund) wants(w *wanted) {
	w.refunded = append(w.refunded, c.given.PaymentID)
	w.refundsOf, w.refundsNamed = append(w.refundsOf, c.given.PaymentID), append(w.refundsNamed, c.given.ID)
}

// readLedger begins the transaction, locks the accounts, and reads what is kept.
// With an account locked nothing of its payments changes but by this batch;
// what another adds under the same IDs for another account shows when it is
// written here too, as a violation of a key, upon which the batch is run again.
func (s *Store) readLedger(ctx context.Context, conn *pgx.Conn, batch []paymentChange) (*ledger, error) {
	var w wanted
	for _, c := range batch {
		c.wants(&w)
	}
	l := newLedger()
	var b pgx.Batch
	b.Queue(s.sql.begin)
	b.Queue(s.sql.sync)
	b.Queue(s.sql.lockAccounts, w.users, w.currencies, w.refunded).Query(func(rows pgx.Rows) error {
		var of account
		var balance int64
		_, err := pgx.ForEachRow(rows, []any{&of.user, &of.currency, &balance}, func() error {
			l.accounts[of] = &entry{balance: balance, kept: true}
			return nil
		})
		return err
	})
	b.Queue(s.sql.payments, slices.Concat(w.payments, w.refunded)).Query(func(rows pgx.Rows) error {
		defer rows.Close()
		for rows.Next() {
			p := &paid{kept: true}
			if err := p.scan(rows.Scan); err != nil {
				return err
			}
			l.payments[p.ID] = p
		}
		return rows.Err()
	})
	if len(w.refunded) > 0 {
		b.Queue(s.sql.refunds, w.refundsOf, w.refundsNamed).Query(func(rows pgx.Rows) error {
			var k refundKey
			var r given
			_, err := pgx.ForEachRow(rows, []any{&k.payment, &k.id, &r.asked, &r.minor, &r.until, &r.balance}, func() error {
				kept := r
				kept.kept = true
				l.refunds[k] = &kept
				return nil
			})
			return err
		})
	}
	return l, conn.SendBatch(ctx, &b).Close()
}
