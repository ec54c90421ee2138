package grpc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/compress/gzip"
	"github.com/tare-bench/tare/compress/zstd"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/grpc"
	"github.com/tare-bench/tare/protocol/protocoltest"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

func TestContract(t *testing.T) {
	stacks := map[string]protocoltest.Stack{
		"generated messages":   {Codec: proto.Codec{}},
		"compressed":           {Codec: proto.Codec{}, Compressor: gzip.Compressor{}},
		"compressed otherwise": {Codec: json.Codec{}, Compressor: zstd.Compressor{}},
		"plain structs":        {Codec: json.Codec{}},
		"three channels":       {Codec: proto.Codec{}, Settings: map[string]string{"conns": "3"}},
		"a channel for a call": {Codec: proto.Codec{}, Settings: map[string]string{"channel": "per-call"}, ConnPerCall: true},
	}
	for name, stack := range stacks {
		t.Run(name, func(t *testing.T) { protocoltest.Run(t, grpc.New(), stack) })
	}
}

func TestCallsAreRefusedBeforeTheyAreHandedOver(t *testing.T) {
	protocoltest.RefusesEarly(t, grpc.New(), protocoltest.Stack{Codec: proto.Codec{}})
}

// TestBrokenCallerEndsAConversation has a caller fail that both sends and
// receives: the handler must not wait for it.
func TestBrokenCallerEndsAConversation(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error, 1)
	c := dial(t, rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
		close(began)
		_, err := s.Recv()
		ended <- err
		return err
	}))
	broken := errors.New("source broke")
	if err := c.Handle(t.Context(), conformance.Converse, brokenCaller{began, broken}); !errors.Is(err, broken) {
		t.Errorf("call returned %v, want the caller's own error", err)
	}
	if err := <-ended; err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the handler received %v, want that the call was broken", err)
	}
}

// brokenCaller fails once its call has begun.
type brokenCaller struct {
	began <-chan struct{}
	err   error
}

func (c brokenCaller) Recv() (any, error) {
	<-c.began
	return nil, c.err
}

func (c brokenCaller) Send(any) error { return nil }

// TestChannelsShareWriters has a channel for each call compress with the
// writers of those before it. Pools may lose some, under the race detector many:
// all that is asked is that some are used again.
func TestChannelsShareWriters(t *testing.T) {
	const calls = 40
	made := new(atomic.Int64)
	c := dialWith(t, conformance.Handler{}, map[string]string{"channel": "per-call"}, counting{made: made})
	for range calls {
		if _, err := rpc.Invoke(t.Context(), c, conformance.Echo, &conformance.EchoRequest{Item: conformance.Ordinary()}); err != nil {
			t.Fatal(err)
		}
	}
	// Both sides have pools of their own.
	if got := made.Load(); got > calls {
		t.Errorf("%d calls and their answers took %d new writers", calls, got)
	}
}

// counting counts the writers that it makes.
type counting struct {
	gzip.Compressor
	made *atomic.Int64
}

func (c counting) NewWriter() compress.Writer {
	c.made.Add(1)
	return c.Compressor.NewWriter()
}

// dial serves h and gives a client of it.
func dial(t *testing.T, h rpc.Handler) protocol.Conn {
	t.Helper()
	return dialWith(t, h, nil, nil)
}

func dialWith(t *testing.T, h rpc.Handler, set map[string]string, c compress.Compressor) protocol.Conn {
	t.Helper()
	p := grpc.New()
	settings, err := setting.Resolve(p.Spec().Settings, set)
	if err != nil {
		t.Fatal(err)
	}
	o := protocol.Options{
		Codec: proto.Codec{}, Compressor: c, Settings: settings, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage,
		DialContext: new(net.Dialer).DialContext,
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, l, conformance.Service, h, o) }()
	conn, err := p.Dial(ctx, l.Addr().String(), conformance.Service, o)
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
