package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tare-bench/tare/store"
)

// ledger is what a batch read of accounts and what was charged to them, and what
// it makes of that: plain arithmetic, one change after the other.
type ledger struct {
	accounts map[account]*entry
	payments map[string]*paid
	refunds  map[refundKey]*given
}

type account struct{ user, currency string }

type entry struct {
	balance       int64
	kept, changed bool
}

type paid struct {
	paymentRow
	kept, changed bool
}

func (p *paid) account() account { return account{p.User, p.Amount.Currency} }

type refundKey struct{ payment, id string }

type given struct {
	asked, minor   int64
	until, balance int64 // of the payment until then; of the account after it
	kept           bool
}

func newLedger() *ledger {
	return &ledger{map[account]*entry{}, map[string]*paid{}, map[refundKey]*given{}}
}

func (c *charge) size() int { return len(c.payment.ID) }

func (c *charge) apply(l *ledger) {
	c.answer = nil
	p := c.payment
	if was := l.payments[p.ID]; was != nil {
		if c.balance = was.balance; was.User != p.User || was.Amount != p.Amount {
			c.balance, c.answer = 0, store.ErrExists
		}
		return
	}
	of := account{p.User, p.Amount.Currency}
	a := l.accounts[of]
	if a == nil {
		a = &entry{balance: c.opening}
	}
	if a.balance < p.Amount.Minor {
		c.balance, c.answer = 0, store.ErrInsufficientFunds
		return
	}
	a.balance -= p.Amount.Minor
	a.changed = true
	l.accounts[of] = a
	l.payments[p.ID] = &paid{paymentRow: paymentRow{p, a.balance}}
	c.balance = a.balance
}

func (c *refund) size() int { return len(c.given.PaymentID) }

func (c *refund) apply(l *ledger) {
	c.made, c.answer = store.Refunded{}, nil
	p := l.payments[c.given.PaymentID]
	if p == nil || l.accounts[p.account()] == nil { // charged by another process, after the accounts were locked
		c.answer = store.ErrNotFound
		return
	}
	key := refundKey{p.ID, c.given.ID}
	r := l.refunds[key]
	if r == nil {
		if r = l.giveBack(p, c.given.Minor); r == nil {
			c.answer = store.ErrSpent
			return
		}
		l.refunds[key] = r
	}
	if r.asked != c.given.Minor {
		c.answer = store.ErrExists
		return
	}
	c.made = store.Refunded{Payment: p.Payment, Minor: r.minor, Balance: r.balance}
	c.made.Payment.Refunded = r.until
}

// giveBack makes a refund, or gives nil where so much is not left.
func (l *ledger) giveBack(p *paid, asked int64) *given {
	left := p.Amount.Minor - p.Refunded
	minor := asked
	if minor == 0 {
		minor = left
	}
	if minor == 0 || minor > left {
		return nil
	}
	a := l.accounts[p.account()]
	a.balance += minor
	p.Refunded += minor
	a.changed, p.changed = true, true
	return &given{asked: asked, minor: minor, until: p.Refunded, balance: a.balance}
}

// write adds to a batch what has changed: by kind, in one statement each.
func (l *ledger) write(b *pgx.Batch, sql *statements) {
	var opened, moved struct {
		users, currencies []string
		balances          []int64
	}
	for of, a := range l.accounts {
		to := &opened
		if a.kept {
			to = &moved
		}
		if a.changed {
			to.users, to.currencies, to.balances = append(to.users, of.user), append(to.currencies, of.currency), append(to.balances, a.balance)
		}
	}
	if len(opened.users) > 0 {
		b.Queue(sql.open, opened.users, opened.currencies, opened.balances)
	}
	if len(moved.users) > 0 {
		b.Queue(sql.setBalance, moved.users, moved.currencies, moved.balances)
	}
	l.writePayments(b, sql)
	l.writeRefunds(b, sql)
}

func (l *ledger) writePayments(b *pgx.Batch, sql *statements) {
	var ids, users, currencies, changed []string
	var amounts, balances, refunded, until []int64
	var created []time.Time
	for _, p := range l.payments {
		if p.kept && p.changed {
			changed, until = append(changed, p.ID), append(until, p.Refunded)
		}
		if p.kept {
			continue
		}
		ids, users, currencies = append(ids, p.ID), append(users, p.User), append(currencies, p.Amount.Currency)
		amounts, balances, refunded = append(amounts, p.Amount.Minor), append(balances, p.balance), append(refunded, p.Refunded)
		created = append(created, p.Created)
	}
	if len(ids) > 0 {
		b.Queue(sql.addPayment, ids, users, currencies, amounts, balances, refunded, created)
	}
	if len(changed) > 0 {
		b.Queue(sql.setRefunded, changed, until)
	}
}

func (l *ledger) writeRefunds(b *pgx.Batch, sql *statements) {
	var of, ids []string
	var asked, minor, until, balances []int64
	for key, r := range l.refunds {
		if r.kept {
			continue
		}
		of, ids = append(of, key.payment), append(ids, key.id)
		asked, minor = append(asked, r.asked), append(minor, r.minor)
		until, balances = append(until, r.until), append(balances, r.balance)
	}
	if len(of) > 0 {
		b.Queue(sql.addRefund, of, ids, asked, minor, until, balances)
	}
}
