package connect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// headerTimeout bounds how long a client may take over a request's header, as
// any server that faces others must.
const headerTimeout = 30 * time.Second

// Serve answers calls of svc. A handler of connect speaks Connect and gRPC-Web
// alike: which it is, the client says.
func (p Protocol) Serve(ctx context.Context, l net.Listener, svc *rpc.Service, h rpc.Handler, o protocol.Options) error {
	defer func() { _ = l.Close() }() // closed already, where it has served
	handlers, err := handlersOf(svc, h, o)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	for path, handler := range handlers {
		mux.Handle(path, handler)
	}
	server := &http.Server{
		Handler:           mux,
		Protocols:         protocols(o),
		ReadHeaderTimeout: headerTimeout,
		// With the default, calls beyond it would wait for the one connection
		// that their client was told to keep.
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: max(streamsPerConn, o.InFlight)},
	}
	ended := make(chan error, 1)
	unhook := context.AfterFunc(ctx, func() { ended <- server.Shutdown(context.WithoutCancel(ctx)) })
	err = server.Serve(l)
	if unhook() {
		return fmt.Errorf("serve %s: %w", p.name, errors.Join(err, server.Close()))
	}
	return <-ended
}

// handlersOf gives what answers the methods of svc, by path.
func handlersOf(svc *rpc.Service, h rpc.Handler, o protocol.Options) (map[string]http.Handler, error) {
	all := make(map[string]http.Handler, len(svc.Methods))
	for _, declared := range svc.Methods {
		m, err := bindMethod(declared, o)
		if err != nil {
			return nil, err
		}
		all[m.path] = m.handler(h, o)
	}
	return all, nil
}

func (m *method) handler(h rpc.Handler, o protocol.Options) http.Handler {
	subtype := o.Codec.Spec().Subtype
	options := append(handlerCompression(o),
		connect.WithCodec(&wire{name: subtype, sends: m.out, receives: m.in}),
		// A content type with this parameter is one of its own to connect, which
		// has a codec for JSON's that knows generated messages alone.
		connect.WithCodec(&wire{name: subtype + "; charset=utf-8", sends: m.out, receives: m.in}),
		connect.WithReadMaxBytes(o.MaxMessage), connect.WithSendMaxBytes(o.MaxMessage))
	switch m.Kind {
	case rpc.Unary:
		failures := connect.NewErrorWriter(options...)
		answer := bounded{connect.NewUnaryHandler(m.path, m.answerOne(h), options...), failures, o.MaxMessage}
		if r, ok := h.(rpc.Refuser); ok {
			return m.unlessRefused(r, answer, failures)
		}
		return answer
	case rpc.ServerStream:
		return connect.NewServerStreamHandler(m.path, m.answerMany(h), options...)
	case rpc.ClientStream:
		return connect.NewClientStreamHandler(m.path, m.answerLast(h), options...)
	default:
		return connect.NewBidiStreamHandler(m.path, m.converseWith(h), options...)
	}
}

// unlessRefused asks r before connect reads anything of a request; connect takes
// a body whole that is long, or as long as it will be, before r is asked again.
func (m *method) unlessRefused(r rpc.Refuser, answer http.Handler, failures *connect.ErrorWriter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var err error
		if protocol.MayStayUnread(q) {
			err = r.Refuse(m.Method)
		}
		if err == nil {
			answer.ServeHTTP(w, q)
			return
		}
		if wait := rpc.ErrorOf(err).RetryAfter; wait > 0 && failures.IsSupported(q) {
			w.Header().Set(protocol.RetryAfterField, protocol.FormatRetryAfter(wait))
		}
		_ = failures.Write(w, q, sendable(err)) // the caller is gone
	})
}

// bounded refuses requests that say to be too long with what every protocol says
// of that: connect, which reads them before it calls anybody, has words of its own.
type bounded struct {
	http.Handler
	refuse  *connect.ErrorWriter
	longest int
}

func (b bounded) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength <= int64(b.longest)+prefixLen || !b.refuse.IsSupported(r) {
		b.Handler.ServeHTTP(w, r)
		return
	}
	// A connection that is closed with bytes unread is reset, and the answer lost:
	// net/http keeps it half open once a MaxBytesReader has met its limit.
	_, _ = http.MaxBytesReader(w, r.Body, 0).Read(make([]byte, 1))
	_ = b.refuse.Write(w, r, sendable(protocol.TooLong(b.longest))) // the caller is gone
}

