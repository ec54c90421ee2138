package orders

import (
	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
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

// orderRequestToProto allocates all lines at once, as hand-written code that
// minds its garbage would.
func orderRequestToProto(r *CreateOrderRequest) *ordersv1.CreateOrderRequest {
	out := &ordersv1.CreateOrderRequest{OrderId: r.OrderID, UserName: r.UserName, CurrencyCode: r.CurrencyCode}
	if len(r.Lines) == 0 {
		return out
	}
	lines := make([]ordersv1.OrderLine, len(r.Lines))
	out.Lines = make([]*ordersv1.OrderLine, len(r.Lines))
	for i := range r.Lines {
		from, to := &r.Lines[i], &lines[i]
		to.Sku, to.Title, to.Quantity, to.UnitPriceMinor = from.SKU, from.Title, from.Quantity, from.UnitPriceMinor
		out.Lines[i] = to
	}
	return out
}

func orderRequestFromProto(m *ordersv1.CreateOrderRequest) *CreateOrderRequest {
	out := &CreateOrderRequest{OrderID: m.OrderId, UserName: m.UserName, CurrencyCode: m.CurrencyCode}
	if len(m.Lines) == 0 {
		return out
	}
	out.Lines = make([]OrderLine, len(m.Lines))
	for i, l := range m.Lines {
		out.Lines[i] = OrderLine{SKU: l.Sku, Title: l.Title, Quantity: l.Quantity, UnitPriceMinor: l.UnitPriceMinor}
	}
	return out
}

func orderResponseToProto(r *CreateOrderResponse) *ordersv1.CreateOrderResponse {
	return &ordersv1.CreateOrderResponse{
		OrderId: r.OrderID,
		Status:  ordersv1.OrderStatus(r.Status),
		Total:   moneyToProto(r.Total),
		Balance: moneyToProto(r.Balance),
		Message: r.Message,
	}
}

func orderResponseFromProto(m *ordersv1.CreateOrderResponse) *CreateOrderResponse {
	return &CreateOrderResponse{
		OrderID: m.OrderId,
		Status:  OrderStatus(m.Status),
		Total:   moneyFromProto(m.Total),
		Balance: moneyFromProto(m.Balance),
		Message: m.Message,
	}
}

func paymentRequestToProto(r *MakePaymentRequest) *paymentsv1.MakePaymentRequest {
	return &paymentsv1.MakePaymentRequest{
		PaymentId: r.PaymentID, UserName: r.UserName, Amount: moneyToProto(r.Amount),
	}
}

func paymentRequestFromProto(m *paymentsv1.MakePaymentRequest) *MakePaymentRequest {
	return &MakePaymentRequest{
		PaymentID: m.PaymentId, UserName: m.UserName, Amount: moneyFromProto(m.Amount),
	}
}

func paymentResponseToProto(r *MakePaymentResponse) *paymentsv1.MakePaymentResponse {
	return &paymentsv1.MakePaymentResponse{
		PaymentId: r.PaymentID,
		Status:    paymentsv1.PaymentStatus(r.Status),
		Charged:   moneyToProto(r.Charged),
		Balance:   moneyToProto(r.Balance),
		Message:   r.Message,
	}
}

func paymentResponseFromProto(m *paymentsv1.MakePaymentResponse) *MakePaymentResponse {
	return &MakePaymentResponse{
		PaymentID: m.PaymentId,
		Status:    PaymentStatus(m.Status),
		Charged:   moneyFromProto(m.Charged),
		Balance:   moneyFromProto(m.Balance),
		Message:   m.Message,
	}
}
