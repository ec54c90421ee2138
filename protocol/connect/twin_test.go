//go:build !race

// The race detector allocates, and empties pools at random.

package connect_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	cconnect "connectrpc.com/connect"

	conformancev1 "github.com/tare-bench/tare/gen/tare/conformance/v1"
	"github.com/tare-bench/tare/gen/tare/conformance/v1/conformancev1connect"
	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"
	"github.com/tare-bench/tare/gen/tare/payments/v1/paymentsv1connect"

	"github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/connect"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// tolerance is how much more than its twin the adapter may allocate.
const tolerance = 1.02

// pair is a protocol and what makes a client of its twin speak it.
type pair struct {
	name    string
	adapter connect.Protocol
	twin    []cconnect.ClientOption
}

var pairs = []pair{
	{"Connect", connect.New(), nil},
	{"gRPC-Web", connect.NewWeb(), []cconnect.ClientOption{cconnect.WithGRPCWeb()}},
}

// TestUnaryAllocatesLikeItsTwin holds the adapter against what a user of
// connect would write by hand, over a socket, client and server together.
func TestUnaryAllocatesLikeItsTwin(t *testing.T) {
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			adapter, twin := allocations(t, payBy(t, p.adapterClient(t))), allocations(t, payBy(t, p.twinClient(t)))
			t.Logf("allocations per unary call: adapter %.1f, twin %.1f", adapter, twin)
			if adapter > twin*tolerance {
				t.Errorf("adapter allocates %.1f times per call, its twin %.1f", adapter, twin)
			}
		})
	}
}

// TestStreamAllocatesLikeItsTwin compares the cost of a message of a long
// server stream.
func TestStreamAllocatesLikeItsTwin(t *testing.T) {
	for _, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			adapter, twin := perMessage(t, expandBy(p.conn(t, conformance.Service))), perMessage(t, p.expandByTwin(t))
			t.Logf("allocations per streamed message: adapter %.2f, twin %.2f", adapter, twin)
			if adapter > twin*tolerance {
				t.Errorf("adapter allocates %.2f times per message, its twin %.2f", adapter, twin)
			}
		})
	}
}

