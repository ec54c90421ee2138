package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/store"
)

var refundTests = tests{
	"a payment is given back in parts, and no more": refundParts,
	"all that is left is given back":                refundRest,
	"a refund repeated is made once":                refundRepeated,
	"a refund's ID is taken once for its payment":   refundExists,
	"what was never charged is not given back":      refundNotFound,
	"a refund is not less than zero":                refundInvalid,
	"the largest payment is given back":             refundLargest,
	"refunds made at one time are within what was":  refundsConcurrent,
	"money goes there and back and stays the same":  refundsConserve,
	"an ended context gives nothing back":           refundContext,
}

// back makes a refund and holds it against what the payment, what is given and
// the account must be.
func back(t *testing.T, s store.Store, p store.Payment, id string, minor, given, balance int64) {
	t.Helper()
	got, err := s.(store.Payments).Refund(t.Context(), store.Refund{PaymentID: p.ID, ID: id, Minor: minor})
	if err != nil {
		t.Fatalf("Refund %s of %s, %d: %v", id, p.ID, minor, err)
	}
	if d := cmp.Diff(store.Refunded{Payment: p, Minor: given, Balance: balance}, got); d != "" {
		t.Errorf("Refund %s of %s, %d (-want +got):\n%s", id, p.ID, minor, d)
	}
}

func notBack(t *testing.T, s store.Store, r store.Refund, want error) {
	t.Helper()
	if got, err := s.(store.Payments).Refund(t.Context(), r); !errors.Is(err, want) {
		t.Errorf("Refund %+v = %+v, %v; want %v", r, got, err, want)
	}
}

func refundParts(t *testing.T, s store.Store) {
	p := aPayment()
	charged(t, s, p, opening-2580)
	p.Refunded = 1000
	back(t, s, p, "a", 1000, 1000, opening-1580)
	notBack(t, s, store.Refund{PaymentID: p.ID, ID: "b", Minor: 1581}, store.ErrSpent)
	notBack(t, s, store.Refund{PaymentID: p.ID, ID: "b", Minor: math.MaxInt64}, store.ErrSpent)
	hasPayment(t, s, p)
	p.Refunded = 2580
	back(t, s, p, "b", 1580, 1580, opening) // what was refused left the ID free
	hasPayment(t, s, p)
	notBack(t, s, store.Refund{PaymentID: p.ID, ID: "c", Minor: 1}, store.ErrSpent)
	notBack(t, s, store.Refund{PaymentID: p.ID, ID: "c"}, store.ErrSpent)
	charged(t, s, aPayment(), opening-2580) // as it was answered then
	charged(t, s, small("after"), opening-1)
}

func refundRest(t *testing.T, s store.Store) {
	p := aPayment()
	charged(t, s, p, opening-2580)
	p.Refunded = 80
	back(t, s, p, "a", 80, 80, opening-2500)
	p.Refunded = 2580
	back(t, s, p, "b", 0, 2500, opening)
}

func refundRepeated(t *testing.T, s store.Store) {
	first, rest := aPayment(), aPayment()
	charged(t, s, first, opening-2580)
	first.Refunded, rest.Refunded = 1000, 2580
	back(t, s, first, "a", 1000, 1000, opening-1580)
	charged(t, s, small("between"), opening-1581)
	back(t, s, rest, "b", 0, 1580, opening-1)
	for range 2 { // as it was answered then
		back(t, s, first, "a", 1000, 1000, opening-1580)
		back(t, s, rest, "b", 0, 1580, opening-1)
	}
	charged(t, s, small("after"), opening-2)
}

