package rest

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// headerTimeout bounds how long a client may take over a request's header, as
// any server that faces others must.
const headerTimeout = 30 * time.Second

// Serve implements protocol.Protocol.
func (Protocol) Serve(ctx context.Context, l net.Listener, svc *rpc.Service, h rpc.Handler, o protocol.Options) error {
	defer func() { _ = l.Close() }() // Shutdown has closed it, where Serve began
	routes, err := newMux([]*rpc.Service{svc}, h, o)
	if err != nil {
		return err
	}
	srv := &http.Server{
		Handler: routes, Protocols: protocols(o.Settings), ReadHeaderTimeout: headerTimeout,
		// With the default, calls beyond it would wait for the one connection that
		// their client was told to keep.
		HTTP2: &http.HTTP2Config{MaxConcurrentStreams: max(streamsPerConn, o.InFlight)},
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", l.Addr(), errors.Join(err, srv.Close()))
	case <-ctx.Done():
	}
	err = srv.Shutdown(context.WithoutCancel(ctx))
	_ = <-served // http.ErrServerClosed, which Shutdown brings about
	return err
}

// server answers one endpoint.
type server struct {
	*endpoint
	handler     rpc.Handler
	contentType []string // shared by all answers: net/http only reads it
}

func (s *server) unary(w http.ResponseWriter, r *http.Request) {
	if protocol.MayStayUnread(r) { // else Handle refuses it, and leave sees to its body
		if err := rpc.Refusal(s.handler, s.method); err != nil {
			answerFailure(w, err)
			return
		}
	}
	ctx, cancel, err := s.begin(w, r)
	if err != nil {
		answerFailure(w, err)
		return
	}
	if cancel != nil {
		defer cancel()
	}
	buf := newBuffer()
	defer buf.free()
	c := &unaryCall{incoming: incoming{server: s, w: w, r: r, buf: buf}}
	if err = c.open(); err == nil {
		err = s.handler.Handle(ctx, s.method, c)
	}
	if err == nil {
		err = s.checkReplies(c.replies)
	}
	c.leave()
	if err != nil {
		answerFailure(w, err)
		return
	}
	s.answer(w, r, buf, c.reply)
}

func (s *server) checkReplies(n int) error {
	if n == 1 {
		return nil
	}
	return rpc.Errorf(rpc.Internal, "%s gave %d replies, want one", s.method.Path(), n)
}

// begin gives the call's context. There is nothing to cancel where the caller
// set no deadline: net/http ends the request's own context.
func (s *server) begin(w http.ResponseWriter, r *http.Request) (context.Context, context.CancelFunc, error) {
	if s.verb == http.MethodGet {
		w.Header()["Cache-Control"] = noStore
	}
	ctx := r.Context()
	if !s.fields.None() {
		var err error
		if ctx, err = s.fields.FromHeader(ctx, r.Header); err != nil {
			return nil, nil, err
		}
	}
	v, ok := r.Header[timeoutField]
	if !ok {
		return ctx, nil, nil
	}
	d, ok := protocol.ParseTimeout(v[0])
	if !ok {
		return nil, nil, rpc.Errorf(rpc.InvalidArgument, "%s: %q is not a time-out", timeoutField, v[0])
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	return ctx, cancel, nil
}

// answer writes a success. A body short enough for net/http's own buffer gets
// its length from net/http.
func (s *server) answer(w http.ResponseWriter, r *http.Request, buf *buffer, out any) {
	var err error
	buf.b, err = s.out.Append(buf.b[:0], s.out.Native(out))
	if err != nil {
		answerFailure(w, rpc.Errorf(rpc.Internal, "encode %s: %v", s.method.Out.Name, err))
		return
	}
	if len(buf.b) > s.maxMessage {
		answerFailure(w, refusal{protocol.TooLong(s.maxMessage), http.StatusRequestEntityTooLarge})
		return
	}
	h := w.Header()
	h["Content-Type"] = s.contentType
	body := buf.b
	if s.coding != nil && offered(r.Header.Get("Accept-Encoding"), s.coding.name) {
		packed := newBuffer()
		defer packed.free()
		if err := s.coding.pack(packed, body); err != nil {
			answerFailure(w, rpc.Errorf(rpc.Internal, "compress: %v", err))
			return
		}
		h.Set("Content-Encoding", s.coding.name)
		body = packed.b
	}
	const ownBuffer = 2048 // of net/http's server, before it sends a header
	if len(body) >= ownBuffer {
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	_, _ = w.Write(body) // the caller is gone; net/http closes the connection
}

// wantMedia refuses a body of another media type; one that says nothing is
// taken at its word.
func wantMedia(h http.Header, want string) error {
	got := h.Get("Content-Type")
	if got == "" || got == want {
		return nil
	}
	if base, _, err := mime.ParseMediaType(got); err == nil && base == want {
		return nil
	}
	return refusal{rpc.Errorf(rpc.InvalidArgument, "content type %q, want %q", got, want), http.StatusUnsupportedMediaType}
}

// packed says whether a body is compressed; another coding than the endpoint's
// is refused.
func (e *endpoint) packed(h http.Header) (bool, error) {
	switch got := h.Get("Content-Encoding"); {
	case got == "" || got == "identity":
		return false, nil
	case e.coding != nil && got == e.coding.name:
		return true, nil
	default:
		return false, refusal{rpc.Errorf(rpc.InvalidArgument, "content coding %q is not taken", got), http.StatusUnsupportedMediaType}
	}
}
