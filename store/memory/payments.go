package memory

import (
	"context"
	"strings"
	"sync"

	"github.com/tare-bench/tare/store"
)

// Charge implements store.Payments. It holds the payment's shard while it
// changes the account, so that of two charges under one ID the second waits
// for the first. Locks are always taken in this order: payment, refund, account.
func (s *Store) Charge(ctx context.Context, p store.Payment, opening int64) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := p.Check(); err != nil {
		return 0, err
	}
	var room [192]byte
	row := appendPayment(room[:paymentHeadSize], p)
	sh := s.payments.shardOf(p.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if kept, ok := sh.find(p.ID); ok {
		if string(kept[paymentHeadSize:]) != string(row[paymentHeadSize:]) {
			return 0, store.ErrExists
		}
		return word(kept, paymentBalance), nil
	}
	balance, err := s.accounts.take(account{p.User, p.Amount.Currency}, p.Amount.Minor, opening)
	if err != nil {
		return 0, err
	}
	setWord(row, paymentBalance, balance)
	setWord(row, paymentCreated, p.Created.UnixMicro())
	sh.add(p.ID, row)
	return balance, nil
}

// PaymentByID implements store.Payments.
func (s *Store) PaymentByID(ctx context.Context, id string) (store.Payment, error) {
	if err := ctx.Err(); err != nil {
		return store.Payment{}, err
	}
	sh := s.payments.shardOf(id)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	row, ok := sh.find(id)
	if !ok {
		return store.Payment{}, store.ErrNotFound
	}
	return paymentAt(id, row), nil
}

func paymentAt(id string, row []byte) store.Payment {
	p := parsePayment(id, row[paymentHeadSize:])
	p.Created, p.Refunded = instant(word(row, paymentCreated)), word(row, paymentRefunded)
	return p
}

// Refund implements store.Payments.
func (s *Store) Refund(ctx context.Context, r store.Refund) (store.Refunded, error) {
	if err := ctx.Err(); err != nil {
		return store.Refunded{}, err
	}
	if err := r.Check(); err != nil {
		return store.Refunded{}, err
	}
	sh := s.payments.shardOf(r.PaymentID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	row, ok := sh.find(r.PaymentID)
	if !ok {
		return store.Refunded{}, store.ErrNotFound
	}
	p := paymentAt(r.PaymentID, row)
	key := refundKey(r)
	refunds := s.refunds.shardOf(key)
	refunds.mu.Lock()
	defer refunds.mu.Unlock()
	kept, ok := refunds.find(key)
	if !ok {
		made, err := s.refund(p, r.Minor)
		if err != nil {
			return store.Refunded{}, err
		}
		setWord(row, paymentRefunded, word(made[:], refundUntil))
		kept, _ = refunds.add(key, made[:])
	} else if word(kept, refundMinor) != r.Minor {
		return store.Refunded{}, store.ErrExists
	}
	p.Refunded = word(kept, refundUntil)
	return store.Refunded{Payment: p, Minor: word(kept, refundGiven), Balance: word(kept, refundBalance)}, nil
}

// refund gives the row of a refund that it makes.
func (s *Store) refund(p store.Payment, minor int64) (row [refundSize]byte, err error) {
	left := p.Amount.Minor - p.Refunded
	given := minor
	if given == 0 {
		given = left
	}
	if given == 0 || given > left {
		return row, store.ErrSpent
	}
	setWord(row[:], refundMinor, minor)
	setWord(row[:], refundGiven, given)
	setWord(row[:], refundUntil, p.Refunded+given)
	setWord(row[:], refundBalance, s.accounts.give(account{p.User, p.Amount.Currency}, given))
	return row, nil
}

type account struct{ user, currency string }

// accounts are few beside payments and are locked for some tens of
// nanoseconds: one map and one lock suffice.
type accounts struct {
	mu      sync.Mutex
	balance map[account]int64
}

func (a *accounts) take(of account, amount, opening int64) (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	balance, ok := a.balance[of]
	if !ok {
		balance = opening
	}
	if balance < amount {
		return 0, store.ErrInsufficientFunds
	}
	balance -= amount
	if !ok { // the request's strings may be windows on a large buffer
		of = account{strings.Clone(of.user), strings.Clone(of.currency)}
	}
	a.balance[of] = balance
	return balance, nil
}

// give adds to an account that was charged at least as much before.
func (a *accounts) give(to account, amount int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	balance := a.balance[to] + amount
	a.balance[to] = balance
	return balance
}
