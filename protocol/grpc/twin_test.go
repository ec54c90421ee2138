//go:build !race

// The race detector allocates, and empties pools at random.

package grpc_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"

	ggrpc "google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	conformancev1 "github.com/tare-bench/tare/gen/tare/conformance/v1"
	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/codec/vtproto"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/grpc"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// tolerance is how much more than its twin the adapter may allocate.
const tolerance = 1.02

// TestUnaryAllocatesLikeItsTwin holds the adapter against what a user of
// grpc-go would write by hand, over a socket, client and server together.
func TestUnaryAllocatesLikeItsTwin(t *testing.T) {
	adapter, twin := allocations(t, payBy(t, adapterClient(t))), allocations(t, payBy(t, twinClient(t)))
	t.Logf("allocations per unary call: adapter %.1f, twin %.1f", adapter, twin)
	if adapter > twin*tolerance {
		t.Errorf("adapter allocates %.1f times per call, its twin %.1f", adapter, twin)
	}
}

// TestStreamAllocatesLikeItsTwin compares the cost of a message of a long
// server stream.
func TestStreamAllocatesLikeItsTwin(t *testing.T) {
	adapter, twin := perMessage(t, expandBy(adapterConn(t, conformance.Service))), perMessage(t, expandByTwin(t))
	t.Logf("allocations per streamed message: adapter %.2f, twin %.2f", adapter, twin)
	if adapter > twin*tolerance {
		t.Errorf("adapter allocates %.2f times per message, its twin %.2f", adapter, twin)
	}
}

// TestLargeMessagesKeepPooledBuffers compares bytes: a codec that encodes into
// a buffer of its own adds a message's length to each.
func TestLargeMessagesKeepPooledBuffers(t *testing.T) {
	const length, messages = 1 << 20, 100
	item := &conformance.Item{Blob: make([]byte, length)}
	twin := allocatedBytes(t, expandOfByTwin(t, item), messages)
	for _, c := range []codec.Codec{proto.Codec{}, vtproto.Codec{}} {
		adapter := allocatedBytes(t, expandOf(adapterConnOf(t, conformance.Service, c), item), messages)
		t.Logf("%s: bytes allocated per message of 1 MiB: adapter %.0f, twin %.0f", c.Spec().Name, adapter, twin)
		if adapter > twin+length/2 {
			t.Errorf("%s: adapter allocates %.0f bytes per message, its twin %.0f", c.Spec().Name, adapter, twin)
		}
	}
}

// allocatedBytes gives the bytes allocated for each message of one stream.
func allocatedBytes(t *testing.T, expand func(int) error, messages int) float64 {
	t.Helper()
	var before, after runtime.MemStats
	for _, m := range []*runtime.MemStats{&before, &after} {
		if err := expand(messages); err != nil { // the first fills the pools
			t.Fatal(err)
		}
		runtime.ReadMemStats(m)
	}
	return float64(after.TotalAlloc-before.TotalAlloc) / float64(messages)
}

