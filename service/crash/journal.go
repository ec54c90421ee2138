package main

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
)

// journal is what clients know: every order that they posted, and every answer
// that they had. It is the measure of what the services keep.
type journal struct {
	mu      sync.Mutex
	entries []*entry
	acked   []*entry // in the order of their first answers
	acks    atomic.Int64
	moved   chan struct{} // has an element after acks has grown
}

func newJournal() *journal { return &journal{moved: make(chan struct{}, 1)} }

// entry is one order. Its answers come from several goroutines.
type entry struct {
	order *ordersv1.CreateOrderRequest
	total int64

	mu         sync.Mutex
	answer     *ordersv1.CreateOrderResponse // the first of them; nil until there is one
	again      int                           // how many equal ones followed
	found      int                           // how often it was read after a kill
	refused    bool
	unanswered int      // attempts that ended without an answer
	wrong      []string // what no service may answer
}

// open notes that an order will be posted.
func (j *journal) open(o *ordersv1.CreateOrderRequest) *entry {
	e := &entry{order: o}
	for _, l := range o.Lines {
		e.total += int64(l.Quantity) * l.UnitPriceMinor
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
	return e
}

// acknowledge notes an answer, the first or one more.
func (j *journal) acknowledge(e *entry, a *ordersv1.CreateOrderResponse) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.refused:
		e.wrong = append(e.wrong, "acknowledged after it had been refused")
	case e.answer == nil:
		e.answer = a
		j.count(e)
	case proto.Equal(e.answer, a):
		e.again++
	default:
		e.wrong = append(e.wrong, fmt.Sprintf("answered otherwise when asked again: %v, and before %v", a, e.answer))
	}
}

// count tells who awaits acknowledgements of one more.
func (j *journal) count(e *entry) {
	j.mu.Lock()
	j.acked = append(j.acked, e)
	j.mu.Unlock()
	j.acks.Add(1)
	select {
	case j.moved <- struct{}{}:
	default:
	}
}

// latest gives the orders that were acknowledged last, n at most.
func (j *journal) latest(n int) []*entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.acked[max(0, len(j.acked)-n):])
}

// acknowledged says whether any client was answered that it is paid.
func (e *entry) acknowledged() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.answer != nil
}

// compare holds an order as it is read against what its client was answered.
func (e *entry) compare(o *ordersv1.Order) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if o.Status != ordersv1.OrderStatus_ORDER_STATUS_PAID || !proto.Equal(o.Total, e.answer.Total) || !proto.Equal(o.Balance, e.answer.Balance) {
		e.wrong = append(e.wrong, fmt.Sprintf("read as %v, though %v had been answered", o, e.answer))
	}
}

func (e *entry) foundAgain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.found++
}

// refuse notes that the order's payment was refused.
func (e *entry) refuse() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.answer != nil {
		e.wrong = append(e.wrong, "refused after it had been acknowledged")
	}
	e.refused = true
}

func (e *entry) note(unanswered int, wrong ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.unanswered += unanswered
	e.wrong = append(e.wrong, wrong...)
}

// all gives the entries until now.
func (j *journal) all() []*entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}
