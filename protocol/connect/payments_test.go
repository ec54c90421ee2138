//go:build !race

package connect_test

import (
	"context"
	"fmt"
	"testing"

	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"
	"github.com/tare-bench/tare/gen/tare/payments/v1/paymentsv1connect"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

// The payment service in plain structs, as a workload has it.
type (
	money struct {
		Currency   string
		MinorUnits int64
	}
	payment struct {
		ID, User string
		Amount   money
	}
	receipt struct {
		ID, Message      string
		Charged, Balance money
	}
)

func toMoney(m money) *paymentsv1.Money {
	return &paymentsv1.Money{CurrencyCode: m.Currency, MinorUnits: m.MinorUnits}
}

func fromMoney(m *paymentsv1.Money) money { return money{m.GetCurrencyCode(), m.GetMinorUnits()} }

func toRequest(p *payment) *paymentsv1.MakePaymentRequest {
	return &paymentsv1.MakePaymentRequest{PaymentId: p.ID, UserName: p.User, Amount: toMoney(p.Amount)}
}

func fromRequest(m *paymentsv1.MakePaymentRequest) *payment {
	return &payment{ID: m.GetPaymentId(), User: m.GetUserName(), Amount: fromMoney(m.GetAmount())}
}

func toResponse(r *receipt) *paymentsv1.MakePaymentResponse {
	return &paymentsv1.MakePaymentResponse{
		PaymentId: r.ID, Message: r.Message, Status: paymentsv1.PaymentStatus_PAYMENT_STATUS_CHARGED,
		Charged: toMoney(r.Charged), Balance: toMoney(r.Balance),
	}
}

func fromResponse(m *paymentsv1.MakePaymentResponse) *receipt {
	return &receipt{
		ID: m.GetPaymentId(), Message: m.GetMessage(),
		Charged: fromMoney(m.GetCharged()), Balance: fromMoney(m.GetBalance()),
	}
}

func pay(p *payment) *receipt {
	left := money{p.Amount.Currency, 100_000 - p.Amount.MinorUnits}
	return &receipt{ID: p.ID, Message: "charged", Charged: p.Amount, Balance: left}
}

var (
	makePayment = &rpc.Method{
		Service: paymentsv1connect.PaymentServiceName, Name: "MakePayment",
		In: rpc.NewType(toRequest, fromRequest), Out: rpc.NewType(toResponse, fromResponse),
	}
	payments = &rpc.Service{Name: makePayment.Service, Methods: []*rpc.Method{makePayment}}
)

// answer is the handler behind the adapter.
func answer(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	if m != makePayment {
		return conformance.Handler{}.Handle(ctx, m, s)
	}
	in, err := s.Recv()
	if err != nil {
		return err
	}
	return s.Send(pay(in.(*payment)))
}

// payer makes one payment and gives its receipt.
type payer func(context.Context, *payment) (*receipt, error)

// payBy gives a function that pays once and checks the receipt.
func payBy(t testing.TB, by payer) func() error {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	in := &payment{ID: "0b6c1f2e", User: "ada", Amount: money{"EUR", 1250}}
	want := *pay(in)
	return func() error {
		got, err := by(ctx, in)
		if err != nil {
			return err
		}
		if *got != want {
			return fmt.Errorf("receipt is %v, want %v", *got, want)
		}
		return nil
	}
}
