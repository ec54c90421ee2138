package orders

import "time"

// MakePaymentRequest asks to charge an account.
type MakePaymentRequest struct {
	PaymentID string `json:"paymentId"`
	UserName  string `json:"userName"`
	Amount    Money  `json:"amount,omitzero"` // absent where it is zero
}

// MakePaymentResponse says what was charged and what is left.
type MakePaymentResponse struct {
	PaymentID string        `json:"paymentId"`
	Status    PaymentStatus `json:"status"`
	Charged   Money         `json:"charged"`
	Balance   Money         `json:"balance"`
	Message   string        `json:"message"`
}

// Payment is a charge and what was given back of it.
type Payment struct {
	PaymentID  string        `json:"paymentId"`
	UserName   string        `json:"userName"`
	Charged    Money         `json:"charged"`
	Refunded   Money         `json:"refunded"`
	Status     PaymentStatus `json:"status"`
	CreateTime time.Time     `json:"createTime,omitzero" avro:",omitzero"`
}

// GetPaymentRequest names a payment.
type GetPaymentRequest struct {
	PaymentID string `json:"paymentId"`
}

// GetPaymentResponse brings a payment.
type GetPaymentResponse struct {
	Payment *Payment `json:"payment,omitempty"`
}

// RefundPaymentRequest asks to give back a payment or a part of it.
type RefundPaymentRequest struct {
	PaymentID string `json:"paymentId"`
	RefundID  string `json:"refundId"`
	Amount    *Money `json:"amount,omitempty"` // nil: all that is left of it
}

// RefundPaymentResponse says what was given back.
type RefundPaymentResponse struct {
	PaymentID string        `json:"paymentId"`
	RefundID  string        `json:"refundId"`
	Status    PaymentStatus `json:"status"`
	Refunded  Money         `json:"refunded"`
	Balance   Money         `json:"balance"`
	Message   string        `json:"message"`
}
