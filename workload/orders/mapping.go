package orders

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"
)

// Mapping to the generated messages and back. Generated getters are used
// where a message may be absent.

func moneyToProto(m Money) *paymentsv1.Money {
	return &paymentsv1.Money{CurrencyCode: m.CurrencyCode, MinorUnits: m.MinorUnits}
}

func moneyFromProto(m *paymentsv1.Money) Money {
	return Money{CurrencyCode: m.GetCurrencyCode(), MinorUnits: m.GetMinorUnits()}
}

// someMoneyToProto maps an amount that may be absent.
func someMoneyToProto(m *Money) *paymentsv1.Money {
	if m == nil {
		return nil
	}
	return moneyToProto(*m)
}

func someMoneyFromProto(m *paymentsv1.Money) *Money {
	if m == nil {
		return nil
	}
	out := moneyFromProto(m)
	return &out
}

func timeToProto(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func timeFromProto(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}
