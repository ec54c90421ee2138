package orders

import (
	"fmt"
	"math"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

func probeOrder(id string, change func(*CreateOrderRequest)) CreateOrderRequest {
	r := CreateOrderRequest{
		OrderID: id, UserName: "Probe Ångström", CurrencyCode: "EUR",
		Lines: []OrderLine{
			{SKU: "TEA-SEN-100", Title: "煎茶 Sencha, 100 g", Quantity: 2, UnitPriceMinor: 1290},
			{SKU: "MUG-RIM-25", Title: "Becher »Früh am Morgen«, 0,25 l", Quantity: 1, UnitPriceMinor: 7},
		},
	}
	change(&r)
	return r
}

func same(*CreateOrderRequest) {}

// orderProbes gives the calls in order; left is what is right for the user's
// balance after a call that succeeds.
func orderProbes() []workload.Call {
	probes := []struct {
		want    rpc.Code
		left    int64
		request CreateOrderRequest
	}{
		{rpc.OK, openingBalance - 2587, probeOrder("probe-1", same)},
		{rpc.OK, openingBalance - 2587, probeOrder("probe-1", same)}, // again: charged once
		{rpc.AlreadyExists, 0, probeOrder("probe-1", func(r *CreateOrderRequest) { r.Lines[0].Quantity++ })},
		{rpc.AlreadyExists, 0, probeOrder("probe-1", func(r *CreateOrderRequest) { r.Lines[0].Title += "." })}, // of equal cost
		{rpc.AlreadyExists, 0, probeOrder("probe-1", func(r *CreateOrderRequest) { r.UserName = "Probe Angstrom" })},
		{rpc.OK, openingBalance - 2*2587, probeOrder("probe-2", same)},
		{rpc.InvalidArgument, 0, probeOrder("", same)},
		{rpc.InvalidArgument, 0, probeOrder("probe 3", same)},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.UserName = "" })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.CurrencyCode = "eur" })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines = nil })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[1].SKU = "" })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[1].Quantity = 0 })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[0].Quantity = math.MinInt32 })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[1].UnitPriceMinor = math.MinInt64 })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[1].UnitPriceMinor = beyondDouble })},
		{rpc.InvalidArgument, 0, probeOrder("probe-3", func(r *CreateOrderRequest) { r.Lines[0].UnitPriceMinor, r.Lines[1].UnitPriceMinor = 0, 0 })},
		{rpc.FailedPrecondition, 0, dearOrder("probe-3")},
		{rpc.FailedPrecondition, 0, dearOrder("probe-3")},              // again: refused for good,
		{rpc.AlreadyExists, 0, probeOrder("probe-3", same)},            // whatever comes under its ID
		{rpc.OK, openingBalance - 3*2587, probeOrder("probe-4", same)}, // nothing refused was charged
		{rpc.OK, openingBalance - 2587, probeOrder("probe-5:JPY", func(r *CreateOrderRequest) { r.CurrencyCode = "JPY" })},
		{rpc.OK, openingBalance - 2580, awkwardOrder()},
		{rpc.OK, openingBalance - maxLines*(maxLines+1)/2, largestOrder()},
		{rpc.OK, 0, probeOrder("probe-8", func(r *CreateOrderRequest) {
			r.UserName, r.CurrencyCode = "Probe Last Dinar", "KWD"
			r.Lines = []OrderLine{{SKU: "ALL", Quantity: dearest, UnitPriceMinor: openingBalance / dearest}}
		})},
	}
	calls := make([]workload.Call, len(probes))
	for i, p := range probes {
		c := &orderCall{request: p.request}
		o := p.request.order(time.Time{})
		c.total, c.items = o.Total.Minor, items(o)
		calls[i] = probe(c.call(), p.want, p.left, func(out any) int64 { return out.(*CreateOrderResponse).Balance.MinorUnits })
	}
	return append(calls, readingProbes()...)
}

