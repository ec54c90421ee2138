package connect_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/compress/gzip"
	"github.com/tare-bench/tare/compress/zstd"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/connect"
	"github.com/tare-bench/tare/protocol/protocoltest"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

func TestCallsAreRefusedBeforeTheyAreHandedOver(t *testing.T) {
	protocoltest.RefusesEarly(t, connect.New(), protocoltest.Stack{Codec: proto.Codec{}})
}

func TestContract(t *testing.T) {
	protocols := map[string]connect.Protocol{"Connect": connect.New(), "gRPC-Web": connect.NewWeb()}
	stacks := map[string]protocoltest.Stack{
		"generated messages":      {Codec: proto.Codec{}},
		"compressed":              {Codec: proto.Codec{}, Compressor: gzip.Compressor{}},
		"compressed otherwise":    {Codec: json.Codec{}, Compressor: zstd.Compressor{}},
		"plain structs":           {Codec: json.Codec{}},
		"HTTP 2":                  {Codec: proto.Codec{}, Settings: map[string]string{"http": "2", "conns": "1"}},
		"HTTP 2, two connections": {Codec: proto.Codec{}, Settings: map[string]string{"http": "2", "conns": "2"}},
		"a connection for a call": {Codec: proto.Codec{}, Settings: map[string]string{"keepalive": "off"}, ConnPerCall: true},
		"HTTP 2, one for a call":  {Codec: proto.Codec{}, Settings: map[string]string{"http": "2", "keepalive": "off"}, ConnPerCall: true},
	}
	for spoken, p := range protocols {
		for name, stack := range stacks {
			t.Run(spoken+", "+name, func(t *testing.T) { protocoltest.Run(t, p, stack) })
		}
	}
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

// dial serves h and gives a client of it.
func dial(t *testing.T, h rpc.Handler) protocol.Conn {
	t.Helper()
	p := connect.New()
	settings, err := setting.Resolve(p.Spec().Settings, map[string]string{"http": "2"})
	if err != nil {
		t.Fatal(err)
	}
	o := protocol.Options{
		Codec: proto.Codec{}, Settings: settings, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage,
		DialContext: new(net.Dialer).DialContext,
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, l, conformance.Service, h, o) }()
	c, err := p.Dial(ctx, l.Addr().String(), conformance.Service, o)
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