func refundExists(t *testing.T, s store.Store) {
	p, other := aPayment(), small("0197")
	charged(t, s, p, opening-2580)
	charged(t, s, other, opening-2581)
	p.Refunded = 1000
	back(t, s, p, "a", 1000, 1000, opening-1581)
	for _, minor := range []int64{0, 1, 1001, math.MaxInt64} { // the ID is looked at before what is left
		notBack(t, s, store.Refund{PaymentID: p.ID, ID: "a", Minor: minor}, store.ErrExists)
	}
	other.Refunded = 1
	back(t, s, other, "-pa", 1, 1, opening-1580) // its IDs in a row are those of the other's
	hasPayment(t, s, p)
	other = small("0198")
	charged(t, s, other, opening-1581)
	other.Refunded = 1
	back(t, s, other, "a", 0, 1, opening-1580)
	notBack(t, s, store.Refund{PaymentID: other.ID, ID: "a", Minor: 1}, store.ErrExists) // all is not one, though it was
	hasPayment(t, s, p)
}

func refundNotFound(t *testing.T, s store.Store) {
	charged(t, s, aPayment(), opening-2580)
	for _, id := range []string{"", "0197", "0197-pa"} {
		notBack(t, s, store.Refund{PaymentID: id, ID: "a", Minor: 1}, store.ErrNotFound)
	}
}

func refundInvalid(t *testing.T, s store.Store) {
	charged(t, s, aPayment(), opening-2580)
	for _, minor := range []int64{-1, math.MinInt64} {
		notBack(t, s, store.Refund{PaymentID: aPayment().ID, ID: "a", Minor: minor}, store.ErrInvalid)
	}
	hasPayment(t, s, aPayment())
	charged(t, s, small("a"), opening-2581)
}

func refundLargest(t *testing.T, s store.Store) {
	p := aPayment()
	p.Amount.Minor = math.MaxInt64
	if left, err := s.(store.Payments).Charge(t.Context(), p, math.MaxInt64); err != nil || left != 0 {
		t.Errorf("Charge all of the largest account: %d, %v", left, err)
	}
	p.Refunded = 1
	back(t, s, p, "a", 1, 1, 1)
	p.Refunded = math.MaxInt64
	back(t, s, p, "b", 0, math.MaxInt64-1, math.MaxInt64)
}

func refundsConcurrent(t *testing.T, s store.Store) {
	p := aPayment()
	p.Amount.Minor = callers / 2
	charged(t, s, p, opening-callers/2)
	var errs [callers]error
	together(func(i int) {
		_, errs[i] = s.(store.Payments).Refund(t.Context(), store.Refund{PaymentID: p.ID, ID: fmt.Sprint(i), Minor: 1})
	})
	made := 0
	for i, err := range errs {
		if err == nil {
			made++
		} else if !errors.Is(err, store.ErrSpent) {
			t.Errorf("refund %d: %v; want ErrSpent", i, err)
		}
	}
	if made != callers/2 {
		t.Errorf("%d units were given back of %d", made, callers/2)
	}
	p.Refunded = callers / 2
	hasPayment(t, s, p)
	charged(t, s, small("after"), opening-1)
}

// refundsConserve has all callers charge one account and give back at once, each
// refund twice at one time.
func refundsConserve(t *testing.T, s store.Store) {
	together(func(i int) {
		p := small(fmt.Sprint("pair ", i/2))
		p.Amount.Minor = int64(1 + i/2)
		payments := s.(store.Payments)
		for round := range 3 {
			if _, err := payments.Charge(t.Context(), p, opening); err != nil {
				t.Errorf("Charge %+v: %v", p, err)
			}
			if _, err := payments.Refund(t.Context(), store.Refund{PaymentID: p.ID, ID: fmt.Sprint(round), Minor: int64(round)}); err != nil && !errors.Is(err, store.ErrSpent) {
				t.Errorf("Refund round %d of %s: %v", round, p.ID, err)
			}
		}
	})
	charged(t, s, small("after"), opening-1) // Minor 0 comes first, and gives all back
}

func refundContext(t *testing.T, s store.Store) {
	charged(t, s, aPayment(), opening-2580)
	if _, err := s.(store.Payments).Refund(ended(t), store.Refund{PaymentID: aPayment().ID, ID: "a", Minor: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Refund: %v; want context.Canceled", err)
	}
	hasPayment(t, s, aPayment())
}