// readingProbes look at what the probes before them have left.
func readingProbes() []workload.Call {
	paid, last, refused := kept(probeOrder("probe-1", same)), kept(probeOrder("probe-4", same)), kept(dearOrder("probe-3"))
	odd := kept(awkwardOrder())
	jpy := kept(probeOrder("probe-5:JPY", func(r *CreateOrderRequest) { r.CurrencyCode = "JPY" }))
	paid.settle(openingBalance - 2587)
	last.settle(openingBalance - 3*2587)
	jpy.settle(openingBalance - 2587)
	odd.settle(openingBalance - 2580)
	refused.Status = OrderRefused
	get := func(o *Order) workload.Call {
		return workload.Reading(GetOrder, &GetOrderRequest{OrderID: o.OrderID}, &GetOrderResponse{Order: o}, timelessOrder)
	}
	list := func(r ListOrdersRequest, more string, orders ...*Order) workload.Call {
		want := &ListOrdersResponse{NextPageToken: more}
		for _, o := range orders {
			want.Orders = append(want.Orders, *o)
		}
		return workload.Reading(ListOrders, &r, want, timelessOrders)
	}
	return []workload.Call{
		get(paid), get(refused), get(odd),
		workload.Failing(GetOrder, rpc.NotFound, &GetOrderRequest{OrderID: "probe-0"}),
		workload.Failing(GetOrder, rpc.InvalidArgument, &GetOrderRequest{OrderID: "probe 1"}),
		list(ListOrdersRequest{UserName: paid.UserName, PageSize: 2}, moreFollow, jpy, last),
		list(ListOrdersRequest{UserName: awkward}, "", odd),
		list(ListOrdersRequest{UserName: "nobody", PageSize: 1000}, ""),
		workload.Failing(ListOrders, rpc.InvalidArgument, &ListOrdersRequest{PageSize: 1001}),
		workload.Failing(ListOrders, rpc.InvalidArgument, &ListOrdersRequest{PageSize: -1}),
		workload.Failing(ListOrders, rpc.InvalidArgument, &ListOrdersRequest{PageToken: "next please"}),
		workload.Failing(ListOrders, rpc.InvalidArgument, &ListOrdersRequest{PageToken: workload.PageToken(1, "another")}),
	}
}

// kept is an order as it is kept, but for when.
func kept(r CreateOrderRequest) *Order { return timeless(keptOrder(r.order(time.Time{}))) }

func (o *Order) settle(balance int64) {
	o.Status, o.Balance = OrderPaid, &Money{CurrencyCode: o.Total.CurrencyCode, MinorUnits: balance}
}

func timeless(o *Order) *Order {
	out := *o
	out.CreateTime, out.UpdateTime, out.Revision = time.Time{}, time.Time{}, 0
	return &out
}

func timelessOrder(out any) any {
	r := *out.(*GetOrderResponse)
	if r.Order != nil {
		r.Order = timeless(r.Order)
	}
	return &r
}

// moreFollow stands for whatever token a page has.
const moreFollow = "more"

func timelessOrders(out any) any {
	r := *out.(*ListOrdersResponse)
	orders := r.Orders
	r.Orders = nil
	for i := range orders {
		r.Orders = append(r.Orders, *timeless(&orders[i]))
	}
	if r.NextPageToken != "" {
		r.NextPageToken = moreFollow
	}
	return &r
}

// dearest is the most of one item that an order may have.
const dearest = 1_000_000

// dearOrder costs more than any account holds, and than a float64 can tell.
func dearOrder(id string) CreateOrderRequest {
	return probeOrder(id, func(r *CreateOrderRequest) {
		for range 10 {
			r.Lines = append(r.Lines, OrderLine{SKU: "YACHT", Quantity: dearest, UnitPriceMinor: 1_000_000_000})
		}
	})
}

func awkwardOrder() CreateOrderRequest {
	return probeOrder("probe-6._:-", func(r *CreateOrderRequest) {
		r.UserName = awkward
		r.Lines[1] = OrderLine{SKU: awkward, Title: awkward, Quantity: dearest}
	})
}

func largestOrder() CreateOrderRequest {
	return probeOrder("probe-7", func(r *CreateOrderRequest) {
		r.UserName = "Probe Great Eater"
		r.Lines = make([]OrderLine, maxLines)
		for i := range r.Lines {
			r.Lines[i] = OrderLine{SKU: fmt.Sprint("SKU-", i), Title: catalogue[i%len(catalogue)].title, Quantity: 1, UnitPriceMinor: int64(i + 1)}
		}
	})
}
