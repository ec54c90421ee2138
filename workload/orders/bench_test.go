package orders

import (
	"context"
	"iter"
	"syscall"
	"testing"
	"time"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/codec/proto"
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

// BenchmarkSteps is what each step of a codec takes for the messages of a call:
// what a profile charges to its phases, with warm caches and nothing else to do.
func BenchmarkSteps(b *testing.B) {
	payment := handler(b, paymentTier, memory.New(), nil)
	h := handler(b, orderTier, memory.New(), payment)
	c := take(b, orderTier, map[string]string{linesName: "100"}, 1)[0]
	out, err := rpc.Invoke(b.Context(), h, c.Method, c.In[0])
	if err != nil {
		b.Fatal(err)
	}
	for _, k := range []codec.Codec{json.Codec{}, proto.Codec{}} {
		for _, m := range []struct {
			name  string
			of    *rpc.Type
			plain any
		}{{"request", c.Method.In, c.In[0]}, {"reply", c.Method.Out, out}} {
			b.Run(k.Spec().Name+"/"+m.name, func(b *testing.B) { steps(b, k, m.of, m.plain) })
		}
	}
}

func steps(b *testing.B, k codec.Codec, of *rpc.Type, plain any) {
	bound, err := k.Bind(of)
	if err != nil {
		b.Fatal(err)
	}
	native := bound.Native(plain)
	encoded, err := bound.Append(nil, native)
	if err != nil {
		b.Fatal(err)
	}
	run := func(name string, step func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			began := cpu(b)
			for b.Loop() {
				if err := step(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cpu(b)-began)/float64(b.N), "cpu-ns/op")
		})
	}
	room := make([]byte, 0, len(encoded))
	run("map", func() error { bound.Native(plain); return nil })
	run("encode", func() error { _, err := bound.Append(room, native); return err })
	run("decode", func() error { _, err := bound.Parse(encoded); return err })
	run("map back", func() error { bound.Plain(native); return nil })
}

// cpu is the time that the kernel charges this process with: on a busy machine
// the clock tells of others too.
func cpu(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
