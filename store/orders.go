package store

import (
	"context"
	"errors"
)

// What a store answers instead of a record. Implementations return these, or
// errors that wrap them; any other error is the store's own failure.
var (
	ErrNotFound          = errors.New("not found")
	ErrExists            = errors.New("exists with other content")
	ErrInsufficientFunds = errors.New("insufficient funds")
)

// Money is an amount in minor units (cents, for EUR) of an ISO 4217 currency.
type Money struct {
	Currency string
	Minor    int64
}

// Order is an order that was paid.
type Order struct {
	ID, User string
	Lines    []OrderLine
	Total    Money // what was charged
	Balance  Money // of the user's account after the charge
}

// OrderLine is one item of an order.
type OrderLine struct {
	SKU, Title     string
	Quantity       int32
	UnitPriceMinor int64 // in the currency of the order's total
}

// Payment is a charge to the account that its user holds in its currency.
type Payment struct {
	ID, User string
	Amount   Money // greater than zero
}

// Orders keeps orders. An order that PutOrder took is there for every OrderByID
// that begins afterwards. Where ctx has ended, both return its error and change
// nothing.
type Orders interface {
	// PutOrder keeps an order under its ID, for good. Where an order is kept
	// under that ID already it changes nothing: it returns nil if the two are
	// equal, else ErrExists. It keeps no reference to o.Lines.
	PutOrder(ctx context.Context, o Order) error
	// OrderByID gives the order kept under an ID, or ErrNotFound.
	OrderByID(ctx context.Context, id string) (Order, error)
}

// Payments keeps accounts and what was charged to them.
type Payments interface {
	// Charge takes p.Amount from the account of p.User in p.Amount.Currency,
	// which it opens with opening minor units if this is its first use, and
	// gives the balance that is left.
	//
	// A payment is charged once: where one is kept under p.ID already, Charge
	// changes nothing and gives the balance that was left then if the two are
	// equal, else ErrExists. An account is never overdrawn: where it holds less
	// than p.Amount, Charge changes nothing, keeps no payment, and returns
	// ErrInsufficientFunds. Where ctx has ended, Charge returns its error and
	// changes nothing.
	Charge(ctx context.Context, p Payment, opening int64) (balance int64, err error)
}