func BenchmarkUnary(b *testing.B) {
	for _, p := range pairs {
		for name, pay := range map[string]func() error{
			"adapter": payBy(b, p.adapterClient(b)),
			"twin":    payBy(b, p.twinClient(b)),
		} {
			b.Run(p.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := pay(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkStream(b *testing.B) {
	const messages = 1000
	for _, p := range pairs {
		for name, expand := range map[string]func(int) error{
			"adapter": expandBy(p.conn(b, conformance.Service)),
			"twin":    p.expandByTwin(b),
		} {
			b.Run(p.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := expand(messages); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func allocations(t *testing.T, call func() error) float64 {
	t.Helper()
	once := func() {
		if err := call(); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		once() // connections, pools
	}
	return testing.AllocsPerRun(2000, once)
}

// perMessage takes what 200 messages add to 200: the stream itself cancels out.
func perMessage(t *testing.T, expand func(int) error) float64 {
	t.Helper()
	const few, many, runs = 200, 400, 100
	measure := func(n int) float64 {
		return testing.AllocsPerRun(runs, func() {
			if err := expand(n); err != nil {
				t.Fatal(err)
			}
		})
	}
	measure(few)
	return (measure(many) - measure(few)) / (many - few)
}

// listen gives a listener and its address.
func listen(t testing.TB) (net.Listener, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l, l.Addr().String()
}

// conn gives a client of a server, both of the adapter.
func (p pair) conn(t testing.TB, svc *rpc.Service) protocol.Conn {
	t.Helper()
	settings, err := setting.Resolve(p.adapter.Spec().Settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := protocol.Options{
		Codec: proto.Codec{}, Settings: settings, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage,
		DialContext: new(net.Dialer).DialContext,
	}
	l, addr := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.adapter.Serve(ctx, l, svc, rpc.HandlerFunc(answer), o) }()
	c, err := p.adapter.Dial(ctx, addr, svc, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return c
}

func (p pair) adapterClient(t testing.TB) payer {
	c := p.conn(t, payments)
	return func(ctx context.Context, in *payment) (*receipt, error) {
		out, err := rpc.Invoke(ctx, c, makePayment, in)
		if err != nil {
			return nil, err
		}
		return out.(*receipt), nil
	}
}

// expandBy gives a function that reads a stream of n messages.
func expandBy(c protocol.Conn) func(n int) error {
	return func(n int) error {
		got := 0
		in := []any{&conformance.ExpandRequest{Item: conformance.Ordinary(), Count: int32(n)}}
		err := rpc.Call(context.Background(), c, conformance.Expand, in, func(any) error {
			got++
			return nil
		})
		return wantMessages(err, got, n)
	}
}

// twinServer serves what is written by hand and gives its URL.
func twinServer(t testing.TB) (*http.Client, string) {
	t.Helper()
	options := []cconnect.HandlerOption{
		cconnect.WithCompression("gzip", nil, nil), cconnect.WithReadMaxBytes(protocol.DefaultMaxMessage),
	}
	mux := http.NewServeMux()
	mux.Handle(paymentsv1connect.NewPaymentServiceHandler(twinPayments{}, options...))
	mux.Handle(conformancev1connect.NewConformanceServiceHandler(twinConformance{}, options...))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	l, addr := listen(t)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	transport := &http.Transport{DialContext: new(net.Dialer).DialContext}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Shutdown(context.Background())
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return &http.Client{Transport: transport}, "http://" + addr
}

func (p pair) twinOptions() []cconnect.ClientOption {
	return append([]cconnect.ClientOption{
		cconnect.WithAcceptCompression("gzip", nil, nil), cconnect.WithReadMaxBytes(protocol.DefaultMaxMessage),
	}, p.twin...)
}

type twinPayments struct {
	paymentsv1connect.UnimplementedPaymentServiceHandler
}

func (twinPayments) MakePayment(_ context.Context, r *cconnect.Request[paymentsv1.MakePaymentRequest]) (*cconnect.Response[paymentsv1.MakePaymentResponse], error) {
	return cconnect.NewResponse(toResponse(pay(fromRequest(r.Msg)))), nil
}

type twinConformance struct {
	conformancev1connect.UnimplementedConformanceServiceHandler
}

func (twinConformance) Expand(_ context.Context, r *cconnect.Request[conformancev1.ExpandRequest], s *cconnect.ServerStream[conformancev1.ExpandResponse]) error {
	plain := conformance.Expand.In.FromProto(r.Msg).(*conformance.ExpandRequest)
	for range plain.Count {
		out := conformance.Expand.Out.ToProto(&conformance.ExpandResponse{Item: plain.Item})
		if err := s.Send(out.(*conformancev1.ExpandResponse)); err != nil {
			return err
		}
	}
	return nil
}

func (p pair) twinClient(t testing.TB) payer {
	httpClient, url := twinServer(t)
	client := paymentsv1connect.NewPaymentServiceClient(httpClient, url, p.twinOptions()...)
	return func(ctx context.Context, in *payment) (*receipt, error) {
		out, err := client.MakePayment(ctx, cconnect.NewRequest(toRequest(in)))
		if err != nil {
			return nil, err
		}
		return fromResponse(out.Msg), nil
	}
}

func (p pair) expandByTwin(t testing.TB) func(n int) error {
	httpClient, url := twinServer(t)
	client := conformancev1connect.NewConformanceServiceClient(httpClient, url, p.twinOptions()...)
	return func(n int) error {
		in := conformance.Expand.In.ToProto(&conformance.ExpandRequest{Item: conformance.Ordinary(), Count: int32(n)})
		stream, err := client.Expand(context.Background(), cconnect.NewRequest(in.(*conformancev1.ExpandRequest)))
		if err != nil {
			return err
		}
		got := 0
		for ; stream.Receive(); got++ {
			_ = conformance.Expand.Out.FromProto(stream.Msg())
		}
		return wantMessages(errors.Join(stream.Err(), stream.Close()), got, n)
	}
}

func wantMessages(err error, got, want int) error {
	if err == nil && got != want {
		err = fmt.Errorf("%d messages, want %d", got, want)
	}
	return err
}
