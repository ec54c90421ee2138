package orders

import (
	"context"
	"iter"
	"testing"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload"
)

// BenchmarkCalls is what it takes to make up one call.
func BenchmarkCalls(b *testing.B) {
	for _, leg := range (Workload{}).Spec().Legs {
		b.Run(leg.Name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for range (Workload{}).Calls(leg.Name, resolve(b, nil), 1) {
				if n++; n == b.N {
					break
				}
			}
		})
	}
}

// BenchmarkHandler is the share of a call that is not the stack's: each tier's
// validation, store and answer. The order tier's next is a payment service
// that does nothing but agree.
func BenchmarkHandler(b *testing.B) {
	agreeable := rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		r := in.(*MakePaymentRequest)
		return s.Send(&MakePaymentResponse{PaymentID: r.PaymentID, Status: PaymentCharged, Charged: r.Amount, Balance: r.Amount})
	})
	for _, tier := range []string{orderTier, paymentTier} {
		b.Run(tier, func(b *testing.B) {
			h := handler(b, tier, memory.New(), agreeable)
			b.ReportAllocs()
			next, stop := iter.Pull((Workload{}).Calls(tier, resolve(b, nil), 1))
			defer stop()
			var batch [1000]workload.Call // few, since what is live is the collector's work
			for n := range b.N {
				if n%len(batch) == 0 {
					b.StopTimer()
					for i := range batch {
						batch[i], _ = next()
					}
					b.StartTimer()
				}
				c := &batch[n%len(batch)]
				if _, err := rpc.Invoke(b.Context(), h, c.Method, c.In[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCheck is what the driver spends on knowing that a reply is right.
func BenchmarkCheck(b *testing.B) {
	payment := handler(b, paymentTier, memory.New(), nil)
	h := handler(b, orderTier, memory.New(), payment)
	c := take(b, orderTier, nil, 1)[0]
	out, err := rpc.Invoke(b.Context(), h, c.Method, c.In[0])
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Check(0, out); err != nil {
			b.Fatal(err)
		}
	}
}
