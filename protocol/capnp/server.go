package capnp

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"

	"capnproto.org/go/capnp/v3"
	capnprpc "capnproto.org/go/capnp/v3/rpc"
	"capnproto.org/go/capnp/v3/rpc/transport"
	dispatch "capnproto.org/go/capnp/v3/server"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Serve implements protocol.Protocol.
func (Protocol) Serve(ctx context.Context, l net.Listener, svc *rpc.Service, h rpc.Handler, o protocol.Options) error {
	defer func() { _ = l.Close() }() // closed already, where it has served
	bound, err := bind(svc, o)
	if err != nil {
		return err
	}
	// Calls outlive ctx, until they have ended.
	calls, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	bound.limitReplies()
	s := &server{service: bound, handler: h, calls: calls, ending: make(chan struct{}), cut: make(chan struct{})}
	unhook := context.AfterFunc(ctx, func() { _ = l.Close() })
	err = s.accept(ctx, l)
	if unhook() {
		err = fmt.Errorf("serve %s: %w", l.Addr(), err)
		cut()
		close(s.cut)
	} else {
		err = nil
		close(s.ending)
	}
	s.running.Wait()
	return err
}

// server answers calls on connections.
type server struct {
	*service
	handler rpc.Handler
	calls   context.Context
	ending  chan struct{} // closed: no more calls begin
	cut     chan struct{} // closed: connections end as they are
	running sync.WaitGroup
}

// accept serves connections until the listener fails, or ctx has closed it.
func (s *server) accept(ctx context.Context, l net.Listener) error {
	for {
		conn, err := protocol.Accept(ctx, l)
		if err != nil {
			return err
		}
		s.running.Go(func() { s.serve(conn) })
	}
}

// serve answers calls on one connection until it ends.
func (s *server) serve(conn net.Conn) {
	ctx, leave := context.WithCancel(s.calls)
	defer leave()
	over := newStream(conn, s.maxMessage)
	c := capnprpc.NewConn(transport.New(over), &capnprpc.Options{
		BootstrapClient: capnp.NewClient(s.dispatcher(ctx, over)),
		BaseContext:     func() context.Context { return ctx },
	})
	select {
	case <-c.Done():
	case <-s.cut:
	case <-s.ending:
		select {
		case <-over.answered():
		case <-c.Done():
		}
	}
	leave()       // or Close would wait for handlers that wait for it
	_ = c.Close() // the peer may have done so
	<-c.Done()
}

// dispatcher gives the capability that is the service, to the peer of one
// connection.
func (s *server) dispatcher(conn context.Context, over *stream) *dispatch.Server {
	all := make([]dispatch.Method, len(s.methods))
	for i, m := range s.methods {
		all[i] = dispatch.Method{Method: m.number, Impl: func(ctx context.Context, c *dispatch.Call) error {
			switch {
			case m.Kind.StreamsIn():
				return s.collect(conn, over, m, c)
			case m.Kind.StreamsOut():
				c.Go() // others need not wait for it
				return s.expand(ctx, m, c)
			}
			c.Go()
			return s.answer(ctx, m, c)
		}}
	}
	return dispatch.New(all, nil, nil)
}

// answer has the handler answer one call. Its error is an exception, and stands
// for a failure that has no room in a result.
func (s *server) answer(ctx context.Context, m *method, c *dispatch.Call) error {
	reply, err := s.handle(ctx, m, c)
	out, alloc := c.AllocResults(resultSize)
	if alloc != nil {
		return alloc
	}
	if err == nil {
		if err = m.putReply(out, reply); err == nil {
			return nil
		}
	}
	return putFailure(result(out), err)
}

func (m *method) putReply(out capnp.Struct, reply any) error {
	to, err := capnp.NewStruct(out.Segment(), m.out.Room())
	if err != nil {
		return err
	}
	if err := m.out.Put(to, reply); err != nil {
		return unsendable(m.Out, err)
	}
	return out.SetPtr(0, to.ToPtr())
}

func (s *server) handle(ctx context.Context, m *method, c *dispatch.Call) (any, error) {
	if err := s.refusal(m); err != nil {
		return nil, err
	}
	in := incoming{service: s.service, method: m, args: c.Args()}
	if err := s.handler.Handle(ctx, m.Method, &in); err != nil {
		return nil, err
	}
	if in.replies != 1 {
		return nil, rpc.Errorf(rpc.Internal, "%s gave %d replies to a unary call", m.Path(), in.replies)
	}
	return in.reply, nil
}

// refusal says why a call is not handed over, or nil.
func (s *server) refusal(m *method) error {
	select {
	case <-s.ending:
		return rpc.Errorf(rpc.Unavailable, "the server is ending")
	default:
		return rpc.Refusal(s.handler, m.Method)
	}
}

// incoming is a unary call as its handler sees it.
type incoming struct {
	*service
	method  *method
	args    capnp.Struct
	taken   bool
	reply   any
	replies int
}

func (c *incoming) Recv() (any, error) {
	if c.taken {
		return nil, io.EOF
	}
	c.taken = true
	return c.request(c.method, c.args)
}

// request reads a request.
func (s *service) request(m *method, from capnp.Struct) (any, error) {
	in, size, err := m.in.Take(from)
	switch {
	case err != nil:
		return nil, rpc.Errorf(rpc.InvalidArgument, "parse %s: %v", m.In.Name, err)
	case size > s.maxMessage:
		return nil, protocol.TooLong(s.maxMessage)
	}
	return in, nil
}

func (c *incoming) Send(out any) error {
	c.reply = out
	c.replies++
	return nil
}
