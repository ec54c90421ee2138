package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/store"
)

var paymentTests = tests{
	"an account opens once with its opening balance": accountOpens,
	"an account has one currency":                    accountCurrency,
	"a payment repeated is charged once":             paymentRepeated,
	"an ID is taken once":                            paymentExists,
	"an account is emptied but not overdrawn":        accountNotOverdrawn,
	"a payment made 64 times at one time is one":     paymentConcurrent,
	"of two payments under one ID one is charged":    paymentContended,
	"money is neither made nor lost":                 moneyConserved,
	"an ended context charges nothing":               paymentContext,
	"a payment comes back as it was charged":         paymentComesBack,
	"an unknown payment is not found":                paymentNotFound,
	"a charge is greater than zero":                  paymentInvalid,
}

const opening = 10_000

func aPayment() store.Payment {
	return store.Payment{ID: "0197-p", User: "Zoë Åkerström", Amount: store.Money{Currency: "EUR", Minor: 2580}, Created: noon}
}

// small is a payment of one minor unit, which shows the balance.
func small(id string) store.Payment {
	p := aPayment()
	p.ID, p.Amount.Minor = id, 1
	return p
}

func charged(t *testing.T, s store.Store, p store.Payment, want int64) {
	t.Helper()
	if got, err := s.(store.Payments).Charge(t.Context(), p, opening); err != nil || got != want {
		t.Errorf("Charge %+v = %d, %v; want %d", p, got, err, want)
	}
}

func refused(t *testing.T, s store.Store, p store.Payment, want error) {
	t.Helper()
	if got, err := s.(store.Payments).Charge(t.Context(), p, opening); !errors.Is(err, want) {
		t.Errorf("Charge %+v = %d, %v; want %v", p, got, err, want)
	}
}

func accountOpens(t *testing.T, s store.Store) {
	charged(t, s, small("a"), opening-1)
	got, err := s.(store.Payments).Charge(t.Context(), small("b"), 5*opening)
	if err != nil || got != opening-2 {
		t.Errorf("second charge = %d, %v; want %d, whatever opening is given then", got, err, opening-2)
	}
}

func accountCurrency(t *testing.T, s store.Store) {
	charged(t, s, small("a"), opening-1)
	yen := small("b")
	yen.Amount.Currency = "JPY"
	charged(t, s, yen, opening-1)
	other := small("c")
	other.User = "Zoe Akerstrom"
	charged(t, s, other, opening-1)
}

func paymentRepeated(t *testing.T, s store.Store) {
	charged(t, s, aPayment(), opening-2580)
	charged(t, s, small("a"), opening-2581)
	charged(t, s, aPayment(), opening-2580) // as it was answered then
	charged(t, s, small("b"), opening-2582)
}

func paymentExists(t *testing.T, s store.Store) {
	charged(t, s, aPayment(), opening-2580)
	for _, change := range []func(*store.Payment){
		func(p *store.Payment) { p.User = "Zoe Akerstrom" },
		func(p *store.Payment) { p.Amount.Currency = "SEK" },
		func(p *store.Payment) { p.Amount.Minor++ },
		func(p *store.Payment) { p.Amount.Minor = math.MaxInt64 }, // the ID is looked at before the funds
	} {
		other := aPayment()
		change(&other)
		refused(t, s, other, store.ErrExists)
	}
	charged(t, s, small("a"), opening-2581)
}

func accountNotOverdrawn(t *testing.T, s store.Store) {
	for _, minor := range []int64{opening + 1, math.MaxInt64} {
		p := aPayment()
		p.Amount.Minor = minor
		refused(t, s, p, store.ErrInsufficientFunds)
	}
	charged(t, s, aPayment(), opening-2580) // a payment refused leaves its ID free
	last := small("remainder")
	last.Amount.Minor = opening - 2580
	charged(t, s, last, 0)
	refused(t, s, small("a"), store.ErrInsufficientFunds)
}

func paymentConcurrent(t *testing.T, s store.Store) {
	together(func(int) { charged(t, s, aPayment(), opening-2580) })
	charged(t, s, small("after"), opening-2581)
}

