package orders

import "github.com/tare-bench/tare/rpc"

// The services and their methods.
var (
	CreateOrder = &rpc.Method{
		Service: orderServiceName, Name: "CreateOrder", Route: "POST /v1/orders",
		In:  rpc.NewType(orderRequestToProto, orderRequestFromProto),
		Out: rpc.NewType(orderResponseToProto, orderResponseFromProto),
	}
	GetOrder = &rpc.Method{
		Service: orderServiceName, Name: "GetOrder", Route: "GET /v1/orders/{order_id}",
		In:  rpc.NewType(getOrderRequestToProto, getOrderRequestFromProto),
		Out: rpc.NewType(getOrderResponseToProto, getOrderResponseFromProto),
	}
	ListOrders = &rpc.Method{
		Service: orderServiceName, Name: "ListOrders", Route: "GET /v1/orders",
		In:  rpc.NewType(listOrdersRequestToProto, listOrdersRequestFromProto),
		Out: rpc.NewType(listOrdersResponseToProto, listOrdersResponseFromProto),
	}
	WatchOrders = &rpc.Method{
		Service: orderServiceName, Name: "WatchOrders", Kind: rpc.ServerStream, Route: "GET /v1/orders:watch",
		In:  rpc.NewType(watchOrdersRequestToProto, watchOrdersRequestFromProto),
		Out: rpc.NewType(watchOrdersResponseToProto, watchOrdersResponseFromProto),
	}
	MakePayment = &rpc.Method{
		Service: paymentServiceName, Name: "MakePayment", Route: "POST /v1/payments",
		In:  rpc.NewType(paymentRequestToProto, paymentRequestFromProto),
		Out: rpc.NewType(paymentResponseToProto, paymentResponseFromProto),
	}
	GetPayment = &rpc.Method{
		Service: paymentServiceName, Name: "GetPayment", Route: "GET /v1/payments/{payment_id}",
		In:  rpc.NewType(getPaymentRequestToProto, getPaymentRequestFromProto),
		Out: rpc.NewType(getPaymentResponseToProto, getPaymentResponseFromProto),
	}
	RefundPayment = &rpc.Method{
		Service: paymentServiceName, Name: "RefundPayment", Route: "POST /v1/payments/{payment_id}/refunds",
		In:  rpc.NewType(refundRequestToProto, refundRequestFromProto),
		Out: rpc.NewType(refundResponseToProto, refundResponseFromProto),
	}
	OrderService = &rpc.Service{
		Name: orderServiceName, Methods: []*rpc.Method{CreateOrder, GetOrder, ListOrders, WatchOrders},
	}
	PaymentService = &rpc.Service{
		Name: paymentServiceName, Methods: []*rpc.Method{MakePayment, GetPayment, RefundPayment},
	}
)

const (
	orderServiceName   = "tare.orders.v1.OrderService"
	paymentServiceName = "tare.payments.v1.PaymentService"
)
