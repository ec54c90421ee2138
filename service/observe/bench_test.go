package observe_test

import (
	"context"
	"io"
	"testing"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/observe"
)

// BenchmarkCall is what observing costs a call that a service answers, and makes
// another for.
func BenchmarkCall(b *testing.B) {
	for name, c := range map[string]observe.Config{
		"metrics":     {},
		"request IDs": {RequestIDs: true},
		"traces":      {RequestIDs: true, Spans: &spans{}},
	} {
		b.Run(name, func(b *testing.B) {
			var err error
			if c.Log, err = observe.NewLog(io.Discard, "info", observe.LogText); err != nil {
				b.Fatal(err)
			}
			o, err := observe.New(b.Context(), c)
			if err != nil {
				b.Fatal(err)
			}
			nothing := rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { return nil })
			h := o.Server(o.Client(nothing, observe.Remote{}, conformance.Service), conformance.Service)
			b.ReportAllocs()
			for b.Loop() {
				if err := h.Handle(b.Context(), conformance.Echo, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
