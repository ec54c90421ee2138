package protocoltest

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

var wireChecks = []check{
	{"a client opens as many connections as its settings say", unary, connections},
	{"shared connections carry 300 calls at a time, and no others are opened", unary, crowded},
	{"messages are compressed if the stack says so, and not otherwise", unary, compressed},
}

// connections makes 200 calls, 16 in flight. The first are held until as many
// are in flight as connections are asked for, so that each must be opened.
func connections(t *testing.T, s *suite) {
	const calls = 200
	want := calls
	if !s.stack.ConnPerCall {
		want = s.conns(t)
	}
	s.wantConnections(t, s.options(), calls, min(want, inFlight), want)
}

// crowded makes more calls at a time than net/http's client puts on a
// connection before the server has said how many it takes, and more than its
// server takes of itself. All are held until all are in flight.
func crowded(t *testing.T, s *suite) {
	o := s.options()
	o.InFlight = 300
	f, ok := s.protocol.(protocol.Framer)
	if !ok || s.stack.ConnPerCall {
		t.Skip("calls share no connections")
	}
	c, err := f.Carriage(o)
	if err != nil || !c.HTTP2 {
		t.Skip("calls share no connections")
	}
	s.wantConnections(t, o, o.InFlight, o.InFlight, c.Conns)
}

// wantConnections has o.InFlight callers make calls, of which so many are held
// until as many are in flight, and counts the connections that they open.
func (s *suite) wantConnections(t *testing.T, o protocol.Options, calls, held, want int) {
	t.Helper()
	gate := newGate(held)
	srv := s.serveWith(t, rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, st rpc.Stream) error {
		if err := gate.pass(ctx); err != nil {
			return err
		}
		return conformance.Handler{}.Handle(ctx, m, st)
	}), conformance.Service, o)
	c := s.dialWith(t, srv.addr(), o)
	ctx := patient(t)
	var wg sync.WaitGroup
	var next atomic.Int64
	for range o.InFlight {
		wg.Go(func() {
			for next.Add(1) <= int64(calls) {
				if _, err := call(ctx, c, conformance.Echo, &conformance.EchoRequest{Item: conformance.Ordinary()}); err != nil {
					t.Errorf("call: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	if got := srv.accepted.Load(); got != int64(want) {
		t.Errorf("%d connections for %d calls, %d at a time, want %d", got, calls, o.InFlight, want)
	}
}

// conns is how many connections the protocol says that a client keeps.
func (s *suite) conns(t *testing.T) int {
	t.Helper()
	if f, ok := s.protocol.(protocol.Framer); ok {
		if c, err := f.Carriage(s.options()); err == nil {
			return c.Conns
		}
	}
	if _, ok := s.settings["conns"]; !ok {
		t.Skip("the protocol does not say how many connections it keeps")
	}
	return s.options().Conns()
}

// gate holds those who come until so many have, then lets all pass.
type gate struct {
	missing atomic.Int64
	open    chan struct{}
}

func newGate(n int) *gate {
	g := &gate{open: make(chan struct{})}
	g.missing.Store(int64(n))
	return g
}

func (g *gate) pass(ctx context.Context) error {
	if g.missing.Add(-1) == 0 {
		close(g.open)
	}
	select {
	case <-g.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func compressed(t *testing.T, s *suite) {
	const size = 200_000
	srv, c := s.start(t, conformance.Handler{})
	wantEcho(t, c, &conformance.Item{Text: strings.Repeat("abcdefgh", size/8)})
	srv.end() // a byte is counted only after it has left
	if err := srv.ended(t); err != nil {
		t.Fatal(err)
	}
	for _, leg := range []struct {
		name  string
		bytes int64
	}{
		{"request", srv.read.Load()}, {"reply", srv.written.Load()},
	} {
		switch {
		case s.stack.Compressor == nil && leg.bytes < size:
			t.Errorf("the %s took %d bytes for a text of %d, and no compression was asked for", leg.name, leg.bytes, size)
		case s.stack.Compressor != nil && leg.bytes > size/4:
			t.Errorf("the %s took %d bytes for a text of %d that compresses well", leg.name, leg.bytes, size)
		}
	}
}
