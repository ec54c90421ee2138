package capnp

import (
	"context"
	"io"
	"sync"

	"capnproto.org/go/capnp/v3"
	dispatch "capnproto.org/go/capnp/v3/server"

	"github.com/tare-bench/tare/rpc"
)

// outgoing sends replies by a capability of the caller's.
type outgoing struct {
	method *method
	to     capnp.Client
}

func newOutgoing(m *method, from capnp.Struct, i uint16) (outgoing, error) {
	p, err := from.Ptr(i)
	if err != nil {
		return outgoing{}, rpc.Errorf(rpc.InvalidArgument, "read where replies go: %v", err)
	}
	to := p.Interface().Client()
	if !to.IsValid() {
		return outgoing{}, rpc.Errorf(rpc.InvalidArgument, "the call does not say where replies go")
	}
	to = to.AddRef() // the call's own ends with it
	to.SetFlowLimiter(newWindow())
	return outgoing{m, to}, nil
}

func (o outgoing) send(ctx context.Context, out any) error {
	return push(ctx, o.to, o.method.replies, o.method.Out, o.method.out, out)
}

// end waits until all replies are taken, or ctx ends. It does not wait for the
// library then, which waits for the handler before it closes a connection, and
// only then drops what was not sent.
func (o outgoing) end(ctx context.Context) error {
	taken := make(chan error, 1)
	go func() {
		defer o.to.Release()
		taken <- o.to.WaitStreaming()
	}()
	select {
	case err := <-taken:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// expand answers a call whose replies stream.
func (s *server) expand(ctx context.Context, m *method, c *dispatch.Call) error {
	err := s.refusal(m)
	if err == nil {
		err = s.expandTo(ctx, m, c.Args())
	}
	return putEnd(c, err)
}

// putEnd answers with a failure or nothing.
func putEnd(c *dispatch.Call, failed error) error {
	out, err := c.AllocResults(onePointer)
	if err != nil || failed == nil {
		return err
	}
	f, err := newFailure(out.Segment(), failed)
	if err != nil {
		return err
	}
	return out.SetPtr(0, f.ToPtr())
}

func (s *server) expandTo(ctx context.Context, m *method, args capnp.Struct) error {
	to, err := newOutgoing(m, args, 1)
	if err != nil {
		return err
	}
	p, err := args.Ptr(0)
	if err != nil {
		_ = to.end(ctx) // nothing was sent
		return rpc.Errorf(rpc.InvalidArgument, "parse %s: %v", m.In.Name, err)
	}
	call := &streamed{ctx: ctx, incoming: incoming{service: s.service, method: m, args: p.Struct()}, to: to}
	failed := s.handler.Handle(ctx, m.Method, call)
	if err := to.end(ctx); failed == nil {
		return err
	}
	return failed
}

// streamed is a call with one request and many replies, as its handler sees it.
type streamed struct {
	incoming
	ctx context.Context
	to  outgoing
}

func (c *streamed) Send(out any) error { return c.to.send(c.ctx, out) }

// session is a call whose requests stream: the capability that takes them, and
// the call as its handler sees it.
type session struct {
	*server
	method *method
	ctx    context.Context
	leave  context.CancelFunc
	settle func() // tells that the caller waits for nothing more

	requests chan request
	whole    sync.Once // closes requests
	ended    bool      // of the capability: no more is taken

	to      outgoing // of a bidirectional stream
	reply   any
	replies int
	failed  error
	done    chan struct{} // closed: the handler has ended
}

// request is what a caller sent, or why it cannot be read.
type request struct {
	in  any
	err error
}

// collect begins a call whose requests stream, and gives the capability that
// takes them.
func (s *server) collect(conn context.Context, over *stream, m *method, c *dispatch.Call) error {
	call := &session{server: s, method: m, requests: make(chan request), done: make(chan struct{}), settle: sync.OnceFunc(over.hold())}
	call.ctx, call.leave = context.WithCancel(conn)
	var err error
	if call.failed = s.refusal(m); call.failed == nil && m.Kind == rpc.Bidi {
		call.to, call.failed = newOutgoing(m, c.Args(), 0)
	}
	if call.failed != nil {
		close(call.done)
	} else {
		s.running.Go(call.handle)
	}
	out, err := c.AllocResults(onePointer)
	if err != nil {
		call.Shutdown()
		return err
	}
	return putClient(out, 0, capnp.NewClient(dispatch.New([]dispatch.Method{
		{Method: m.requests, Impl: call.take}, {Method: m.end, Impl: call.end},
	}, nil, call)))
}

func (c *session) handle() {
	defer close(c.done)
	c.failed = c.handler.Handle(c.ctx, c.method.Method, c)
	if c.method.Kind == rpc.Bidi {
		if err := c.to.end(c.ctx); c.failed == nil {
			c.failed = err
		}
	} else if c.failed == nil && c.replies != 1 {
		c.failed = rpc.Errorf(rpc.Internal, "%s gave %d replies to a call that has one", c.method.Path(), c.replies)
	}
}

// Shutdown ends the call: the caller has released the capability.
func (c *session) Shutdown() {
	c.leave()
	c.settle()
}

// take takes one request, once the handler asks for it.
func (c *session) take(ctx context.Context, call *dispatch.Call) error {
	if c.ended {
		return errOver
	}
	in, err := c.request(c.method, call.Args())
	select {
	case c.requests <- request{in, err}:
		return nil
	case <-c.done:
		return errOver
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end answers the call: there are no more requests.
func (c *session) end(ctx context.Context, call *dispatch.Call) error {
	c.ended = true
	c.whole.Do(func() { close(c.requests) })
	select {
	case <-c.done:
	case <-ctx.Done():
		c.leave()
		<-c.done
	}
	defer c.settle()
	if c.method.Kind == rpc.Bidi {
		return putEnd(call, c.failed)
	}
	out, err := call.AllocResults(resultSize)
	if err != nil {
		return err
	}
	failed := c.failed
	if failed == nil {
		failed = c.method.putReply(out, c.reply)
	}
	if failed == nil {
		return nil
	}
	return putFailure(result(out), failed)
}

// Recv implements rpc.Stream.
func (c *session) Recv() (any, error) {
	select {
	case r, ok := <-c.requests:
		if !ok {
			return nil, io.EOF
		}
		return r.in, r.err
	case <-c.ctx.Done():
		return nil, c.ctx.Err()
	}
}

// Send implements rpc.Stream.
func (c *session) Send(out any) error {
	if c.method.Kind == rpc.Bidi {
		return c.to.send(c.ctx, out)
	}
	c.reply = out
	c.replies++
	return nil
}
