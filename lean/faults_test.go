package lean_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/tare-bench/tare/lean"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// vacant gives an address where nobody listens.
func vacant(tb testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	return addr
}

func TestRefused(t *testing.T) {
	addr := vacant(t)
	_, err := lean.Dial(t.Context(), lean.Config{
		Addr: addr, Carriage: protocol.Carriage{Conns: 1, KeepAlive: true}, InFlight: 1, Deadline: time.Second, MaxMessage: 1,
	})
	if rpc.Class(err) != "refused" {
		t.Errorf("dial says %v, want that the connection was refused", err)
	}
	client, got := dial(t, addr, protocol.Carriage{Conns: 1}), new(tape)
	if _, err := client.Drive(t.Context(), inFlight, exactly(100), calls(t, client, echo(nil)), got); err != nil {
		t.Fatal(err)
	}
	got.only(t, "refused", 100)
}

// Each server of the table takes one connection at a time, reads what comes
// first, and does what it does.
func TestServersThatBreakOff(t *testing.T) {
	for name, c := range map[string]struct {
		http2 bool
		says  string
		class string
	}{
		"nothing":                    {false, "", "reset"},
		"half a header":              {false, "HTTP/1.1 200 OK\r\nConte", "reset"},
		"half a body":                {false, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "reset"},
		"half a chunk":               {false, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "reset"},
		"no HTTP":                    {false, "220 mail.example.org ESMTP\r\n", "protocol"},
		"a body up to its end":       {false, "HTTP/1.1 200 OK\r\n\r\n", "ok"},
		"HTTP/1.1 to a call of 2":    {true, "HTTP/1.1 400 Bad Request\r\n\r\n", "protocol"},
		"settings and no more":       {true, "\x00\x00\x00\x04\x00\x00\x00\x00\x00", "reset"},
		"nothing to a call of 2":     {true, "", "reset"},
		"a frame of no stream's":     {true, "\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x01\x04\x00\x00\x00\x63", "protocol"},
		"farewell before any answer": {true, "\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "reset"},
	} {
		t.Run(name, func(t *testing.T) {
			addr := breakOff(t, c.says, func(c net.Conn) {
				_ = c.(*net.TCPConn).CloseWrite()
				_, _ = io.Copy(io.Discard, c)
			})
			client, got := dial(t, addr, protocol.Carriage{HTTP2: c.http2}), new(tape)
			if _, err := client.Drive(t.Context(), 2, exactly(20), calls(t, client, echo(nil)), got); err != nil {
				t.Fatal(err)
			}
			got.only(t, c.class, 20)
		})
	}
}

// A server that says more than it was asked for has its surplus thrown away with
// the connection: it would be the next call's answer.
func TestSurplusIsNoAnswer(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
	addr := breakOff(t, answer+"ok"+answer+"no", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	client, got := dial(t, addr, protocol.Carriage{KeepAlive: true, Conns: 1}), new(tape)
	frame := echo(nil)
	frame.Check = func(a protocol.Answer) error {
		if string(a.Body) != "ok" {
			return fmt.Errorf("another's answer: %q", a.Body)
		}
		return nil
	}
	if _, err := client.Drive(t.Context(), 1, exactly(10), calls(t, client, frame), got); err != nil {
		t.Fatal(err)
	}
	got.only(t, "ok", 10)
	if wire := client.Wire(); wire.Conns != 10 {
		t.Errorf("%d connections, want one for each call", wire.Conns)
	}
}

// breakOff is a server that reads something, says something, and does what then
// is.
func breakOff(tb testing.TB, says string, then func(net.Conn)) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, says)
				then(c)
				_ = c.Close()
			})
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		running.Wait()
	})
	return l.Addr().String()
}

