package service_test

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// BenchmarkExport tells how near a stream of statements comes to the cursor that
// it is read from: the cursor alone, what the handler makes of it, and stacks that
// carry it to a client, which reads every field.
//
//	go test ./service -run - -bench Export -benchtime 5x
func BenchmarkExport(b *testing.B) {
	const records = 20_000
	c := catalog.Default()
	w, leg := bulk(c)
	kind, err := c.Store("sqlite")
	if err != nil {
		b.Fatal(err)
	}
	kept, err := kind.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "kept.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer kept.Close()
	params, err := setting.Resolve(w.Spec().Params, map[string]string{"records": "20000"})
	if err != nil {
		b.Fatal(err)
	}
	h, err := w.Handler(b.Context(), workload.Env{Tier: leg.Tiers[0].Name, Leg: leg.Name, Params: params, Store: kept})
	if err != nil {
		b.Fatal(err)
	}
	method := leg.Tiers[0].Calls[0]
	measure := func(name string, read func(context.Context) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := read(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/records, "ns/record")
		})
	}
	measure("cursor", func(ctx context.Context) error {
		return kept.(store.Statements).EachStatement(ctx, "", 0, func(*store.Statement) error { return nil })
	})
	over := func(h rpc.Handler) func(context.Context) error {
		return func(ctx context.Context) error {
			return rpc.Call(ctx, h, method, []any{method.In.New()}, func(any) error { return nil })
		}
	}
	measure("handler", over(h))
	for _, name := range []string{"grpc+proto", "grpc+vtproto", "connect+proto", "grpcweb+proto", "rest+proto", "rest+json", "capnp+capnp"} {
		measure(name, over(carried(b, c, name, leg.Tiers[0].Service, h)))
	}
}

// bulk finds the leg whose calls are answered with a stream that is no bidirectional
// one.
func bulk(c catalog.Catalog) (workload.Workload, workload.Leg) {
	for _, w := range c.Workloads {
		for _, leg := range w.Spec().Legs {
			if leg.Item != "" && leg.Tiers[0].Calls[0].Kind == rpc.ServerStream {
				return w, leg
			}
		}
	}
	panic("no workload streams in bulk")
}

// carried serves h over a stack until the benchmark ends, and dials it.
func carried(b *testing.B, c catalog.Catalog, name string, svc *rpc.Service, h rpc.Handler) rpc.Handler {
	b.Helper()
	stack, err := c.Stack(name)
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- stack.Protocol.Serve(ctx, l, svc, h, stack.Options(1)) }()
	o := stack.Options(1)
	o.DialContext = new(net.Dialer).DialContext
	conn, err := stack.Protocol.Dial(ctx, l.Addr().String(), svc, o)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = conn.Close()
		end()
		if err := <-served; err != nil {
			b.Error(err)
		}
	})
	return conn
}
