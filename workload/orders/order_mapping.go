package orders

import ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"

// linesToProto allocates all lines at once, as hand-written code that minds its
// garbage would.
func linesToProto(lines []OrderLine) []*ordersv1.OrderLine {
	if len(lines) == 0 {
		return nil
	}
	room, out := make([]ordersv1.OrderLine, len(lines)), make([]*ordersv1.OrderLine, len(lines))
	for i := range lines {
		from, to := &lines[i], &room[i]
		to.Sku, to.Title, to.Quantity, to.UnitPriceMinor = from.SKU, from.Title, from.Quantity, from.UnitPriceMinor
		out[i] = to
	}
	return out
}

func linesFromProto(lines []*ordersv1.OrderLine) []OrderLine {
	if len(lines) == 0 {
		return nil
	}
	out := make([]OrderLine, len(lines))
	for i, l := range lines {
		out[i] = OrderLine{SKU: l.GetSku(), Title: l.GetTitle(), Quantity: l.GetQuantity(), UnitPriceMinor: l.GetUnitPriceMinor()}
	}
	return out
}

func orderRequestToProto(r *CreateOrderRequest) *ordersv1.CreateOrderRequest {
	return &ordersv1.CreateOrderRequest{
		OrderId: r.OrderID, UserName: r.UserName, CurrencyCode: r.CurrencyCode, Lines: linesToProto(r.Lines),
	}
}

func orderRequestFromProto(m *ordersv1.CreateOrderRequest) *CreateOrderRequest {
	return &CreateOrderRequest{
		OrderID: m.OrderId, UserName: m.UserName, CurrencyCode: m.CurrencyCode, Lines: linesFromProto(m.Lines),
	}
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

// keptOrderToProto maps what may be absent from a message; so does the reverse.
func keptOrderToProto(o *Order) *ordersv1.Order {
	if o == nil {
		return nil
	}
	return &ordersv1.Order{
		OrderId:    o.OrderID,
		UserName:   o.UserName,
		Status:     ordersv1.OrderStatus(o.Status),
		Lines:      linesToProto(o.Lines),
		Total:      moneyToProto(o.Total),
		Balance:    someMoneyToProto(o.Balance),
		CreateTime: timeToProto(o.CreateTime),
		UpdateTime: timeToProto(o.UpdateTime),
		Revision:   o.Revision,
	}
}

func keptOrderFromProto(m *ordersv1.Order) *Order {
	if m == nil {
		return nil
	}
	return &Order{
		OrderID:    m.OrderId,
		UserName:   m.UserName,
		Status:     OrderStatus(m.Status),
		Lines:      linesFromProto(m.Lines),
		Total:      moneyFromProto(m.Total),
		Balance:    someMoneyFromProto(m.Balance),
		CreateTime: timeFromProto(m.CreateTime),
		UpdateTime: timeFromProto(m.UpdateTime),
		Revision:   m.Revision,
	}
}

func getOrderRequestToProto(r *GetOrderRequest) *ordersv1.GetOrderRequest {
	return &ordersv1.GetOrderRequest{OrderId: r.OrderID}
}

func getOrderRequestFromProto(m *ordersv1.GetOrderRequest) *GetOrderRequest {
	return &GetOrderRequest{OrderID: m.OrderId}
}

func getOrderResponseToProto(r *GetOrderResponse) *ordersv1.GetOrderResponse {
	return &ordersv1.GetOrderResponse{Order: keptOrderToProto(r.Order)}
}

func getOrderResponseFromProto(m *ordersv1.GetOrderResponse) *GetOrderResponse {
	return &GetOrderResponse{Order: keptOrderFromProto(m.Order)}
}

func listOrdersRequestToProto(r *ListOrdersRequest) *ordersv1.ListOrdersRequest {
	return &ordersv1.ListOrdersRequest{PageSize: r.PageSize, PageToken: r.PageToken, UserName: r.UserName}
}

func listOrdersRequestFromProto(m *ordersv1.ListOrdersRequest) *ListOrdersRequest {
	return &ListOrdersRequest{PageSize: m.PageSize, PageToken: m.PageToken, UserName: m.UserName}
}

func listOrdersResponseToProto(r *ListOrdersResponse) *ordersv1.ListOrdersResponse {
	out := &ordersv1.ListOrdersResponse{NextPageToken: r.NextPageToken}
	for i := range r.Orders {
		out.Orders = append(out.Orders, keptOrderToProto(&r.Orders[i]))
	}
	return out
}

func listOrdersResponseFromProto(m *ordersv1.ListOrdersResponse) *ListOrdersResponse {
	out := &ListOrdersResponse{NextPageToken: m.NextPageToken}
	for _, o := range m.Orders {
		out.Orders = append(out.Orders, *keptOrderFromProto(o))
	}
	return out
}

func watchOrdersRequestToProto(r *WatchOrdersRequest) *ordersv1.WatchOrdersRequest {
	return &ordersv1.WatchOrdersRequest{AfterRevision: r.AfterRevision, UserName: r.UserName}
}

func watchOrdersRequestFromProto(m *ordersv1.WatchOrdersRequest) *WatchOrdersRequest {
	return &WatchOrdersRequest{AfterRevision: m.AfterRevision, UserName: m.UserName}
}

func watchOrdersResponseToProto(r *WatchOrdersResponse) *ordersv1.WatchOrdersResponse {
	return &ordersv1.WatchOrdersResponse{Order: keptOrderToProto(r.Order)}
}

func watchOrdersResponseFromProto(m *ordersv1.WatchOrdersResponse) *WatchOrdersResponse {
	return &WatchOrdersResponse{Order: keptOrderFromProto(m.Order)}
}
