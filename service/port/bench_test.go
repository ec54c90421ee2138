package port_test

import (
	"context"
	"net"
	"testing"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/port"
)

// BenchmarkUnary has each protocol's client call its own server, and the port.
func BenchmarkUnary(b *testing.B) {
	for _, s := range served(b) {
		for name, serve := range map[string]func(context.Context, net.Listener, protocol.Options) error{
			"own": func(ctx context.Context, l net.Listener, o protocol.Options) error {
				return s.Protocol.Serve(ctx, l, conformance.Service, conformance.Handler{}, o)
			},
			"port": func(ctx context.Context, l net.Listener, _ protocol.Options) error {
				return port.Serve(ctx, l, config(b, conformance.Handler{}, conformance.Service))
			},
		} {
			b.Run(s.Name+"/"+name, func(b *testing.B) { benchmarkUnary(b, s, serve) })
		}
	}
}

func benchmarkUnary(b *testing.B, s catalog.Stack, serve func(context.Context, net.Listener, protocol.Options) error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	o := s.Options(1)
	o.DialContext = new(net.Dialer).DialContext
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- serve(ctx, l, o) }()
	c, err := s.Protocol.Dial(ctx, l.Addr().String(), conformance.Service, o)
	if err != nil {
		b.Fatal(err)
	}
	in := &conformance.EchoRequest{Item: &conformance.Item{Text: "text", Number: 5}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := rpc.Invoke(ctx, c, conformance.Echo, in); err != nil {
			b.Fatal(err)
		}
	}
	_ = c.Close()
	cancel()
	if err := <-served; err != nil {
		b.Error(err)
	}
}
