package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a store answers instead of a record. Implementations return these, or
// errors that wrap them; any other error is the store's own failure.
var (
	ErrNotFound          = errors.New("not found")
	ErrExists            = errors.New("exists with other content")
	ErrInsufficientFunds = errors.New("insufficient funds")
	ErrSpent             = errors.New("more than is left")
	// ErrInvalid is of what is given: no store keeps it, or not this kind.
	ErrInvalid = errors.New("not to be kept")
	// ErrUnavailable is a failure that may pass: no room, no connection. What
	// was asked for was made whole or not at all; to ask again is safe.
	ErrUnavailable = errors.New("not available")
)

// Money is an amount in minor units (cents, for EUR) of an ISO 4217 currency.
type Money struct {
	Currency string
	Minor    int64
}

// OrderStatus is where an order stands.
type OrderStatus uint8

// Where an order stands. Pending is where each begins, and the other two are
// for good.
const (
	OrderPending OrderStatus = iota + 1
	OrderPaid
	OrderRefused // its payment was refused
)

// Order is an order as it is kept. Times are UTC, in whole microseconds.
type Order struct {
	ID, User string
	Lines    []OrderLine
	Total    Money
	Status   OrderStatus
	Balance  int64 // of the user's account after the charge, in Total's currency; 0 unless paid
	Number   int64 // above 0; grows from order to order as they are accepted
	Revision int64 // above 0; grows with each change of any order
	Created  time.Time
	Updated  time.Time
}

// OrderLine is one item of an order.
type OrderLine struct {
	SKU, Title     string
	Quantity       int32
	UnitPriceMinor int64 // in the currency of the order's total
}

// Settlement is how a pending order ends.
type Settlement struct {
	Status  OrderStatus // OrderPaid or OrderRefused
	Balance int64       // after the charge; 0 unless paid
	At      time.Time
}

// Check says with ErrInvalid that s ends no order.
func (s Settlement) Check() error {
	switch {
	case s.Status != OrderPaid && s.Status != OrderRefused:
		return fmt.Errorf("settle order as %d: %w: an order ends as paid or as refused", s.Status, ErrInvalid)
	case s.Status == OrderRefused && s.Balance != 0:
		return fmt.Errorf("settle order as refused with a balance of %d: %w: nothing was charged", s.Balance, ErrInvalid)
	}
	return nil
}

// Orders keeps orders. What AddOrder and SettleOrder returned without an error
// is there for every call that begins afterwards, and in a store that outlives
// its process after a crash too. Where ctx ends before they return, the change
// is made whole or not at all, and the error is ctx's.
type Orders interface {
	// AddOrder keeps a new order under its ID, as pending and with o.Created as
	// both times, and gives it as it is kept. Status, Balance, Number, Revision
	// and Updated of o are not read. Where an order is kept under that ID
	// already it changes nothing: it gives that one if user, lines and total are
	// equal, else ErrExists. It keeps no reference to o.Lines.
	AddOrder(ctx context.Context, o Order) (Order, error)
	// SettleOrder ends a pending order and gives it as it is kept, with s.At as
	// Updated. Where it has ended already, equally but for the time, it changes
	// nothing and gives it; where otherwise, ErrExists. Where there is none,
	// ErrNotFound. What s.Check refuses, it does too.
	SettleOrder(ctx context.Context, id string, s Settlement) (Order, error)
	// OrderByID gives the order kept under an ID, or ErrNotFound.
	OrderByID(ctx context.Context, id string) (Order, error)
}

// OrderLists gives the orders of a store of Orders by what they have in common.
// Each gives at most limit, which is above 0. Numbers become visible in their
// order, as revisions do.
type OrderLists interface {
	// OrdersBefore gives orders whose Number is below before, the highest first:
	// those of one user, or where user is "" of all.
	OrdersBefore(ctx context.Context, user string, before int64, limit int) ([]Order, error)
	// ChangesAfter gives orders whose Revision is above after, the lowest first.
	// No change is ever made visible with a lower revision than one that was
	// visible before, so that who asks again from the last one misses none.
	ChangesAfter(ctx context.Context, after int64, limit int) ([]Order, error)
	// PendingBefore gives orders that are pending and were created before t, the
	// oldest first.
	PendingBefore(ctx context.Context, t time.Time, limit int) ([]Order, error)
}

// Payment is a charge to the account that its user holds in its currency.
// Created is UTC, in whole microseconds.
type Payment struct {
	ID, User string
	Amount   Money // greater than zero
	Created  time.Time
	Refunded int64 // of Amount.Minor, until now; read by nothing that is given a Payment
}

// Refund gives back a payment or a part of it.
type Refund struct {
	PaymentID, ID string // ID is unique for each payment
	Minor         int64  // of the payment's currency; 0: all that is left
}

// Check says with ErrInvalid that p charges nothing.
func (p Payment) Check() error {
	if p.Amount.Minor <= 0 {
		return fmt.Errorf("charge %d: %w: an amount is greater than zero", p.Amount.Minor, ErrInvalid)
	}
	return nil
}

// Check says with ErrInvalid that r gives nothing back.
func (r Refund) Check() error {
	if r.Minor < 0 {
		return fmt.Errorf("refund %d: %w: an amount is greater than zero, or zero for all that is left", r.Minor, ErrInvalid)
	}
	return nil
}

// Refunded is what became of a refund.
type Refunded struct {
	Payment Payment // as it stood after the refund
	Minor   int64   // what was given back
	Balance int64   // of the account after the refund
}

// Payments keeps accounts and what was charged to them. What Charge and Refund
// returned without an error stays, as with Orders; what Check refuses of their
// arguments, they do too.
type Payments interface {
	// Charge takes p.Amount from the account of p.User in p.Amount.Currency,
	// which it opens with opening minor units if this is its first use, and
	// gives the balance that is left.
	//
	// A payment is charged once: where one is kept under p.ID already, Charge
	// changes nothing and gives the balance that was left then if user and
	// amount are equal, else ErrExists. An account is never overdrawn: where it
	// holds less than p.Amount, Charge changes nothing, keeps no payment, and
	// returns ErrInsufficientFunds.
	Charge(ctx context.Context, p Payment, opening int64) (balance int64, err error)
	// PaymentByID gives the payment kept under an ID, or ErrNotFound.
	PaymentByID(ctx context.Context, id string) (Payment, error)
	// Refund adds to the account that was charged what it takes back from the
	// payment. It is made once: where one is kept under its IDs already, Refund
	// changes nothing and gives what it gave then if Minor is equal, else
	// ErrExists. Where less is left of the payment than r.Minor, or nothing,
	// ErrSpent; where there is no payment, ErrNotFound.
	Refund(ctx context.Context, r Refund) (Refunded, error)
}
