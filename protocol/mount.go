package protocol

import (
	"context"
	"net"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/tare-bench/tare/rpc"
)

// Mounter is implemented by a protocol that can share a port with others.
type Mounter interface {
	// Mount readies servers that answer calls of svcs with h, with the codec,
	// compressor and longest message of o. Whoever runs the port tells requests
	// apart, and bounds what net/http's own server can bound.
	Mount(svcs []*rpc.Service, h rpc.Handler, o Options, l Limits) (Mount, error)
	// Example gives a command line by which a person calls m at a port whose URL
	// begins with base, with a message of this JSON; "" where no tool is common.
	Example(m *rpc.Method, base, json string, o Options) string
}

// Mount is a protocol's part of a port: which requests are its own, and what
// answers them.
type Mount struct {
	// Media are the content types of its requests, in lower case and without
	// parameters.
	Media []string
	// Paths answer requests of Media by their whole path, and Any those to other
	// paths; where Any is nil, these are not the protocol's.
	Paths map[string]http.Handler
	Any   http.Handler
	// Rest says that Any also takes what is no protocol's by its content type.
	Rest bool
	// Sharers are how user agents begin whose clients, this protocol's, may put
	// calls of several protocols on one connection.
	Sharers []string
	// Native takes over connections of HTTP/2 whose first request is the
	// protocol's, unless its client is a sharer; nil where net/http's server is the
	// protocol's own.
	Native Server
}

// Server answers calls on connections that it takes over as they are accepted:
// an end of a TLS connection has its ConnectionState method and needs no
// handshake.
type Server interface {
	// Serve accepts from l until Shutdown, and then returns nil.
	Serve(l net.Listener) error
	// Shutdown refuses new calls, waits until those in flight have ended, and
	// cuts them once ctx ends.
	Shutdown(ctx context.Context)
	// SetServing has the protocol's own health checks, if there are any, say
	// whether services answer. They say no at first.
	SetServing(bool)
}

// Limits are what a server that faces others holds its callers to.
type Limits struct {
	HeaderTimeout time.Duration // for the handshake, and for a request's header
	IdleTimeout   time.Duration // of a connection without calls
	HeaderBytes   int           // of one request
	Streams       int           // calls at a time on one connection of HTTP/2
}

// CleanPath says that a request's path is one that http.ServeMux takes as it is,
// and does not answer with a redirect to another.
func CleanPath(p string) bool {
	return strings.HasPrefix(p, "/") && strings.TrimSuffix(p, "/") == strings.TrimSuffix(path.Clean(p), "/")
}

// Quote has a shell take text as it stands.
func Quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
