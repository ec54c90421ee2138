package orders

import paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"

func paymentRequestToProto(r *MakePaymentRequest) *paymentsv1.MakePaymentRequest {
	out := &paymentsv1.MakePaymentRequest{PaymentId: r.PaymentID, UserName: r.UserName}
	if r.Amount != (Money{}) {
		out.Amount = moneyToProto(r.Amount)
	}
	return out
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

func getPaymentRequestToProto(r *GetPaymentRequest) *paymentsv1.GetPaymentRequest {
	return &paymentsv1.GetPaymentRequest{PaymentId: r.PaymentID}
}

func getPaymentRequestFromProto(m *paymentsv1.GetPaymentRequest) *GetPaymentRequest {
	return &GetPaymentRequest{PaymentID: m.PaymentId}
}

func getPaymentResponseToProto(r *GetPaymentResponse) *paymentsv1.GetPaymentResponse {
	p := r.Payment
	if p == nil {
		return new(paymentsv1.GetPaymentResponse)
	}
	return &paymentsv1.GetPaymentResponse{Payment: &paymentsv1.Payment{
		PaymentId:  p.PaymentID,
		UserName:   p.UserName,
		Charged:    moneyToProto(p.Charged),
		Refunded:   moneyToProto(p.Refunded),
		Status:     paymentsv1.PaymentStatus(p.Status),
		CreateTime: timeToProto(p.CreateTime),
	}}
}

func getPaymentResponseFromProto(m *paymentsv1.GetPaymentResponse) *GetPaymentResponse {
	p := m.Payment
	if p == nil {
		return new(GetPaymentResponse)
	}
	return &GetPaymentResponse{Payment: &Payment{
		PaymentID:  p.PaymentId,
		UserName:   p.UserName,
		Charged:    moneyFromProto(p.Charged),
		Refunded:   moneyFromProto(p.Refunded),
		Status:     PaymentStatus(p.Status),
		CreateTime: timeFromProto(p.CreateTime),
	}}
}

func refundRequestToProto(r *RefundPaymentRequest) *paymentsv1.RefundPaymentRequest {
	return &paymentsv1.RefundPaymentRequest{
		PaymentId: r.PaymentID, RefundId: r.RefundID, Amount: someMoneyToProto(r.Amount),
	}
}

func refundRequestFromProto(m *paymentsv1.RefundPaymentRequest) *RefundPaymentRequest {
	return &RefundPaymentRequest{
		PaymentID: m.PaymentId, RefundID: m.RefundId, Amount: someMoneyFromProto(m.Amount),
	}
}

func refundResponseToProto(r *RefundPaymentResponse) *paymentsv1.RefundPaymentResponse {
	return &paymentsv1.RefundPaymentResponse{
		PaymentId: r.PaymentID,
		RefundId:  r.RefundID,
		Status:    paymentsv1.PaymentStatus(r.Status),
		Refunded:  moneyToProto(r.Refunded),
		Balance:   moneyToProto(r.Balance),
		Message:   r.Message,
	}
}

func refundResponseFromProto(m *paymentsv1.RefundPaymentResponse) *RefundPaymentResponse {
	return &RefundPaymentResponse{
		PaymentID: m.PaymentId,
		RefundID:  m.RefundId,
		Status:    PaymentStatus(m.Status),
		Refunded:  moneyFromProto(m.Refunded),
		Balance:   moneyFromProto(m.Balance),
		Message:   m.Message,
	}
}
