// Package relay is a link that carries the bytes of TCP connections, without
// privileges: a caller connects to the relay, which connects to the server and
// hands bytes on when the link would have. All connections share the link's rate,
// as on a wire.
//
// It has no packets: nothing is lost, headers count for nothing, and TCP, which
// meets the loopback on both sides, neither starts slowly nor backs off. A
// connection's first bytes wait for the round trip that a handshake takes.
package relay

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/record"
)

// here is where both sides are: an address and not a name, which may be two.
const here = "127.0.0.1:0"

// relay is a link.Network.
type relay struct {
	spec  link.Spec
	clock load.Clock
	ways  [2]*way // toward the server, and back
	bytes atomic.Int64
	spent time.Duration // CPU of this process before the link stood

	ctx  context.Context // until Close
	stop context.CancelFunc
	open sync.WaitGroup // listeners and connections
}

// way is one direction, which all connections share.
type way struct {
	mu sync.Mutex
	*link.Way
}

// Open makes a relay. Equal seeds give equal jitter, as far as the same bytes
// come.
func Open(s link.Spec, seed uint64) (link.Network, error) {
	if !s.May(link.Relay) {
		return nil, fmt.Errorf("make link: a relay carries bytes and loses no packet: leave out the loss, or have by=%s", link.Tunnel)
	}
	r := &relay{spec: s, clock: load.Monotonic(), spent: spent()}
	for i := range r.ways {
		r.ways[i] = &way{Way: link.NewWay(s, 2*seed+uint64(i))}
	}
	r.ctx, r.stop = context.WithCancel(context.Background())
	return r, nil
}

// Start has nothing to do: both sides are the same machine.
func (r *relay) Start(start func() error) error { return start() }

func (r *relay) Listen() string { return here }

func (r *relay) Reach(ctx context.Context, addr string) (string, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil || !to.Addr().IsLoopback() {
		return "", fmt.Errorf("it listens at %s and cannot be reached across the link: asked was %s, any port", addr, here)
	}
	l, err := net.Listen("tcp", here)
	if err != nil {
		return "", fmt.Errorf("relay to %s: %w", addr, err)
	}
	ctx, end := context.WithCancel(ctx)
	unlink := context.AfterFunc(r.ctx, end)
	context.AfterFunc(ctx, func() { _ = l.Close() })
	r.open.Go(func() {
		defer unlink()
		defer end()
		r.accept(ctx, l.(*net.TCPListener), to.String())
	})
	return l.Addr().String(), nil
}

// accept carries each connection until the listener is closed.
func (r *relay) accept(ctx context.Context, l *net.TCPListener, addr string) {
	for {
		near, err := l.AcceptTCP()
		if err != nil {
			if ctx.Err() == nil && errors.Is(err, syscall.EMFILE) { // those that wait are taken when others end
				r.clock.WaitUntil(ctx, r.clock.Now()+time.Millisecond)
				continue
			}
			return
		}
		r.open.Go(func() { r.carry(ctx, near, addr) })
	}
}

func (r *relay) Used() record.LinkUsed {
	now := r.clock.Now()
	return record.LinkUsed{Seconds: now.Seconds(), CPUS: (spent() - r.spent).Seconds(), Bytes: r.bytes.Load()}
}

func (r *relay) Close() error {
	r.stop()
	r.open.Wait()
	return nil
}

// spent is the processor time of this process.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0 // it cannot fail for this process
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