func TestConnectionsLostBetweenTrialsAreOpenedAnew(t *testing.T) {
	for name, c := range versions {
		if !c.KeepAlive {
			continue
		}
		t.Run(name, func(t *testing.T) {
			front := newFront(t, serve(t, http.HandlerFunc(echoes)))
			client := dial(t, front.addr, c)
			for range 2 {
				got := new(tape)
				if _, err := client.Drive(t.Context(), inFlight, exactly(100), calls(t, client, echo([]byte("x"))), got); err != nil {
					t.Fatal(err)
				}
				got.only(t, "ok", 100)
				front.cut()
			}
			if wire := client.Wire(); wire.Conns != 2*int64(c.Conns) {
				t.Errorf("%d connections were opened, want each twice", wire.Conns)
			}
		})
	}
}

func TestConnectionsCutDuringATrial(t *testing.T) {
	for name, c := range versions {
		t.Run(name, func(t *testing.T) {
			front := newFront(t, serve(t, http.HandlerFunc(echoes)))
			client, got := dial(t, front.addr, c), new(tape)
			call := calls(t, client, echo([]byte("x")))
			next := func(n int) *lean.Call {
				if n > 0 && n%100 == 0 {
					front.cut()
				}
				return call(n)
			}
			if _, err := client.Drive(t.Context(), inFlight, exactly(1000), next, got); err != nil {
				t.Fatal(err)
			}
			// At each cut what is in flight may be lost, and nothing else.
			ends := got.classes()
			if lost := ends["reset"]; lost == 0 || lost > 9*inFlight || ends["ok"]+lost != 1000 {
				t.Errorf("calls ended so: %v; want some lost, at most %d, and the rest right", ends, 9*inFlight)
			}
		})
	}
}

// front stands before a server and can cut the connections to it.
type front struct {
	addr string
	mu   sync.Mutex
	open map[net.Conn]bool
}

func newFront(tb testing.TB, server string) *front {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	f := &front{addr: l.Addr().String(), open: make(map[net.Conn]bool)}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				tb.Error(err)
				return
			}
			f.mu.Lock()
			f.open[near] = true
			f.mu.Unlock()
			for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
				running.Go(func() {
					_, _ = io.Copy(way[0], way[1])
					_ = near.Close()
					_ = far.Close()
				})
			}
		}
	})
	tb.Cleanup(func() {
		_ = l.Close()
		f.cut()
		running.Wait()
	})
	return f
}

// cut closes all connections at once.
func (f *front) cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.open {
		_ = c.Close()
	}
	clear(f.open)
}

// A server that answers before it has read the request, and reads no more,
// cannot be sent another on that connection.
func TestAnswerBeforeTheRequestIsSent(t *testing.T) {
	over := make(chan struct{})
	addr := breakOff(t, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", func(net.Conn) { <-over })
	t.Cleanup(func() { close(over) })
	client := dial(t, addr, protocol.Carriage{Conns: 1, KeepAlive: true})
	got := new(tape)
	if _, err := client.Drive(t.Context(), 1, exactly(5), calls(t, client, echo(make([]byte, 32<<20))), got); err != nil {
		t.Fatal(err)
	}
	got.only(t, "resource_exhausted", 5)
	if wire := client.Wire(); wire.Conns != 5 {
		t.Errorf("%d connections were opened, want one for each call", wire.Conns)
	}
}

func TestServerThatClosesAfterEachAnswer(t *testing.T) {
	addr := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		echoes(w, r)
	}))
	client, got := dial(t, addr, protocol.Carriage{Conns: 8, KeepAlive: true}), new(tape)
	if _, err := client.Drive(t.Context(), inFlight, exactly(200), calls(t, client, echo([]byte("x"))), got); err != nil {
		t.Fatal(err)
	}
	got.only(t, "ok", 200)
}

func TestAddressThatCannotBeReached(t *testing.T) {
	client, got := dial(t, "255.255.255.255:9", protocol.Carriage{Conns: 2}), new(tape)
	totals, err := client.Drive(t.Context(), inFlight, exactly(50), calls(t, client, echo(nil)), got)
	if err != nil || totals.Started != 50 || got.classes()["ok"] != 0 {
		t.Errorf("%+v, %v, %v; want 50 calls that failed", totals, err, got.classes())
	}
}
