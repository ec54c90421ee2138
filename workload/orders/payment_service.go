package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// paymentService charges accounts, and gives back what it charged.
type paymentService struct{ payments store.Payments }

func newPaymentService(env workload.Env) (rpc.Handler, error) {
	payments, ok := env.Store.(store.Payments)
	if !ok {
		return nil, fmt.Errorf("a store of type %T keeps no payments", env.Store)
	}
	s := &paymentService{payments}
	return workload.Answers{
		MakePayment:   workload.Unary(s.pay),
		GetPayment:    workload.Unary(s.get),
		RefundPayment: workload.Unary(s.refund),
	}, nil
}

func (s *paymentService) pay(ctx context.Context, r *MakePaymentRequest) (*MakePaymentResponse, error) {
	balance, err := s.payments.Charge(ctx, store.Payment{
		ID: r.PaymentID, User: r.UserName, Amount: stored(r.Amount), Created: now(),
	}, openingBalance)
	switch {
	case errors.Is(err, store.ErrExists):
		return nil, rpc.Errorf(rpc.AlreadyExists, "payment_id %q exists with other content", r.PaymentID)
	case errors.Is(err, store.ErrInsufficientFunds):
		return nil, rpc.Errorf(rpc.FailedPrecondition, "insufficient funds: %s has not got %s",
			r.UserName, appendMoney(nil, r.Amount.CurrencyCode, r.Amount.MinorUnits))
	case err != nil:
		return nil, workload.StoreError("charge account", err)
	}
	var room [192]byte
	message := appendPaymentMessage(room[:0], r.UserName, r.Amount.CurrencyCode, r.Amount.MinorUnits, balance)
	return &MakePaymentResponse{
		PaymentID: r.PaymentID, Status: PaymentCharged, Charged: r.Amount,
		Balance: Money{CurrencyCode: r.Amount.CurrencyCode, MinorUnits: balance},
		Message: string(message),
	}, nil
}

func (s *paymentService) get(ctx context.Context, r *GetPaymentRequest) (*GetPaymentResponse, error) {
	p, err := s.find(ctx, r.PaymentID)
	if err != nil {
		return nil, err
	}
	return &GetPaymentResponse{Payment: &Payment{
		PaymentID: p.ID, UserName: p.User, Charged: answered(p.Amount),
		Refunded: Money{CurrencyCode: p.Amount.Currency, MinorUnits: p.Refunded},
		Status:   paymentStatusOf(p), CreateTime: p.Created,
	}}, nil
}

func (s *paymentService) find(ctx context.Context, id string) (store.Payment, error) {
	p, err := s.payments.PaymentByID(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return p, rpc.Errorf(rpc.NotFound, "no payment %q", id)
	case err != nil:
		return p, workload.StoreError("look for payment", err)
	}
	return p, nil
}

func (s *paymentService) refund(ctx context.Context, r *RefundPaymentRequest) (*RefundPaymentResponse, error) {
	var minor int64 // all that is left
	if r.Amount != nil {
		p, err := s.find(ctx, r.PaymentID)
		if err != nil {
			return nil, err
		}
		if r.Amount.CurrencyCode != p.Amount.Currency {
			return nil, otherCurrency(p.Amount.Currency)
		}
		minor = r.Amount.MinorUnits
	}
	given, err := s.payments.Refund(ctx, store.Refund{PaymentID: r.PaymentID, ID: r.RefundID, Minor: minor})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, rpc.Errorf(rpc.NotFound, "no payment %q", r.PaymentID)
	case errors.Is(err, store.ErrExists):
		return nil, rpc.Errorf(rpc.AlreadyExists, "refund_id %q of payment %q exists with other content", r.RefundID, r.PaymentID)
	case errors.Is(err, store.ErrSpent) && r.Amount == nil:
		return nil, rpc.Errorf(rpc.FailedPrecondition, "nothing is left of payment %q", r.PaymentID)
	case errors.Is(err, store.ErrSpent):
		return nil, rpc.Errorf(rpc.FailedPrecondition, "less than %s is left of payment %q",
			appendMoney(nil, r.Amount.CurrencyCode, minor), r.PaymentID)
	case err != nil:
		return nil, workload.StoreError("refund payment", err)
	}
	p := given.Payment
	currency := p.Amount.Currency
	return &RefundPaymentResponse{
		PaymentID: p.ID, RefundID: r.RefundID, Status: paymentStatusOf(p),
		Refunded: Money{CurrencyCode: currency, MinorUnits: given.Minor},
		Balance:  Money{CurrencyCode: currency, MinorUnits: given.Balance},
		Message:  string(appendRefundMessage(nil, p.User, currency, given.Minor, given.Balance)),
	}, nil
}

func otherCurrency(want string) *rpc.Error {
	return workload.Invalid(rpc.Violation{
		Field: "amount.currency_code", Description: "must be that of the payment, " + want, Reason: "PAYMENT_CURRENCY",
	})
}

func paymentStatusOf(p store.Payment) PaymentStatus {
	switch p.Refunded {
	case 0:
		return PaymentCharged
	case p.Amount.Minor:
		return PaymentRefunded
	}
	return PaymentPartlyRefunded
}
