package orders

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// doubt is how long after an order was refused another attempt to pay for it may
// still be charged, one that was given up for lost: its deadline is over by then.
const doubt = time.Minute

// mostOwed bounds what is kept of it. Of more refusals in a minute, those beyond
// are not looked at again. A payment that is known to be owed is kept in any case.
const mostOwed = 1 << 16

// refusedRefund is the ID under which the payment of a refused order goes back.
const refusedRefund = "refused"

// owed are refused orders whose payment must go back, if there is one: the
// account held too little for one attempt, and then enough for another. They are
// kept in memory only: it takes that race and then a crash to lose one.
type owed struct {
	mu     sync.Mutex
	orders map[string]debt
}

type debt struct {
	order store.Order
	due   time.Time
}

func newOwed() *owed { return &owed{orders: make(map[string]debt)} }

func (w *owed) now(o store.Order)   { w.add(o, now(), math.MaxInt) }
func (w *owed) maybe(o store.Order) { w.add(o, now().Add(doubt), mostOwed) }

// add keeps a debt where fewer than most are kept.
func (w *owed) add(o store.Order, due time.Time, most int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.orders) < most {
		o.Lines = nil
		w.orders[o.ID] = debt{o, due}
	}
}

// due gives the orders whose time has come.
func (w *owed) due(at time.Time) (out []store.Order) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range w.orders {
		if !d.due.After(at) {
			out = append(out, d.order)
		}
	}
	return out
}

func (w *owed) settled(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.orders, id)
}

// giveBack gives back what was charged for a refused order, if anything was.
func (t till) giveBack(ctx context.Context, o store.Order) error {
	kept, err := t.orders.OrderByID(ctx, o.ID)
	if err != nil {
		return workload.StoreError("look for order", err)
	}
	if kept.Status != store.OrderRefused {
		return nil
	}
	reply, err := rpc.Invoke(ctx, t.payments, GetPayment, &GetPaymentRequest{PaymentID: o.ID})
	if e := rpc.ErrorOf(err); e != nil && e.Code == rpc.NotFound {
		return nil
	} else if err != nil {
		return err
	}
	p := reply.(*GetPaymentResponse).Payment
	if p == nil || p.UserName != o.User || stored(p.Charged) != o.Total || p.Status == PaymentRefunded {
		return nil // it is not the order's, or is back already
	}
	_, err = rpc.Invoke(ctx, t.payments, RefundPayment, &RefundPaymentRequest{PaymentID: o.ID, RefundID: refusedRefund})
	if e := rpc.ErrorOf(err); e != nil && e.Code != rpc.FailedPrecondition { // then nothing is left of it
		return err
	}
	t.log.Warn("the payment of a refused order was given back", "order_id", o.ID)
	return nil
}
