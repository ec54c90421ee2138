package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tare-bench/tare/store"
)

// BenchmarkOrders is what an order costs whose payment is kept in the same
// store, added, charged and settled, with so many callers at one time.
func BenchmarkOrders(b *testing.B, open func(b *testing.B) store.Store) {
	for _, writers := range []int{1, 16, 64} {
		b.Run(fmt.Sprint("writers=", writers), func(b *testing.B) {
			s := open(b)
			b.ResetTimer()
			var next atomic.Int64
			var all sync.WaitGroup
			for range writers {
				all.Go(func() {
					for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
						if err := oneOrder(b, s, i); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "orders/s")
			b.StopTimer()
			if err := s.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}

func oneOrder(b *testing.B, s store.Store, i int64) error {
	o := anOrder()
	// IDs as clients make them: they come in no order.
	o.ID = fmt.Sprintf("%016x-2f6c-8d2a-b4aa-%012x", uint64(i)*0x9e3779b97f4a7c15, i)
	o.User = fmt.Sprint("user ", i%10_000)
	if _, err := s.(store.Orders).AddOrder(b.Context(), o); err != nil {
		return err
	}
	balance, err := s.(store.Payments).Charge(b.Context(), store.Payment{ID: o.ID, User: o.User, Amount: o.Total, Created: noon}, 1e15)
	if err != nil {
		return err
	}
	_, err = s.(store.Orders).SettleOrder(b.Context(), o.ID, paid(balance))
	return err
}