func BenchmarkUnary(b *testing.B) {
	for name, pay := range map[string]func() error{
		"adapter": payBy(b, adapterClient(b)),
		"twin":    payBy(b, twinClient(b)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := pay(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStream(b *testing.B) {
	const messages = 1000
	for name, expand := range map[string]func(int) error{
		"adapter": expandBy(adapterConn(b, conformance.Service)),
		"twin":    expandByTwin(b),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := expand(messages); err != nil {
					b.Fatal(err)
				}
			}
		})
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

// The payment service in plain structs, as a workload has it.
type (
	money struct {
		Currency   string
		MinorUnits int64
	}
	payment struct {
		ID, User string
		Amount   money
	}
	receipt struct {
		ID, Message      string
		Charged, Balance money
	}
)

func toMoney(m money) *paymentsv1.Money {
	return &paymentsv1.Money{CurrencyCode: m.Currency, MinorUnits: m.MinorUnits}
}

func fromMoney(m *paymentsv1.Money) money { return money{m.GetCurrencyCode(), m.GetMinorUnits()} }

func toRequest(p *payment) *paymentsv1.MakePaymentRequest {
	return &paymentsv1.MakePaymentRequest{PaymentId: p.ID, UserName: p.User, Amount: toMoney(p.Amount)}
}

func fromRequest(m *paymentsv1.MakePaymentRequest) *payment {
	return &payment{ID: m.GetPaymentId(), User: m.GetUserName(), Amount: fromMoney(m.GetAmount())}
}

func toResponse(r *receipt) *paymentsv1.MakePaymentResponse {
	return &paymentsv1.MakePaymentResponse{
		PaymentId: r.ID, Message: r.Message, Status: paymentsv1.PaymentStatus_PAYMENT_STATUS_CHARGED,
		Charged: toMoney(r.Charged), Balance: toMoney(r.Balance),
	}
}

func fromResponse(m *paymentsv1.MakePaymentResponse) *receipt {
	return &receipt{
		ID: m.GetPaymentId(), Message: m.GetMessage(),
		Charged: fromMoney(m.GetCharged()), Balance: fromMoney(m.GetBalance()),
	}
}

func pay(p *payment) *receipt {
	left := money{p.Amount.Currency, 100_000 - p.Amount.MinorUnits}
	return &receipt{ID: p.ID, Message: "charged", Charged: p.Amount, Balance: left}
}

var (
	makePayment = &rpc.Method{
		Service: paymentsv1.PaymentService_ServiceDesc.ServiceName, Name: "MakePayment",
		In: rpc.NewType(toRequest, fromRequest), Out: rpc.NewType(toResponse, fromResponse),
	}
	payments = &rpc.Service{Name: makePayment.Service, Methods: []*rpc.Method{makePayment}}
)

// answer is the handler behind the adapter.
func answer(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	if m != makePayment {
		return conformance.Handler{}.Handle(ctx, m, s)
	}
	in, err := s.Recv()
	if err != nil {
		return err
	}
	return s.Send(pay(in.(*payment)))
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// adapterConn gives a client of a server, both of package grpc.
func adapterConn(t testing.TB, svc *rpc.Service) protocol.Conn {
	t.Helper()
	return adapterConnOf(t, svc, proto.Codec{})
}

func adapterConnOf(t testing.TB, svc *rpc.Service, c codec.Codec) protocol.Conn {
	t.Helper()
	p := grpc.New()
	settings, err := setting.Resolve(p.Spec().Settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := protocol.Options{
		Codec: c, Settings: settings, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage,
		DialContext: new(net.Dialer).DialContext,
	}
	l := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, l, svc, rpc.HandlerFunc(answer), o) }()
	conn, err := p.Dial(ctx, l.Addr().String(), svc, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = conn.Close()
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return conn
}

// twinChannel gives a client of a server that both are written by hand.
func twinChannel(t testing.TB) *ggrpc.ClientConn {
	t.Helper()
	server := ggrpc.NewServer(ggrpc.MaxRecvMsgSize(protocol.DefaultMaxMessage))
	paymentsv1.RegisterPaymentServiceServer(server, twinPayments{})
	conformancev1.RegisterConformanceServiceServer(server, twinConformance{})
	l := listen(t)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	cc, err := ggrpc.NewClient(l.Addr().String(),
		ggrpc.WithTransportCredentials(insecure.NewCredentials()),
		ggrpc.WithDefaultCallOptions(ggrpc.MaxCallRecvMsgSize(protocol.DefaultMaxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cc.Close()
		server.GracefulStop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return cc
}

type twinPayments struct {
	paymentsv1.UnimplementedPaymentServiceServer
}

func (twinPayments) MakePayment(_ context.Context, in *paymentsv1.MakePaymentRequest) (*paymentsv1.MakePaymentResponse, error) {
	return toResponse(pay(fromRequest(in))), nil
}

type twinConformance struct {
	conformancev1.UnimplementedConformanceServiceServer
}

func (twinConformance) Expand(in *conformancev1.ExpandRequest, s ggrpc.ServerStreamingServer[conformancev1.ExpandResponse]) error {
	plain := conformance.Expand.In.FromProto(in).(*conformance.ExpandRequest)
	for range plain.Count {
		out := conformance.Expand.Out.ToProto(&conformance.ExpandResponse{Item: plain.Item})
		if err := s.Send(out.(*conformancev1.ExpandResponse)); err != nil {
			return err
		}
	}
	return nil
}

// payer makes one payment and gives its receipt.
type payer func(context.Context, *payment) (*receipt, error)

func twinClient(t testing.TB) payer {
	client := paymentsv1.NewPaymentServiceClient(twinChannel(t))
	return func(ctx context.Context, p *payment) (*receipt, error) {
		out, err := client.MakePayment(ctx, toRequest(p))
		if err != nil {
			return nil, err
		}
		return fromResponse(out), nil
	}
}

func adapterClient(t testing.TB) payer {
	c := adapterConn(t, payments)
	return func(ctx context.Context, p *payment) (*receipt, error) {
		out, err := rpc.Invoke(ctx, c, makePayment, p)
		if err != nil {
			return nil, err
		}
		return out.(*receipt), nil
	}
}

// payBy gives a function that pays once and checks the receipt.
func payBy(t testing.TB, by payer) func() error {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	in := &payment{ID: "0b6c1f2e", User: "ada", Amount: money{"EUR", 1250}}
	want := *pay(in)
	return func() error {
		got, err := by(ctx, in)
		if err != nil {
			return err
		}
		if *got != want {
			return fmt.Errorf("receipt is %v, want %v", *got, want)
		}
		return nil
	}
}

// expandBy gives a function that reads a stream of n messages.
func expandBy(c protocol.Conn) func(n int) error { return expandOf(c, conformance.Ordinary()) }

func expandOf(c protocol.Conn, item *conformance.Item) func(n int) error {
	return func(n int) error {
		got := 0
		in := []any{&conformance.ExpandRequest{Item: item, Count: int32(n)}}
		err := rpc.Call(context.Background(), c, conformance.Expand, in, func(any) error {
			got++
			return nil
		})
		return wantMessages(err, got, n)
	}
}

func expandByTwin(t testing.TB) func(n int) error { return expandOfByTwin(t, conformance.Ordinary()) }

func expandOfByTwin(t testing.TB, item *conformance.Item) func(n int) error {
	client := conformancev1.NewConformanceServiceClient(twinChannel(t))
	return func(n int) error {
		in := conformance.Expand.In.ToProto(&conformance.ExpandRequest{Item: item, Count: int32(n)})
		stream, err := client.Expand(context.Background(), in.(*conformancev1.ExpandRequest))
		if err != nil {
			return err
		}
		for got := 0; ; got++ {
			out, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return wantMessages(nil, got, n)
			}
			if err != nil {
				return err
			}
			_ = conformance.Expand.Out.FromProto(out)
		}
	}
}

func wantMessages(err error, got, want int) error {
	if err == nil && got != want {
		err = fmt.Errorf("%d messages, want %d", got, want)
	}
	return err
}
