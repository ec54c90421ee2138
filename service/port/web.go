package port

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"strings"
	"time"

	connectcors "connectrpc.com/cors"
	"github.com/rs/cors"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// How a peer that is gone is noticed where calls share a connection.
const (
	pingEvery   = time.Minute
	pingTimeout = 20 * time.Second
)

func webServer(h http.Handler, c Config) *http.Server {
	both := new(http.Protocols)
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true) // as net/http sees it: the door speaks TLS
	return &http.Server{
		Handler:           h,
		Protocols:         both,
		ReadHeaderTimeout: c.Limits.HeaderTimeout,
		IdleTimeout:       c.Limits.IdleTimeout,
		MaxHeaderBytes:    c.Limits.HeaderBytes,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: c.Limits.Streams,
			SendPingTimeout:      pingEvery,
			PingTimeout:          pingTimeout,
		},
		ConnContext: func(ctx context.Context, of net.Conn) context.Context {
			ctx = rpc.WithPeer(ctx, of.RemoteAddr().String())
			if c, ok := of.(*conn); ok && c.state != nil {
				ctx = context.WithValue(ctx, tlsKey{}, c.state)
			}
			return ctx
		},
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelWarn),
	}
}

// tlsKey is for the state of TLS in a request's context.
type tlsKey struct{}

// handler answers every request of net/http's server.
func (p *port) handler(mounts []protocol.Mount) (http.Handler, error) {
	b := &byMedia{calls: make(map[string]protocol.Mount), rest: make(map[string]http.Handler), takes: make(map[string][]string)}
	for _, m := range mounts {
		if err := b.add(m); err != nil {
			return nil, err
		}
	}
	patterns := map[string]http.Handler{
		"GET /healthz": http.HandlerFunc(alive), "GET /readyz": p.ready, "/": http.HandlerFunc(b.other),
	}
	for pattern, h := range p.Extra {
		if patterns[pattern] != nil {
			return nil, fmt.Errorf("%s is the port's own, and stands in Extra", pattern)
		}
		patterns[pattern] = h
	}
	for pattern, h := range patterns {
		if err := register(&b.mux, pattern, h); err != nil {
			return nil, err
		}
	}
	all := http.Handler(b)
	if len(p.Origins) > 0 {
		all = forPages(p.Origins, all)
	}
	if p.TLS != nil {
		all = withTLS(all)
	}
	return all, nil
}

// register is Handle of a mux, which panics where a pattern is not one.
func register(mux *http.ServeMux, pattern string, h http.Handler) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("answer %q: %v", pattern, cause)
		}
	}()
	mux.Handle(pattern, h)
	return nil
}

// withTLS lets handlers see what net/http's server would have seen of TLS, had
// it been the one to shake hands.
func withTLS(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.TLS, _ = r.Context().Value(tlsKey{}).(*tls.ConnectionState)
		h.ServeHTTP(w, r)
	})
}

// forPages lets scripts of web pages call: with whatever header they send, and
// seeing what the protocols answer in headers.
func forPages(origins []string, h http.Handler) http.Handler {
	return cors.New(cors.Options{
		AllowedOrigins: origins,
		AllowedMethods: []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		},
		AllowedHeaders: []string{"*"},
		ExposedHeaders: append(connectcors.ExposedHeaders(), protocol.RetryAfterField),
		MaxAge:         int((2 * time.Hour).Seconds()), // the most that browsers keep
	}).Handler(h)
}

// byMedia has each request answered by the protocol that its content type and
// its path tell.
type byMedia struct {
	calls map[string]protocol.Mount // by content type
	rest  map[string]http.Handler   // by content type, of protocols that take the rest
	first http.Handler              // of these; nil where there is none
	takes map[string][]string       // content types of calls, by path
	mux   http.ServeMux             // what is no call by its content type
}

func (b *byMedia) add(m protocol.Mount) error {
	for _, media := range m.Media {
		if m.Rest {
			if b.rest[media] != nil {
				return fmt.Errorf("two of the stacks take the rest of %s", media)
			}
			b.rest[media] = m.Any
			continue
		}
		if _, twice := b.calls[media]; twice {
			return fmt.Errorf("two of the stacks take %s", media)
		}
		b.calls[media] = m
		for path := range m.Paths {
			b.takes[path] = append(b.takes[path], media)
		}
	}
	if m.Rest && b.first == nil {
		b.first = m.Any
	}
	return nil
}

func (b *byMedia) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if m, ok := b.calls[mediaOf(r)]; ok {
		if h := m.Paths[r.URL.Path]; h != nil {
			h.ServeHTTP(w, r)
			return
		}
		if m.Any != nil {
			m.Any.ServeHTTP(w, r)
			return
		}
	}
	if !protocol.CleanPath(r.URL.EscapedPath()) {
		b.other(w, r) // which the mux would answer with a redirect
		return
	}
	b.mux.ServeHTTP(w, r)
}

// other answers what is neither a call by its content type nor of a pattern.
func (b *byMedia) other(w http.ResponseWriter, r *http.Request) {
	if h := b.restOf(r); h != nil {
		h.ServeHTTP(w, r)
		return
	}
	if types := b.takes[r.URL.Path]; types != nil {
		w.Header().Set("Accept-Post", strings.Join(types, ", "))
		http.Error(w, fmt.Sprintf("%s does not take content type %q, but %s",
			r.URL.Path, r.Header.Get("Content-Type"), strings.Join(types, ", ")), http.StatusUnsupportedMediaType)
		return
	}
	if b.first == nil {
		http.NotFound(w, r)
		return
	}
	b.first.ServeHTTP(w, r)
}

// restOf gives what takes a request among the rest by its content type or, where
// it has no body and so none, by the first that it asks for of those known; nil
// where neither says.
func (b *byMedia) restOf(r *http.Request) http.Handler {
	if media := mediaOf(r); media != "" {
		return b.rest[media]
	}
	for asked := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		if h := b.rest[canonical(strings.TrimSpace(asked))]; h != nil {
			return h
		}
	}
	return nil
}

func mediaOf(r *http.Request) string { return canonical(r.Header.Get("Content-Type")) }

// canonical gives a content type in lower case and without parameters.
func canonical(given string) string {
	if !strings.ContainsAny(given, "; ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
		return given
	}
	media, _, err := mime.ParseMediaType(given)
	if err != nil {
		return given
	}
	return media
}
