package orders

import (
	"time"

	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
)

// How many messages of a kind take turns.
const (
	sampledRecords = 64
	sampledBatches = 2
)

// Samples gives single orders as they are posted, and pages of orders as they
// are listed.
func (w Workload) Samples(batch int, seed uint64) []workload.Sample {
	g := newGenerator(setting.Values{linesName: mixedLines, usersParam: "10000"}, seed)
	random, n := g.random(), uint64(0)
	next := func() *orderCall {
		n++
		return g.order(random, n)
	}
	record := workload.Sample{Name: "record", Type: CreateOrder.In, Items: 1}
	for range sampledRecords {
		record.Messages = append(record.Messages, &next().request)
	}
	page := workload.Sample{Name: "batch", Type: ListOrders.Out, Items: batch}
	for range sampledBatches {
		listed := &ListOrdersResponse{Orders: make([]Order, batch)}
		for i := range listed.Orders {
			listed.Orders[i] = listedOrder(next(), n)
		}
		page.Messages = append(page.Messages, listed)
	}
	return []workload.Sample{record, page}
}

// sampledFrom is when the first sampled order was kept; one follows each 7 ms.
var sampledFrom = time.Date(2026, 1, 2, 3, 4, 5, 678_901_000, time.UTC)

// listedOrder is an order as a service lists it, paid from an account that holds more.
func listedOrder(c *orderCall, n uint64) Order {
	at := sampledFrom.Add(time.Duration(n) * 7 * time.Millisecond)
	r := c.request
	return Order{
		OrderID: r.OrderID, UserName: r.UserName, Status: OrderPaid, Lines: r.Lines,
		Total:      Money{CurrencyCode: r.CurrencyCode, MinorUnits: c.total},
		Balance:    &Money{CurrencyCode: r.CurrencyCode, MinorUnits: 1_000_000 + int64(n)*3},
		CreateTime: at, UpdateTime: at.Add(3 * time.Millisecond), Revision: int64(2 * n),
	}
}
