package orders

import "time"

// OrderLine is one item of an order.
type OrderLine struct {
	SKU            string `json:"sku"`
	Title          string `json:"title"`
	Quantity       int32  `json:"quantity"`
	UnitPriceMinor int64  `json:"unitPriceMinor,string"`
}

// CreateOrderRequest is an order.
type CreateOrderRequest struct {
	OrderID      string      `json:"orderId"`
	UserName     string      `json:"userName"`
	CurrencyCode string      `json:"currencyCode"`
	Lines        []OrderLine `json:"lines,omitempty"` // ProtoJSON has no null list
}

// CreateOrderResponse says what became of an order.
type CreateOrderResponse struct {
	OrderID string      `json:"orderId"`
	Status  OrderStatus `json:"status"`
	Total   Money       `json:"total"`
	Balance Money       `json:"balance"`
	Message string      `json:"message"`
}

// Order is an order as it is kept.
type Order struct {
	OrderID    string      `json:"orderId"`
	UserName   string      `json:"userName"`
	Status     OrderStatus `json:"status"`
	Lines      []OrderLine `json:"lines,omitempty"`
	Total      Money       `json:"total"`
	Balance    *Money      `json:"balance,omitempty"` // nil where nothing was charged
	CreateTime time.Time   `json:"createTime,omitzero" avro:",omitzero"`
	UpdateTime time.Time   `json:"updateTime,omitzero" avro:",omitzero"`
	Revision   int64       `json:"revision,string"`
}

// GetOrderRequest names an order.
type GetOrderRequest struct {
	OrderID string `json:"orderId"`
}

// GetOrderResponse brings an order.
type GetOrderResponse struct {
	Order *Order `json:"order,omitempty"`
}

// ListOrdersRequest asks for a page of orders.
type ListOrdersRequest struct {
	PageSize  int32  `json:"pageSize"`
	PageToken string `json:"pageToken"`
	UserName  string `json:"userName"`
}

// ListOrdersResponse is a page of orders.
type ListOrdersResponse struct {
	Orders        []Order `json:"orders,omitempty"`
	NextPageToken string  `json:"nextPageToken"`
}

// WatchOrdersRequest asks for changes as they come.
type WatchOrdersRequest struct {
	AfterRevision *int64 `json:"afterRevision,omitempty,string"` // nil: from now on
	UserName      string `json:"userName"`
}

// WatchOrdersResponse is one change.
type WatchOrdersResponse struct {
	Order *Order `json:"order,omitempty"`
}
