package capnp

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"capnproto.org/go/capnp/v3"
	capnprpc "capnproto.org/go/capnp/v3/rpc"
	"capnproto.org/go/capnp/v3/rpc/transport"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Dial readies a client; it connects when calls need connections.
func (Protocol) Dial(_ context.Context, addr string, svc *rpc.Service, o protocol.Options) (protocol.Conn, error) {
	s, err := bind(svc, o)
	if err != nil {
		return nil, err
	}
	c := &client{
		service: s, addr: addr, dial: o.DialContext,
		methods: make(map[*rpc.Method]*method), lines: make([]line, o.SharedConns(callsPerConn)),
	}
	if c.dial == nil {
		c.dial = new(net.Dialer).DialContext
	}
	for i := range c.lines {
		c.lines[i].turn = make(chan struct{}, 1)
	}
	for _, m := range s.methods {
		c.methods[m.Method] = m
	}
	return c, nil
}

// client has calls take turns on its connections, of which each carries many.
type client struct {
	*service
	methods map[*rpc.Method]*method
	addr    string
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
	lines   []line
	next    atomic.Uint64
}

// line is the place of one connection. Who holds the turn may change it.
type line struct {
	turn    chan struct{}
	conn    *capnprpc.Conn
	service capnp.Client
	closed  bool
}

var errClosed = errors.New("the client is closed")

// take gives the line's service, connected.
func (l *line) take(ctx context.Context, c *client) (capnp.Client, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return capnp.Client{}, ctx.Err()
	}
	defer func() { <-l.turn }()
	if l.closed {
		return capnp.Client{}, errClosed
	}
	if l.conn != nil {
		select {
		case <-l.conn.Done():
			l.drop()
		default:
			return l.service.AddRef(), nil
		}
	}
	conn, err := c.dial(ctx, "tcp", c.addr)
	if err != nil {
		return capnp.Client{}, err
	}
	l.conn = capnprpc.NewConn(transport.New(newStream(conn, c.maxMessage)), nil)
	l.service = l.conn.Bootstrap(context.WithoutCancel(ctx)) // for other calls too
	return l.service.AddRef(), nil
}

func (l *line) drop() {
	if l.conn != nil {
		l.service.Release()
		_ = l.conn.Close() // the peer may have done so
		l.conn = nil
	}
}

func (c *client) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	bound, ok := c.methods[m]
	if !ok {
		return rpc.Errorf(rpc.Unimplemented, "call %s: not a method of the service dialled", m.Path())
	}
	if ctx.Err() != nil {
		return rpc.TransportError(ctx, ctx.Err())
	}
	l := &c.lines[c.next.Add(1)%uint64(len(c.lines))]
	if m.Kind.StreamsIn() {
		to, err := l.take(ctx, c)
		if err != nil {
			return rpc.TransportError(ctx, err)
		}
		defer to.Release()
		return c.collect(ctx, to, bound, s)
	}
	in, err := s.Recv()
	if errors.Is(err, io.EOF) {
		return rpc.Errorf(rpc.Internal, "call %s: no request to send", m.Path())
	}
	if err != nil {
		return err
	}
	to, err := l.take(ctx, c)
	if err != nil {
		return rpc.TransportError(ctx, err)
	}
	defer to.Release()
	if m.Kind.StreamsOut() {
		return c.expand(ctx, to, bound, s, in)
	}
	out, err := c.call(ctx, to, bound, in)
	if err != nil {
		return err
	}
	return s.Send(out)
}

func (c *client) call(ctx context.Context, to capnp.Client, m *method, in any) (any, error) {
	var unsent error
	answer, release := to.SendCall(ctx, capnp.Send{
		Method: m.number, ArgsSize: m.in.Room(),
		PlaceArgs: func(args capnp.Struct) error {
			unsent = m.in.Put(args, in)
			return unsent
		},
	})
	out, release, err := await(ctx, answer, release)
	defer release()
	switch {
	case unsent != nil:
		return nil, unsendable(m.In, unsent)
	case err != nil:
		return nil, exception(ctx, err, m)
	}
	return c.outcome(m, result(out))
}

// await gives what a call is answered with, until release is called, or ends
// with ctx, where the library would still wait for the message to be sent.
func await(ctx context.Context, answer *capnp.Answer, release func()) (capnp.Struct, func(), error) {
	select {
	case <-answer.Done():
		out, err := answer.Struct()
		return out, release, err
	case <-ctx.Done():
		go release() // waits until the call is dropped
		return capnp.Struct{}, func() {}, ctx.Err()
	}
}

var errNoResult = errors.New("it is neither a reply nor a failure")

// outcome gives the reply that a result holds, or the failure.
func (c *client) outcome(m *method, r result) (any, error) {
	if r.HasFailure() {
		f, err := r.Failure()
		if err != nil {
			return nil, unreadable(err)
		}
		return nil, takeFailure(f)
	}
	if !r.HasReply() {
		return nil, unreadable(errNoResult)
	}
	p, err := capnp.Struct(r).Ptr(0)
	if err != nil {
		return nil, unreadable(err)
	}
	out, size, err := m.out.Take(p.Struct())
	switch {
	case err != nil:
		return nil, unreadable(err)
	case size > c.maxMessage:
		return nil, protocol.TooLong(c.maxMessage)
	}
	return out, nil
}

// Close closes the connections, and ends the calls on them.
func (c *client) Close() error {
	var all sync.WaitGroup
	for i := range c.lines {
		l := &c.lines[i]
		all.Go(func() {
			l.turn <- struct{}{}
			l.closed = true
			l.drop()
			<-l.turn
		})
	}
	all.Wait()
	return nil
}
