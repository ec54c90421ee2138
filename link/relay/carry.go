package relay

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/tare-bench/tare/link"
)

// carry hands the bytes of one connection on, both ways, until both sides have
// ended, one is reset or ctx ends. Its caller thinks that it is connected at once:
// what it says meanwhile enters the link when a handshake would have ended, and
// the server sees the connection when the handshake's last packet would come.
func (r *relay) carry(ctx context.Context, near *net.TCPConn, addr string) {
	opened := r.clock.Now() + r.spec.RoundTrip
	ctx, end := context.WithCancel(ctx)
	defer end()
	breakNear := context.AfterFunc(ctx, func() { reset(near) })
	var parts sync.WaitGroup
	defer parts.Wait()
	toward := r.half(0, near)
	parts.Go(func() {
		r.clock.WaitUntil(ctx, opened)
		toward.take(ctx)
	})
	r.clock.WaitUntil(ctx, opened+r.spec.OneWay())
	c, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil { // a server that is gone
		toward.held.close()
		end()
		return
	}
	far := c.(*net.TCPConn)
	breakFar := context.AfterFunc(ctx, func() { reset(far) })
	back := r.half(1, far)
	parts.Go(func() { back.take(ctx) })
	parts.Go(func() { toward.hand(ctx, far, end) })
	parts.Go(func() { back.hand(ctx, near, end) })
	parts.Wait()
	if breakNear() && breakFar() { // both have ended in order, and close so
		_, _ = near.Close(), far.Close()
	}
}

// reset ends a connection so that its other end sees it broken.
func reset(c *net.TCPConn) {
	_ = c.SetLinger(0) // either fails only where it is closed
	_ = c.Close()
}

// half is one direction of a connection.
type half struct {
	*relay
	way  *way
	from *net.TCPConn
	held *queue
}

func (r *relay) half(direction int, from *net.TCPConn) *half {
	return &half{relay: r, way: r.ways[direction], from: from, held: newQueue()}
}

// mostRead bounds what is taken from a connection at one time: so much that
// reading is cheap, and no more than the link carries in a millisecond, so that
// others' bytes need not wait long.
const (
	mostRead  = 16 << 10
	leastRead = link.Packet
)

func (s *half) mostRead() int {
	if s.spec.Rate == 0 {
		return mostRead
	}
	const thousandth = 8 * 1000
	return int(min(mostRead, max(leastRead, s.spec.Rate/thousandth)))
}

// take reads until the end, and says of each piece when it is due.
func (s *half) take(ctx context.Context) {
	b := make([]byte, s.mostRead())
	for {
		n, err := s.from.Read(b)
		if n > 0 {
			s.bytes.Add(int64(n))
			if !s.held.push(piece{bytes: slices.Clone(b[:n]), due: s.enter(ctx, n)}) {
				return
			}
		}
		if err != nil {
			s.held.push(piece{end: err, due: s.enter(ctx, 0)})
			return
		}
	}
}

// enter says when n bytes arrive, once the link has room for more.
func (s *half) enter(ctx context.Context, n int) time.Duration {
	s.way.mu.Lock()
	now := s.clock.Now()
	due, room := s.way.Send(n, now), s.way.Room()
	s.way.mu.Unlock()
	if room > now {
		s.clock.WaitUntil(ctx, room)
	}
	return due
}

// hand writes each piece to the other side when it is due, up to the end. It
// breaks the connection where the end is not one that both sides know.
func (s *half) hand(ctx context.Context, to *net.TCPConn, breakOff func()) {
	defer s.held.close()
	for {
		p, ok := s.held.pop()
		if !ok {
			breakOff()
			return
		}
		s.clock.WaitUntil(ctx, p.due)
		var err error
		switch {
		case p.end == nil:
			_, err = to.Write(p.bytes)
		case errors.Is(p.end, io.EOF):
			_ = to.CloseWrite() // fails where it has closed its side too
			return
		default:
			err = p.end
		}
		if err != nil {
			breakOff()
			return
		}
	}
}
