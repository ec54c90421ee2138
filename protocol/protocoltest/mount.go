package protocoltest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

var mountChecks = []check{
	{"a protocol that can share a port answers several services there", unary, mounted},
}

// other is a service beside the conformance service, with messages of its.
var other = &rpc.Service{Name: "tare.conformance.v1.OtherService", Methods: []*rpc.Method{{
	Service: "tare.conformance.v1.OtherService", Name: "Echo", Route: "POST /v1/other",
	In: conformance.Echo.In, Out: conformance.Echo.Out,
}}}

// mounted calls the methods of two services, and one of none, on connections
// that the protocol takes over, or else on net/http's server.
func mounted(t *testing.T, s *suite) {
	p, ok := s.protocol.(protocol.Mounter)
	if !ok {
		t.Skip("it does not share a port")
	}
	var mux rpc.Mux
	for svc, h := range map[*rpc.Service]rpc.Handler{conformance.Service: conformance.Handler{}, other: saying("other")} {
		if err := mux.Add(svc, h); err != nil {
			t.Fatal(err)
		}
	}
	limits := protocol.Limits{HeaderTimeout: patience, IdleTimeout: patience, HeaderBytes: 1 << 20, Streams: inFlight}
	m, err := p.Mount(mux.Services(), &mux, s.options(), limits)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Media) == 0 {
		t.Error("the mount names no content type")
	}
	addr := serveMount(t, m)
	wantEcho(t, s.dial(t, addr), conformance.Ordinary())
	c, err := s.protocol.Dial(t.Context(), addr, other, s.options())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	out, err := call(patient(t), c, other.Methods[0], &conformance.EchoRequest{})
	if err != nil {
		t.Fatal(err)
	}
	wantReplies(t, out, &conformance.EchoResponse{Item: &conformance.Item{Text: "other"}})
}

// saying answers every call with one text.
func saying(text string) rpc.Handler {
	return rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
		return s.Send(&conformance.EchoResponse{Item: &conformance.Item{Text: text}})
	})
}

// serveMount serves m alone until the test ends, and gives its address.
func serveMount(t *testing.T, m protocol.Mount) string {
	t.Helper()
	l := listen(t)
	serve, shutdown := byNetHTTP(m, l)
	if m.Native != nil {
		serve = func() error { return m.Native.Serve(l) }
		shutdown = func() { m.Native.Shutdown(t.Context()) }
	}
	served := make(chan error, 1)
	go func() { served <- serve() }()
	t.Cleanup(func() {
		shutdown()
		if err := await(t, served, "the server to end"); err != nil && !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	return l.addr()
}

func byNetHTTP(m protocol.Mount, l net.Listener) (serve func() error, shutdown func()) {
	both := new(http.Protocols)
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	srv := &http.Server{Protocols: both, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := m.Paths[r.URL.Path]; ok {
			h.ServeHTTP(w, r)
			return
		}
		m.Any.ServeHTTP(w, r)
	})}
	return func() error { return srv.Serve(l) }, func() { _ = srv.Close() }
}
