package capnp_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	codec "github.com/tare-bench/tare/codec/capnp"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/capnp"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// A reply is sent up to the very limit, by which its far pointers do not count;
// of one that is longer, nothing but the refusal crosses.
func TestLimitsReplies(t *testing.T) {
	item := &conformance.Item{Text: strings.Repeat("a", 1<<20), Tags: strings.Split(strings.Repeat("tag ", 5000), " ")}
	reply := &conformance.EchoResponse{Item: item}
	b, err := codec.Codec{}.Bind(conformance.Echo.Out)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := b.Append(nil, b.Native(reply))
	if err != nil {
		t.Fatal(err)
	}
	for _, limit := range []int{len(encoded), len(encoded) - 1, 1 << 10} {
		read, got := limitedCall(t, limit, reply)
		if limit == len(encoded) {
			if got != nil {
				t.Errorf("a reply as long as the limit: %v", got)
			}
			continue
		}
		var refused *rpc.Error
		if !errors.As(got, &refused) || refused.Message != protocol.TooLong(limit).Message {
			t.Errorf("a limit of %d gives %v", limit, got)
		}
		if limit == 1<<10 && read > 4<<10 {
			t.Errorf("a refusal takes %d bytes", read)
		}
	}
}

// limitedCall has a server that holds its replies to a limit give one, and tells
// how many bytes its client reads.
func limitedCall(t *testing.T, limit int, reply any) (read int64, failed error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	o := protocol.Options{Codec: codec.Codec{}, Settings: setting.Values{"conns": "1"}, InFlight: 1, MaxMessage: limit}
	go func() {
		served <- capnp.New().Serve(ctx, l, conformance.Service, rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
			if _, err := s.Recv(); err != nil {
				return err
			}
			return s.Send(reply)
		}), o)
	}()
	var count atomic.Int64
	taking := o
	taking.MaxMessage = protocol.DefaultMaxMessage
	taking.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return counted{conn, &count}, err
	}
	c, err := capnp.New().Dial(ctx, l.Addr().String(), conformance.Service, taking)
	if err != nil {
		t.Fatal(err)
	}
	got := rpc.Call(ctx, c, conformance.Echo, []any{&conformance.EchoRequest{}}, func(any) error { return nil })
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	return count.Load(), got
}

// counted counts what is read.
type counted struct {
	net.Conn
	read *atomic.Int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}