func paymentContended(t *testing.T, s store.Store) {
	var balances [callers]int64
	var errs [callers]error
	together(func(i int) {
		p := aPayment()
		p.Amount.Minor += int64(i % 2)
		balances[i], errs[i] = s.(store.Payments).Charge(t.Context(), p, opening)
	})
	winner := int64(0)
	if errs[0] != nil {
		winner = 1
	}
	for i, err := range errs {
		switch {
		case int64(i%2) == winner && (err != nil || balances[i] != opening-2580-winner):
			t.Errorf("charge %d = %d, %v; want %d", i, balances[i], err, opening-2580-winner)
		case int64(i%2) != winner && !errors.Is(err, store.ErrExists):
			t.Errorf("charge %d = %d, %v; want ErrExists", i, balances[i], err)
		}
	}
	charged(t, s, small("after"), opening-2581-winner)
}

// moneyConserved has all callers charge the same few accounts until some are
// empty. What is left and what was charged must add up to what was there.
func moneyConserved(t *testing.T, s store.Store) {
	const users, each = 7, 40
	var spent [callers][users]int64
	together(func(i int) {
		for n := range each {
			user := (i + n) % users
			p := store.Payment{
				ID: fmt.Sprintf("%d-%d", i, n), User: fmt.Sprint("user ", user),
				Amount: store.Money{Currency: "EUR", Minor: int64(1 + (i*n)%60)},
			}
			_, err := s.(store.Payments).Charge(t.Context(), p, opening)
			switch {
			case err == nil:
				spent[i][user] += p.Amount.Minor
			case !errors.Is(err, store.ErrInsufficientFunds):
				t.Errorf("Charge %+v: %v", p, err)
			}
		}
	})
	for user := range users {
		left := int64(opening)
		for i := range spent {
			left -= spent[i][user]
		}
		drain := store.Payment{ID: fmt.Sprint("drain ", user), User: fmt.Sprint("user ", user), Amount: store.Money{Currency: "EUR", Minor: left + 1}}
		refused(t, s, drain, store.ErrInsufficientFunds)
		if drain.Amount.Minor = left; left > 0 {
			charged(t, s, drain, 0)
		}
	}
}

func paymentContext(t *testing.T, s store.Store) {
	payments := s.(store.Payments)
	if _, err := payments.Charge(ended(t), aPayment(), opening); !errors.Is(err, context.Canceled) {
		t.Errorf("Charge: %v; want context.Canceled", err)
	}
	charged(t, s, small("a"), opening-1)
	if _, err := payments.PaymentByID(ended(t), "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("PaymentByID: %v; want context.Canceled", err)
	}
}

func paymentComesBack(t *testing.T, s store.Store) {
	extreme := aPayment()
	extreme.ID, extreme.User, extreme.Amount.Minor = strings.Repeat("x", 128), "rich", math.MaxInt64
	if left, err := s.(store.Payments).Charge(t.Context(), extreme, math.MaxInt64); err != nil || left != 0 {
		t.Errorf("Charge all of the largest account: %d, %v", left, err)
	}
	hasPayment(t, s, extreme)
	charged(t, s, aPayment(), opening-2580)
	again := aPayment()
	again.Created, again.Refunded = noon.Add(time.Hour), 3 // no content
	charged(t, s, again, opening-2580)
	hasPayment(t, s, aPayment())
	for _, text := range awkward {
		p := small("awkward " + text)
		p.User = text
		charged(t, s, p, opening-1)
		hasPayment(t, s, p)
	}
}

func paymentNotFound(t *testing.T, s store.Store) {
	charged(t, s, aPayment(), opening-2580)
	for _, id := range []string{"", "0197", "0197-pp", "0197-P"} {
		if p, err := s.(store.Payments).PaymentByID(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("PaymentByID(%q) = %+v, %v; want ErrNotFound", id, p, err)
		}
	}
}

func paymentInvalid(t *testing.T, s store.Store) {
	for _, minor := range []int64{0, -1, math.MinInt64} {
		p := aPayment()
		p.Amount.Minor = minor
		refused(t, s, p, store.ErrInvalid)
	}
	charged(t, s, small("a"), opening-1)
}

func hasPayment(t *testing.T, s store.Store, want store.Payment) {
	t.Helper()
	got, err := s.(store.Payments).PaymentByID(t.Context(), want.ID)
	if err != nil {
		t.Fatalf("PaymentByID %s: %v", want.ID, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("payment %s (-want +got):\n%s", want.ID, d)
	}
}
