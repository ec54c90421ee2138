package orders

import "fmt"

// The messages as plain structs. Their JSON is ProtoJSON: names in
// lowerCamelCase, 64-bit integers as strings, enums by name, times as RFC 3339
// has them, and no null.

// Money is an amount in one currency.
type Money struct {
	CurrencyCode string `json:"currencyCode"`
	MinorUnits   int64  `json:"minorUnits,string"`
}

// OrderStatus is where an order stands: a number in protobuf, a name in JSON.
type OrderStatus int32

// The statuses of an order.
const (
	OrderUnspecified OrderStatus = iota
	OrderPaid
	OrderPending
	OrderRefused
)

// PaymentStatus is where a payment stands: a number in protobuf, a name in JSON.
type PaymentStatus int32

// The statuses of a payment.
const (
	PaymentUnspecified PaymentStatus = iota
	PaymentCharged
	PaymentPartlyRefunded
	PaymentRefunded
)

var (
	orderStatuses   = enum{"ORDER_STATUS_UNSPECIFIED", "ORDER_STATUS_PAID", "ORDER_STATUS_PENDING", "ORDER_STATUS_REFUSED"}
	paymentStatuses = enum{"PAYMENT_STATUS_UNSPECIFIED", "PAYMENT_STATUS_CHARGED", "PAYMENT_STATUS_PARTLY_REFUNDED", "PAYMENT_STATUS_REFUNDED"}
)

// MarshalText gives the name of the status.
func (s OrderStatus) MarshalText() ([]byte, error) { return orderStatuses.text(int32(s)) }

// UnmarshalText takes the name of a status.
func (s *OrderStatus) UnmarshalText(text []byte) error {
	return orderStatuses.parse(text, (*int32)(s))
}

// MarshalText gives the name of the status.
func (s PaymentStatus) MarshalText() ([]byte, error) { return paymentStatuses.text(int32(s)) }

// UnmarshalText takes the name of a status.
func (s *PaymentStatus) UnmarshalText(text []byte) error {
	return paymentStatuses.parse(text, (*int32)(s))
}

// enum is the names of an enum's values, which count from 0.
type enum []string

func (e enum) text(n int32) ([]byte, error) {
	if n < 0 || int(n) >= len(e) {
		return nil, fmt.Errorf("no name for %d beside %s", n, e[0])
	}
	return []byte(e[n]), nil
}

func (e enum) parse(text []byte, n *int32) error {
	for i, name := range e {
		if string(text) == name {
			*n = int32(i)
			return nil
		}
	}
	return fmt.Errorf("no value %q beside %s", text, e[0])
}
