// Package port serves every protocol of a set of services on one port, each by
// the server that is its own: it looks at what a connection begins with and
// hands it over, to gRPC's server or to net/http's. Around the protocols it has
// what a port that faces others needs: TLS, limits, health checks, CORS, and an
// end that lets calls finish.
//
// It knows no workload, and no protocol by its name: package service gives it
// both.
package port

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Config is what a port serves, and how.
type Config struct {
	Services []*rpc.Service
	Handler  rpc.Handler // of all services; what wraps every call is in it
	Stacks   []Stack
	Limits   protocol.Limits
	Conns    int           // open at a time; 0: any number
	Grace    time.Duration // that calls have to end once ctx has ended
	TLS      *tls.Config   // nil: none
	Origins  []string      // of web pages whose scripts may call; "*" is any
	// Ready says why the services cannot answer at the moment; nil: they always
	// can. Callers of /readyz read the error's text.
	Ready func(context.Context) error
	// Mixed says that any connection of HTTP/2 may carry calls of several
	// protocols, as a proxy's may: gRPC is then answered by net/http's server,
	// at several times the cost. Clients that a mount calls sharers are taken for
	// such in any case.
	Mixed bool
	// Extra answers patterns of http.ServeMux, beside health checks and REST.
	Extra map[string]http.Handler
	Log   *slog.Logger
}

// Stack is one protocol with how its messages travel. The first of those that
// take what names no protocol, takes it.
type Stack struct {
	Protocol protocol.Mounter
	Options  protocol.Options
}

// DefaultLimits suit clients anywhere, with a proxy before the port or without.
var DefaultLimits = protocol.Limits{
	HeaderTimeout: 10 * time.Second,
	IdleTimeout:   5 * time.Minute,
	HeaderBytes:   64 << 10,
	Streams:       250,
}

// CutError says that calls were still in flight when the grace was over.
type CutError struct {
	Calls int
	Grace time.Duration
}

func (e *CutError) Error() string {
	return fmt.Sprintf("calls still in flight after the grace of %v, and cut: %d", e.Grace, e.Calls)
}

// Serve answers on l until ctx ends; then it says so to health checks, ends
// streams of replies, lets other calls finish within the grace and cuts those
// that do not. It closes l.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	p, err := newPort(l.Addr(), c)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	return p.serve(ctx, l)
}

// port is a Config at work.
type port struct {
	Config
	door   *door
	web    *http.Server
	native []protocol.Server
	ways   []*handover // to web, then to each of native
	ready  *readiness
	calls  *calls
}

func newPort(addr net.Addr, c Config) (*port, error) {
	p := &port{Config: c, calls: newCalls(c.Handler, c.Log)}
	p.door = &door{limits: c.Limits, tls: forHTTP2(c.TLS), native: make(map[string]*handover), inside: make(map[*conn]struct{})}
	if c.Conns > 0 {
		p.door.slots = make(chan struct{}, c.Conns)
	}
	p.door.web = newHandover(addr)
	p.ways = []*handover{p.door.web}
	var mounts []protocol.Mount
	for _, s := range c.Stacks {
		m, err := s.Protocol.Mount(c.Services, p.calls, s.Options, c.Limits)
		if err != nil {
			return nil, err
		}
		mounts = append(mounts, m)
		p.door.shares = append(p.door.shares, m.Sharers...)
		if m.Native == nil {
			continue
		}
		way := newHandover(addr)
		p.native, p.ways = append(p.native, m.Native), append(p.ways, way)
		for _, media := range m.Media {
			if !c.Mixed {
				p.door.native[media] = way
			}
		}
	}
	p.ready = newReadiness(c.Ready, p.native)
	handler, err := p.handler(mounts)
	if err != nil {
		return nil, err
	}
	p.web = webServer(handler, c)
	return p, nil
}

// forHTTP2 has clients choose their version of HTTP in the handshake.
func forHTTP2(c *tls.Config) *tls.Config {
	if c == nil {
		return nil
	}
	c = c.Clone()
	c.NextProtos = []string{"h2", "http/1.1"}
	c.MinVersion = max(c.MinVersion, tls.VersionTLS12)
	return c
}

func (p *port) serve(ctx context.Context, l net.Listener) error {
	open, shut := context.WithCancel(context.WithoutCancel(ctx))
	defer shut()
	var running sync.WaitGroup
	failed := make(chan error, len(p.ways)+2) // one for each that runs
	run := func(f func() error) {
		running.Go(func() {
			if err := f(); err != nil && !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	run(func() error { return p.web.Serve(p.ways[0]) })
	for i, s := range p.native {
		run(func() error { return s.Serve(p.ways[i+1]) })
	}
	p.ready.look(ctx)
	run(func() error { return p.ready.watch(open) })
	run(func() error { return p.door.open(open, l) })
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	p.ready.end()
	shut()
	err = errors.Join(err, p.end(context.WithoutCancel(ctx)))
	running.Wait()
	return err
}

// end lets calls finish within the grace, and cuts the others.
func (p *port) end(ctx context.Context) error {
	p.calls.endStreams()
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	var left atomic.Int64
	grace := time.AfterFunc(p.Grace, func() {
		left.Store(p.calls.inFlight.Load())
		cut()
	})
	defer grace.Stop()
	var ending sync.WaitGroup
	ending.Go(func() {
		if p.web.Shutdown(ctx) != nil {
			_ = p.web.Close() // its listener has nothing to close
		}
	})
	for _, s := range p.native {
		ending.Go(func() { s.Shutdown(ctx) })
	}
	ending.Wait()
	p.calls.wait()
	if n := left.Load(); n > 0 {
		return &CutError{int(n), p.Grace}
	}
	return nil
}