func (m *method) answerOne(h rpc.Handler) func(context.Context, *connect.Request[unaryCall]) (*connect.Response[message], error) {
	return func(ctx context.Context, r *connect.Request[unaryCall]) (*connect.Response[message], error) {
		if !m.fields.None() {
			var err error
			if ctx, err = m.fields.FromHeader(ctx, r.Header()); err != nil {
				return nil, sendable(err)
			}
		}
		c := r.Msg
		c.method = m
		if err := h.Handle(ctx, m.Method, c); err != nil {
			return nil, wholeAnswer(err, r.Peer())
		}
		if err := m.checkReplies(c.replies); err != nil {
			return nil, err
		}
		c.response.Msg = &c.reply
		return &c.response, nil
	}
}

func (m *method) answerMany(h rpc.Handler) func(context.Context, *connect.Request[message], *connect.ServerStream[message]) error {
	return func(ctx context.Context, r *connect.Request[message], s *connect.ServerStream[message]) error {
		return m.handle(ctx, h, &streamCall{method: m, conn: s.Conn(), in: *r.Msg, ready: true}, s.Conn())
	}
}

func (m *method) answerLast(h rpc.Handler) func(context.Context, *connect.ClientStream[message]) (*connect.Response[message], error) {
	return func(ctx context.Context, s *connect.ClientStream[message]) (*connect.Response[message], error) {
		c := &collectCall{streamCall: streamCall{method: m, conn: s.Conn()}}
		if err := m.handle(ctx, h, c, s.Conn()); err != nil {
			return nil, err
		}
		if err := m.checkReplies(c.replies); err != nil {
			return nil, err
		}
		return connect.NewResponse(&c.out), nil
	}
}

func (m *method) converseWith(h rpc.Handler) func(context.Context, *connect.BidiStream[message, message]) error {
	return func(ctx context.Context, s *connect.BidiStream[message, message]) error {
		return m.handle(ctx, h, &streamCall{method: m, conn: s.Conn()}, s.Conn())
	}
}

// handle has a call answered whose fields stand in the header of conn.
func (m *method) handle(ctx context.Context, h rpc.Handler, s rpc.Stream, conn connect.StreamingHandlerConn) error {
	if !m.fields.None() {
		var err error
		if ctx, err = m.fields.FromHeader(ctx, conn.RequestHeader()); err != nil {
			return sendable(err)
		}
	}
	if err := h.Handle(ctx, m.Method, s); err != nil {
		return sendable(err)
	}
	return nil
}

func (m *method) checkReplies(n int) error {
	if n == 1 {
		return nil
	}
	return sendable(rpc.Errorf(rpc.Internal, "%s gave %d replies to a %s call", m.path, n, m.Kind))
}

func unparsable(err error) error {
	return rpc.Errorf(rpc.InvalidArgument, "parse request: %v", err)
}

// unaryCall is a unary call as connect and its handler hold it: connect parses
// into it, and what is sent back is inside it, so that all of the adapter's
// state is in the place that connect allocates for a request.
type unaryCall struct {
	method   *method
	request  message
	reply    message
	response connect.Response[message]
	taken    bool
	replies  int
}

func (c *unaryCall) Recv() (any, error) {
	if c.taken {
		return nil, io.EOF
	}
	c.taken = true
	plain, err := c.request.take(c.method.in)
	if err != nil {
		return nil, unparsable(err)
	}
	return plain, nil
}

func (c *unaryCall) Send(plain any) error {
	c.reply.native = c.method.out.Native(plain)
	c.replies++
	return nil
}

// streamCall is a call of the other kinds as its handler holds it.
type streamCall struct {
	method  *method
	conn    connect.StreamingHandlerConn
	in, out message // one each, since Recv may run beside Send
	ready   bool    // in holds a request already
	taken   bool    // no other will come
}

func (c *streamCall) Recv() (any, error) {
	if c.taken {
		return nil, io.EOF
	}
	if !c.ready {
		err := c.conn.Receive(&c.in)
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
		if err != nil {
			return nil, answerOf(err)
		}
	}
	c.ready = false
	c.taken = !c.method.Kind.StreamsIn()
	plain, err := c.in.take(c.method.in)
	if err != nil {
		return nil, unparsable(err)
	}
	return plain, nil
}

func (c *streamCall) Send(plain any) error {
	c.out.native = c.method.out.Native(plain)
	if err := c.conn.Send(&c.out); err != nil {
		return answerOf(err)
	}
	return nil
}

// collectCall is a streamCall whose one reply connect sends at its end.
type collectCall struct {
	streamCall
	replies int
}

func (c *collectCall) Send(plain any) error {
	c.out.native = c.method.out.Native(plain)
	c.replies++
	return nil
}
