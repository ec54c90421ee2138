package rest_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/protocol/rest"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// writes counts a connection's writes, each of which is a packet or more.
type writes struct {
	net.Conn
	n *atomic.Int64
}

func (w writes) Write(b []byte) (int, error) {
	w.n.Add(1)
	return w.Conn.Write(b)
}

// A short message goes out with its header: net/http sends the header by itself
// ahead of a body whose reader it does not know, which costs both sides.
func TestRequestIsOneWrite(t *testing.T) {
	p := rest.New()
	settings, err := setting.Resolve(p.Spec().Settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	var sent atomic.Int64
	o := protocol.Options{
		Codec: json.Codec{}, Settings: settings, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, network, addr)
			return writes{c, &sent}, err
		},
	}
	addr := serve(t, conformance.Handler{})[len("http://"):]
	conn, err := p.Dial(t.Context(), addr, conformance.Service, o)
	if err != nil {
		t.Fatal(err)
	}
	const calls = 10
	for range calls {
		if _, err := rpc.Invoke(t.Context(), conn, conformance.Echo, &conformance.EchoRequest{Item: conformance.Ordinary()}); err != nil {
			t.Fatal(err)
		}
	}
	if got := sent.Load(); got != calls {
		t.Errorf("%d calls took %d writes", calls, got)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}
