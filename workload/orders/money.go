package orders

import (
	"strconv"

	"github.com/tare-bench/tare/store"
)

// openingBalance is what each account holds before its first payment. It lasts
// one user for millions of orders of a thousand lines, so that no benchmark
// runs dry, and yet one order can cost more.
const openingBalance = 1_000_000_000_000_000

// decimals is how many digits of a currency's minor units stand behind the
// point, 0 to 3, where they are not two. Source: ISO 4217.
var decimals = map[string]int{
	"BHD": 3, "CLP": 0, "IQD": 3, "ISK": 0, "JOD": 3, "JPY": 0, "KRW": 0,
	"KWD": 3, "OMR": 3, "PYG": 0, "TND": 3, "UGX": 0, "VND": 0,
}

// appendMoney appends an amount as a person writes it: "-0.07 EUR", "120 JPY".
func appendMoney(b []byte, currency string, minor int64) []byte {
	digits, ok := decimals[currency]
	if !ok {
		digits = 2
	}
	magnitude := uint64(minor)
	if minor < 0 {
		b = append(b, '-')
		magnitude = -magnitude
	}
	unit := [...]uint64{1, 10, 100, 1000}[digits]
	b = strconv.AppendUint(b, magnitude/unit, 10)
	if part := magnitude % unit; digits > 0 {
		b = append(b, '.')
		for place := unit / 10; place > 1 && part < place; place /= 10 {
			b = append(b, '0')
		}
		b = strconv.AppendUint(b, part, 10)
	}
	return append(append(b, ' '), currency...)
}

// appendPaid appends the sentence that answers a payment, or that part of it
// that answers an order too.
func appendPaid(b []byte, user, currency string, amount int64) []byte {
	b = append(append(b, user...), " paid "...)
	return appendMoney(b, currency, amount)
}

func appendLeft(b []byte, currency string, balance int64) []byte {
	b = append(b, " and has "...)
	return append(appendMoney(b, currency, balance), " left."...)
}

// appendOrderMessage appends "Zoë paid 25.80 EUR for 2 items and has 1.00 EUR left."
func appendOrderMessage(b []byte, user string, items int64, currency string, total, balance int64) []byte {
	b = append(appendPaid(b, user, currency, total), " for "...)
	b = append(strconv.AppendInt(b, items, 10), " item"...)
	if items != 1 {
		b = append(b, 's')
	}
	return appendLeft(b, currency, balance)
}

// appendPaymentMessage appends "Zoë paid 25.80 EUR and has 1.00 EUR left."
func appendPaymentMessage(b []byte, user, currency string, amount, balance int64) []byte {
	return appendLeft(appendPaid(b, user, currency, amount), currency, balance)
}

// appendRefundMessage appends "Zoë got 25.80 EUR back and has 26.80 EUR left."
func appendRefundMessage(b []byte, user, currency string, amount, balance int64) []byte {
	b = append(append(b, user...), " got "...)
	return appendLeft(append(appendMoney(b, currency, amount), " back"...), currency, balance)
}

// refusedMessage says why an order ended as refused: from the order alone, so
// that who asks again is told the same.
func refusedMessage(o store.Order) string {
	b := appendMoney([]byte("a payment of "), o.Total.Currency, o.Total.Minor)
	return string(append(append(append(b, " by "...), o.User...), " was refused"...))
}

func stored(m Money) store.Money { return store.Money{Currency: m.CurrencyCode, Minor: m.MinorUnits} }

func answered(m store.Money) Money { return Money{CurrencyCode: m.Currency, MinorUnits: m.Minor} }
