package rest

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
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
	mux, err := newMux([]*rpc.Service{svc}, h, o)
	if err != nil {
		return err
	}
	srv := &http.Server{
		Handler: mux, Protocols: protocols(o.Settings), ReadHeaderTimeout: headerTimeout,
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

func newMux(svcs []*rpc.Service, h rpc.Handler, o protocol.Options) (*http.ServeMux, error) {
	var endpoints []*endpoint
	for _, svc := range svcs {
		bound, err := bind(svc, o)
		if err != nil {
			return nil, err
		}
		endpoints = append(endpoints, bound...)
	}
	mux := http.NewServeMux()
	verbs := make(map[string][]string)
	for _, e := range endpoints {
		if slices.Contains(verbs[e.path], e.verb) {
			return nil, fmt.Errorf("route %s %s stands twice, the second time as that of %s", e.verb, e.path, e.method.Path())
		}
		s := &server{endpoint: e, handler: h, contentType: []string{e.media}}
		if e.method.Kind == rpc.Unary {
			mux.HandleFunc(e.verb+" "+e.path, s.unary)
		} else {
			mux.HandleFunc(e.verb+" "+e.path, s.streaming)
		}
		verbs[e.path] = append(verbs[e.path], e.verb)
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if allowed := verbs[r.URL.Path]; allowed != nil {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			answerFailure(w, refusal{rpc.Errorf(rpc.Unimplemented, "%s takes %s", r.URL.Path, strings.Join(allowed, ", ")), http.StatusMethodNotAllowed})
			return
		}
		answerFailure(w, rpc.Errorf(rpc.NotFound, "no route %s %s", r.Method, r.URL.Path))
	})
	return mux, nil
}

// server answers one endpoint.
type server struct {
	*endpoint
	handler     rpc.Handler
	contentType []string // shared by all answers: net/http only reads it
}

func (s *server) unary(w http.ResponseWriter, r *http.Request) {
	ctx, cancel, err := deadline(r)
	if err != nil {
		answerFailure(w, err)
		return
	}
	if cancel != nil {
		defer cancel()
	}
	buf := newBuffer()
	defer buf.free()
	in, err := s.read(buf, w, r)
	if err != nil {
		answerFailure(w, err)
		return
	}
	out, err := rpc.Invoke(ctx, s.handler, s.method, in)
	if err != nil {
		answerFailure(w, err)
		return
	}
	s.answer(w, r, buf, out)
}

// deadline gives the call's context. There is nothing to cancel where the
// caller set no deadline: net/http ends the request's own context.
func deadline(r *http.Request) (context.Context, context.CancelFunc, error) {
	v, ok := r.Header[timeoutField]
	if !ok {
		return r.Context(), nil, nil
	}
	d, ok := protocol.ParseTimeout(v[0])
	if !ok {
		return nil, nil, rpc.Errorf(rpc.InvalidArgument, "%s: %q is not a time-out", timeoutField, v[0])
	}
	ctx, cancel := context.WithTimeout(r.Context(), d)
	return ctx, cancel, nil
}

// read gives the request's message; buf is free for use afterwards.
func (s *server) read(buf *buffer, w http.ResponseWriter, r *http.Request) (any, error) {
	if err := wantMedia(r.Header, s.media); err != nil {
		return nil, err
	}
	packed, err := s.packed(r.Header)
	if err != nil {
		return nil, err
	}
	limit := s.maxMessage
	if packed {
		limit = packedLimit(limit)
	}
	if err := buf.fill(r.Body, r.ContentLength, limit); err != nil {
		if errors.Is(err, errTooLong) {
			linger(w, r)
		}
		return nil, s.unread(err)
	}
	src := buf.b
	if packed {
		plain := newBuffer()
		defer plain.free()
		if err := s.coding.unpack(plain, src, s.maxMessage); err != nil {
			return nil, s.unread(err)
		}
		src = plain.b
	}
	native, err := s.in.Parse(src)
	if err != nil {
		return nil, rpc.Errorf(rpc.InvalidArgument, "parse %s: %v", s.method.In.Name, err)
	}
	return s.in.Plain(native), nil
}

// linger lets the answer reach a caller that is still sending: a connection that
// is closed with bytes unread is reset, and the answer lost. net/http keeps it
// half open for a moment once a MaxBytesReader has met its limit.
func linger(w http.ResponseWriter, r *http.Request) {
	_, _ = http.MaxBytesReader(w, r.Body, 0).Read(make([]byte, 1))
}

// unread is why a body was not read.
func (s *server) unread(err error) error {
	if errors.Is(err, errTooLong) {
		return refusal{tooLong(s.maxMessage), http.StatusRequestEntityTooLarge}
	}
	return rpc.Errorf(rpc.InvalidArgument, "read body: %v", err)
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
