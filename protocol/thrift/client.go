package thrift

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Dial readies a client; it connects when calls need connections.
func (Protocol) Dial(_ context.Context, addr string, svc *rpc.Service, o protocol.Options) (protocol.Conn, error) {
	s, err := bind(svc, o)
	if err != nil {
		return nil, err
	}
	c := &client{service: s, addr: addr, dial: o.DialContext, room: make(chan struct{}, o.Conns()), methods: map[*rpc.Method]*method{}}
	if c.dial == nil {
		c.dial = new(net.Dialer).DialContext
	}
	for _, m := range s.methods {
		c.methods[m.Method] = m
	}
	return c, nil
}

// client keeps connections, of which each carries one call at a time. A call
// that finds none free waits for one.
type client struct {
	*service
	methods map[*rpc.Method]*method
	addr    string
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	room    chan struct{} // holds an entry for each call that has a connection

	mu     sync.Mutex
	idle   []*socket // the one used last at the end, so that few are kept busy
	closed bool
}

// socket is one connection of a client.
type socket struct {
	frames
	number int32
	// bounded says that the connection has a deadline, which lasts beyond a call.
	bounded bool
	abort   func() // ends what waits for the peer
}

func (c *client) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	bound, ok := c.methods[m]
	if !ok {
		if err := carries(m.Kind, nil); err != nil {
			return rpc.Errorf(rpc.Unimplemented, "call %s: %v", m.Path(), err)
		}
		return rpc.Errorf(rpc.Unimplemented, "call %s: not a method of the service dialled", m.Path())
	}
	in, err := s.Recv()
	if errors.Is(err, io.EOF) {
		return rpc.Errorf(rpc.Internal, "call %s: no request to send", m.Path())
	}
	if err != nil {
		return err
	}
	out, err := c.call(ctx, bound, in)
	if err != nil {
		return err
	}
	return s.Send(out)
}

// call makes one call on a connection of its own for as long as it lasts.
func (c *client) call(ctx context.Context, m *method, in any) (any, error) {
	select {
	case c.room <- struct{}{}:
	case <-ctx.Done():
		return nil, rpc.TransportError(ctx, ctx.Err())
	}
	defer func() { <-c.room }()
	if ctx.Err() != nil {
		return nil, rpc.TransportError(ctx, ctx.Err())
	}
	k, err := c.take(ctx)
	if err != nil {
		return nil, rpc.TransportError(ctx, err)
	}
	buf := newBuffer()
	defer buf.free()
	h := heading{m.Name, apache.CALL, k.next()}
	buf.b, err = c.envelope.appendMessage(buf.b, h, "request", requestField, m.in, m.in.Native(in))
	if err != nil {
		c.give(k)
		return nil, rpc.Errorf(rpc.Internal, "encode %s: %v", m.In.Name, err)
	}
	rest, answered, err := c.exchange(ctx, k, buf, h)
	if err != nil {
		_ = k.conn.Close() // what comes on it next is unknown
		return nil, err
	}
	c.give(k)
	return c.outcome(rest, answered, m)
}

// exchange sends the frame in buf and reads the one that answers it, up to its
// heading. On an error the connection is at no boundary of frames.
func (c *client) exchange(ctx context.Context, k *socket, buf *buffer, sent heading) ([]byte, heading, error) {
	var none heading
	deadline, ok := ctx.Deadline()
	if ok || k.bounded {
		if err := k.conn.SetDeadline(deadline); err != nil { // the zero time is none
			return nil, none, c.broken(ctx, err)
		}
		k.bounded = ok
	}
	over := context.AfterFunc(ctx, k.abort)
	defer over()
	if _, err := k.conn.Write(buf.b); err != nil {
		return nil, none, c.broken(ctx, err)
	}
	n, err := k.length()
	if err != nil {
		return nil, none, c.broken(ctx, err)
	}
	if n > c.maxMessage+longestFailure {
		return nil, none, protocol.TooLong(c.maxMessage)
	}
	if buf.b, err = k.read(buf.b[:0], n); err != nil {
		return nil, none, c.broken(ctx, err)
	}
	if !over() { // and may end the next call on this connection
		return nil, none, rpc.TransportError(ctx, ctx.Err())
	}
	h, rest, err := c.envelope.read(buf.b)
	if err != nil {
		return nil, none, unreadable(err)
	}
	if h.number != sent.number || h.name != sent.name {
		return nil, none, unreadable(errOtherReply)
	}
	return rest, h, nil
}

// outcome gives the reply that stands behind a heading, or the failure.
func (c *client) outcome(rest []byte, h heading, m *method) (any, error) {
	if h.kind == apache.EXCEPTION {
		failed, err := c.envelope.readException(rest)
		if err != nil {
			return nil, unreadable(err)
		}
		return nil, failed
	}
	field, from, err := c.envelope.find(rest)
	switch {
	case err != nil:
		return nil, unreadable(err)
	case field == failureField:
		failed, err := c.envelope.readFailure(from)
		if err != nil {
			return nil, unreadable(err)
		}
		return nil, failed
	case field != successField:
		return nil, unreadable(errNoField)
	case len(from)-1 > c.maxMessage:
		return nil, protocol.TooLong(c.maxMessage)
	}
	native, err := c.envelope.parse(from, m.out)
	if err != nil {
		return nil, unreadable(err)
	}
	return m.out.Plain(native), nil
}

// broken is the error of a call whose connection failed. Where the peer has
// ended it, it has ended those that wait too: each would cost one more call.
func (c *client) broken(ctx context.Context, err error) error {
	failed := rpc.TransportError(ctx, err)
	if failed.Transport == rpc.Reset {
		c.drop()
	}
	return failed
}

var errClosed = errors.New("the client is closed")

// take gives a connection that is idle, or a new one.
func (c *client) take(ctx context.Context) (*socket, error) {
	c.mu.Lock()
	closed := c.closed
	if last := len(c.idle) - 1; last >= 0 {
		k := c.idle[last]
		c.idle = c.idle[:last]
		c.mu.Unlock()
		return k, nil
	}
	c.mu.Unlock()
	if closed {
		return nil, errClosed
	}
	conn, err := c.dial(ctx, "tcp", c.addr)
	if err != nil {
		return nil, err
	}
	k := &socket{frames: frames{conn: conn, in: bufio.NewReader(conn), patient: true}}
	k.abort = func() { _ = conn.SetDeadline(time.Unix(1, 0)) } // fails for a connection that is closed
	return k, nil
}

// give keeps a connection for the next call.
func (c *client) give(k *socket) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = k.conn.Close()
		return
	}
	c.idle = append(c.idle, k)
}

// drop closes the connections that are idle.
func (c *client) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range c.idle {
		_ = k.conn.Close() // its peer has done so
	}
	c.idle = nil
}

// Close closes the connections; those with a call close when it has ended.
func (c *client) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.drop()
	return nil
}

func (k *socket) next() int32 {
	k.number++ // wraps, as Apache's does
	return k.number
}
