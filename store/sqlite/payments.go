package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/tare-bench/tare/store"
)

const paymentByID = "SELECT id, user_name, currency, amount_minor, balance_minor, refunded_minor, created_us FROM payments WHERE id = ?"

// scanPayment reads paymentByID.
func scanPayment(scan func(...any) error) (p store.Payment, balance int64, err error) {
	var created int64
	err = scan(&p.ID, &p.User, &p.Amount.Currency, &p.Amount.Minor, &balance, &p.Refunded, &created)
	p.Created = instant(created)
	return p, balance, err
}

type charge struct {
	payment store.Payment
	opening int64
	balance int64
	answer  error
}

// Charge implements store.Payments.
func (s *Store) Charge(ctx context.Context, p store.Payment, opening int64) (int64, error) {
	if err := p.Check(); err != nil {
		return 0, err
	}
	if err := store.CheckText(p.ID, p.User, p.Amount.Currency); err != nil {
		return 0, fmt.Errorf("charge: %w", err)
	}
	op := &charge{payment: p, opening: opening}
	if err := s.do(ctx, op); err != nil {
		return 0, err
	}
	if op.answer != nil {
		return 0, op.answer
	}
	return op.balance, nil
}

func (op *charge) size() int { return len(op.payment.ID) }

func (op *charge) run(w *writer) error {
	op.answer = nil
	p := op.payment
	err := w.take.QueryRow(p.Amount.Minor, p.User, p.Amount.Currency, p.ID).Scan(&op.balance)
	if errors.Is(err, sql.ErrNoRows) {
		var done bool
		if done, err = op.untaken(w); done {
			return err
		}
	}
	if err != nil {
		return err
	}
	_, err = w.addPayment.Exec(p.ID, p.User, p.Amount.Currency, p.Amount.Minor, op.balance, p.Created.UnixMicro())
	return err
}

// untaken is for what the account as it is was not charged for: a payment that is
// kept already, an account that is to be opened, or one that holds too little.
func (op *charge) untaken(w *writer) (done bool, err error) {
	p := op.payment
	kept, balance, err := scanPayment(w.payment.QueryRow(p.ID).Scan)
	if err == nil {
		op.balance = balance
		if kept.User != p.User || kept.Amount != p.Amount {
			op.answer = store.ErrExists
		}
		return true, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return true, err
	}
	if op.opening < p.Amount.Minor { // as every account that is open
		op.answer = store.ErrInsufficientFunds
		return true, nil
	}
	op.balance = op.opening - p.Amount.Minor
	opened, err := w.openAccount.Exec(p.User, p.Amount.Currency, op.balance)
	if err != nil {
		return true, err
	}
	if n, err := opened.RowsAffected(); err != nil || n == 1 {
		return err != nil, err
	}
	op.answer = store.ErrInsufficientFunds
	return true, nil
}

type refund struct {
	given  store.Refund
	made   store.Refunded
	answer error
}

// Refund implements store.Payments.
func (s *Store) Refund(ctx context.Context, r store.Refund) (store.Refunded, error) {
	if err := r.Check(); err != nil {
		return store.Refunded{}, err
	}
	if err := store.CheckText(r.PaymentID, r.ID); err != nil {
		return store.Refunded{}, fmt.Errorf("refund: %w", err)
	}
	op := &refund{given: r}
	if err := s.do(ctx, op); err != nil {
		return store.Refunded{}, err
	}
	if op.answer != nil {
		return store.Refunded{}, op.answer
	}
	return op.made, nil
}

func (op *refund) size() int { return len(op.given.PaymentID) }

func (op *refund) run(w *writer) error {
	op.answer = nil
	p, _, err := scanPayment(w.payment.QueryRow(op.given.PaymentID).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		op.answer = store.ErrNotFound
		return nil
	}
	if err != nil {
		return err
	}
	var asked int64
	made := store.Refunded{Payment: p}
	err = w.refund.QueryRow(p.ID, op.given.ID).Scan(&asked, &made.Minor, &made.Payment.Refunded, &made.Balance)
	switch {
	case err == nil && asked != op.given.Minor:
		op.answer = store.ErrExists
		return nil
	case err == nil:
		op.made = made
		return nil
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	return op.make(w, p)
}

func (op *refund) make(w *writer, p store.Payment) error {
	left := p.Amount.Minor - p.Refunded
	given := op.given.Minor
	if given == 0 {
		given = left
	}
	if given == 0 || given > left {
		op.answer = store.ErrSpent
		return nil
	}
	p.Refunded += given
	op.made = store.Refunded{Payment: p, Minor: given}
	if _, err := w.markRefunded.Exec(p.Refunded, p.ID); err != nil {
		return err
	}
	if err := w.give.QueryRow(given, p.User, p.Amount.Currency).Scan(&op.made.Balance); err != nil {
		return err
	}
	_, err := w.addRefund.Exec(p.ID, op.given.ID, op.given.Minor, given, p.Refunded, op.made.Balance)
	return err
}
