//go:build !race

// The race detector allocates, and empties pools at random.

package thrift_test

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/tare-bench/tare/codec"
	native "github.com/tare-bench/tare/gen/thrift/conformance"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

// The twin is Echo as Apache's compiler and library have it, both ends, on plain
// structs that are mapped as the codec maps them. The adapter may cost no more.

var twinItems = map[string]*conformance.Item{
	"ordinary": conformance.Ordinary(),
	"of 1 MB":  {Text: strings.Repeat("a", 1e6)},
}

func twinBinding(t testing.TB, c codec.Codec, typ *rpc.Type) codec.Binding {
	t.Helper()
	b, err := c.Bind(typ)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// twinHandler is the service as Thrift's users write it.
type twinHandler struct {
	foreignHandler
	in, out codec.Binding
}

func (h twinHandler) Echo(_ context.Context, in *native.EchoRequest) (*native.EchoResponse, error) {
	item := h.in.Plain(in).(*conformance.EchoRequest).Item
	return h.out.Native(&conformance.EchoResponse{Item: item}).(*native.EchoResponse), nil
}

// startTwin gives a function that makes one call of the twin.
func startTwin(t testing.TB, c codec.Codec, factory apache.TProtocolFactory, item *conformance.Item) func() {
	h := twinHandler{in: twinBinding(t, c, conformance.Echo.In), out: twinBinding(t, c, conformance.Echo.Out)}
	client := native.NewConformanceServiceClientFactory(foreignTransport(t, serveForeign(t, h, factory)), factory)
	ctx, in := t.Context(), &conformance.EchoRequest{Item: item}
	return func() {
		out, err := client.Echo(ctx, h.in.Native(in).(*native.EchoRequest))
		if err != nil {
			t.Fatal(err)
		}
		_ = h.out.Plain(out)
	}
}

// startAdapter gives a function that makes one call of the protocol.
func startAdapter(t testing.TB, c codec.Codec, item *conformance.Item) func() {
	o := options(t, c)
	conn := dial(t, serve(t, conformance.Service, conformance.Handler{}, o), conformance.Service, o)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	t.Cleanup(cancel)
	in := &conformance.EchoRequest{Item: item}
	return func() {
		if _, err := rpc.Invoke(ctx, conn, conformance.Echo, in); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAllocatesNoMoreThanItsTwin allows 2 %. Without garbage collection pools lose
// nothing.
func TestAllocatesNoMoreThanItsTwin(t *testing.T) {
	const warm, runs, bar = 10, 40, 1.02
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, form := range forms {
		for size, item := range twinItems {
			t.Run(form.codec.Spec().Name+", "+size, func(t *testing.T) {
				measure := func(call func()) (allocs, bytes float64) {
					for range 2 { // which empties the pools of other tests' buffers
						runtime.GC()
					}
					for range warm {
						call()
					}
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					for range runs {
						call()
					}
					runtime.ReadMemStats(&after)
					return float64(after.Mallocs-before.Mallocs) / runs, float64(after.TotalAlloc-before.TotalAlloc) / runs
				}
				adapter, room := measure(startAdapter(t, form.codec, item))
				twin, twinRoom := measure(startTwin(t, form.codec, form.factory, item))
				t.Logf("adapter %v allocations of %.0f bytes, twin %v of %.0f", adapter, room, twin, twinRoom)
				if adapter > bar*twin || room > bar*twinRoom {
					t.Error("the adapter allocates more than its twin")
				}
			})
		}
	}
}

func BenchmarkEcho(b *testing.B) {
	for _, form := range forms {
		for side, call := range map[string]func(){
			"adapter": startAdapter(b, form.codec, twinItems["ordinary"]),
			"twin":    startTwin(b, form.codec, form.factory, twinItems["ordinary"]),
		} {
			b.Run(form.codec.Spec().Name+"/"+side, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					call()
				}
			})
		}
	}
}
