package protocoltest

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// patience is how long a check waits before it calls a protocol stuck. No
// check passes or fails by a shorter time.
const patience = 3 * time.Minute

const inFlight = 16

// suite is one stack under test.
type suite struct {
	protocol protocol.Protocol
	stack    Stack
	settings setting.Values
}

func (s *suite) carries(k rpc.Kind) error { return s.protocol.Spec().CanCarry(k, s.settings) }

// beside gives what a check does of protocols that have deadlines and fields
// cross; of the others, nothingBeside holds that they do not.
func beside(run func(*testing.T, *suite)) func(*testing.T, *suite) {
	return func(t *testing.T, s *suite) {
		if err := s.protocol.Spec().CanCross(s.settings); err != nil {
			t.Skip(err)
		}
		run(t, s)
	}
}

func (s *suite) options() protocol.Options {
	return protocol.Options{
		Codec:       s.stack.Codec,
		Compressor:  s.stack.Compressor,
		Settings:    s.settings,
		InFlight:    inFlight,
		MaxMessage:  protocol.DefaultMaxMessage,
		DialContext: new(net.Dialer).DialContext,
	}
}

// server is a server of the stack that runs until end, or the test's end.
type server struct {
	*listener
	end func() // tells Serve to end
	// ended gives what Serve returned.
	ended func(*testing.T) error
}

func (s *suite) serve(t *testing.T, h rpc.Handler) *server {
	t.Helper()
	return s.serveWith(t, h, conformance.Service, s.options())
}

func (s *suite) serveWith(t *testing.T, h rpc.Handler, svc *rpc.Service, o protocol.Options) *server {
	t.Helper()
	l := listen(t)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var err error
	go func() {
		defer close(done)
		err = s.protocol.Serve(ctx, l, svc, h, o)
	}()
	out := &server{listener: l, end: cancel, ended: func(t *testing.T) error {
		t.Helper()
		await(t, done, "Serve to return")
		return err
	}}
	t.Cleanup(func() {
		cancel()
		if err := out.ended(t); err != nil {
			t.Errorf("Serve returned %v after its context ended", err)
		}
	})
	return out
}

func (s *suite) dial(t *testing.T, addr string) protocol.Conn {
	t.Helper()
	return s.dialWith(t, addr, s.options())
}

func (s *suite) dialWith(t *testing.T, addr string, o protocol.Options) protocol.Conn {
	t.Helper()
	c, err := s.protocol.Dial(context.Background(), addr, conformance.Service, o)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close connection: %v", err)
		}
	})
	return c
}

// start serves h and dials it, with the stack's options on both sides.
func (s *suite) start(t *testing.T, h rpc.Handler) (*server, protocol.Conn) {
	t.Helper()
	srv := s.serve(t, h)
	return srv, s.dial(t, srv.addr())
}

// call makes one call and gives every reply that came.
func call(ctx context.Context, h rpc.Handler, m *rpc.Method, in ...any) ([]any, error) {
	var out []any
	err := rpc.Call(ctx, h, m, in, func(reply any) error {
		out = append(out, reply)
		return nil
	})
	return out, err
}

// patient gives a context that ends once the protocol is stuck.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// wantEcho makes a call of Echo and checks its answer.
func wantEcho(t *testing.T, c rpc.Handler, item *conformance.Item) {
	t.Helper()
	out, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{Item: item})
	if err != nil {
		t.Fatalf("echo: %v", err)
	}
	wantReplies(t, out, &conformance.EchoResponse{Item: item})
}

func wantReplies(t *testing.T, got []any, want ...any) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d replies, want %d", len(got), len(want))
	}
	for i := range want {
		if diff := conformance.Diff(want[i], got[i]); diff != "" {
			t.Fatalf("reply %d differs (-want +got):\n%.2000s", i, diff)
		}
	}
}

// wantError checks that err is an *rpc.Error of code, and gives it.
func wantError(t *testing.T, err error, code rpc.Code) *rpc.Error {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %s", code)
	}
	e, ok := err.(*rpc.Error) //nolint:errorlint // Handle's contract is the type itself
	if !ok {
		t.Fatalf("error is a %T, want *rpc.Error: %v", err, err)
	}
	if e.Code != code {
		t.Fatalf("error is %v, want %s", e, code)
	}
	return e
}

// wantAnswer checks that err is the application's answer of code.
func wantAnswer(t *testing.T, err error, code rpc.Code) *rpc.Error {
	t.Helper()
	e := wantError(t, err, code)
	if e.Transport != rpc.NoFault {
		t.Fatalf("error %v has transport fault %q, want an answer", e, e.Transport)
	}
	return e
}

func await[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("waited %s for %s", patience, what)
		panic("unreachable")
	}
}

// listener counts what passes through a socket on loopback.
type listener struct {
	net.Listener
	accepted      atomic.Int64
	read, written atomic.Int64 // bytes, of every connection
	closed        chan struct{}
	closeOnce     sync.Once

	mu    sync.Mutex
	conns []net.Conn
}

func listen(t *testing.T) *listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	out := &listener{Listener: l, closed: make(chan struct{})}
	t.Cleanup(func() { _ = out.Close() })
	return out
}

func (l *listener) addr() string { return l.Addr().String() }

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.accepted.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, c)
	return &countedConn{Conn: c, listener: l}, nil
}

func (l *listener) Close() error {
	err := l.Listener.Close()
	l.closeOnce.Do(func() { close(l.closed) })
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// cut ends every connection under the server's feet.
func (l *listener) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		_ = c.Close()
	}
}

type countedConn struct {
	net.Conn
	listener *listener
}

// CloseWrite is what net/http half-closes a connection with, so that an answer
// reaches a caller that is still sending.
func (c *countedConn) CloseWrite() error { return c.Conn.(*net.TCPConn).CloseWrite() }

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.listener.read.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.listener.written.Add(int64(n))
	return n, err
}
