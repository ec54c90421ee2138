package port_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/port"
)

// served gives the stacks that a port is for.
func served(t testing.TB) (all []catalog.Stack) {
	t.Helper()
	c := catalog.Default()
	for _, name := range c.Served {
		s, err := c.Stack(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// config is that of a port with all stacks, which a test may alter.
func config(t testing.TB, h rpc.Handler, svcs ...*rpc.Service) port.Config {
	t.Helper()
	c := port.Config{
		Services: svcs, Handler: h,
		Limits: port.DefaultLimits, Grace: patience, Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	for _, s := range served(t) {
		c.Stacks = append(c.Stacks, port.Stack{Protocol: s.Protocol.(protocol.Mounter), Options: s.Options(1)})
	}
	return c
}

// patience is how long a test waits before it calls a port stuck.
const patience = time.Minute

// running is a port at work until the test ends.
type running struct {
	addr string
	end  func() // begins the grace
	log  *lines
	done chan struct{}
	err  error // what Serve returned, once done is closed
}

// serve runs a port of the conformance service.
func serve(t *testing.T, alter ...func(*port.Config)) *running {
	t.Helper()
	r := &running{done: make(chan struct{}), log: new(lines)}
	c := config(t, conformance.Handler{}, conformance.Service)
	c.Log = slog.New(slog.NewTextHandler(r.log, nil))
	for _, f := range alter {
		f(&c)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	r.end = cancel
	go func() {
		defer close(r.done)
		r.err = port.Serve(ctx, l, c)
	}()
	t.Cleanup(func() {
		cancel()
		r.ended(t)
	})
	return r
}

// ended waits for Serve and gives what it returned.
func (r *running) ended(t *testing.T) error {
	t.Helper()
	await(t, r.done, "the port to end")
	return r.err
}

func await[T any](t *testing.T, c <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("waited %v for %s", patience, what)
		panic("unreachable")
	}
}

// eventually waits until something holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); !holds(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("after %v it is still not so that %s", patience, what)
		}
	}
}

// patient gives a context that ends once the port is stuck.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// lines is a log that a test reads.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
