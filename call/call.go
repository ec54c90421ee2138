// Package call makes one call for a person, over any protocol that it has a
// Dialect for, and shows what comes back: a curl for every stack.
//
// It stands on connect-go, which speaks three protocols, and on net/http, and
// not on protocol.Conn: a person wants header fields, trailers, details, TLS
// and the cause of a failure, which comparisons have no need of. Codecs and
// compressors are the catalogue's own, so messages cross as they do there.
// It knows no workload.
package call

import (
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	"connectrpc.com/connect"
)

// Dialect is how this package speaks one protocol of the catalogue.
type Dialect struct {
	Stack   string // that it speaks where nobody says more: "grpc+proto"
	rpc     bool   // calls methods; else a URL is all that there is to say
	http2   bool   // only HTTP/2 carries it
	fits    func(Target) bool
	options []connect.ClientOption
}

// GRPC speaks gRPC, and is meant by grpc:// and grpcs://.
func GRPC(stack string) Dialect {
	return Dialect{
		Stack: stack, rpc: true, http2: true,
		fits:    func(t Target) bool { return t.scheme != t.URL.Scheme },
		options: []connect.ClientOption{connect.WithGRPC()},
	}
}

// Connect speaks Connect, and is meant by a URL whose path is a method's.
func Connect(stack string) Dialect {
	return Dialect{
		Stack: stack, rpc: true,
		fits: func(t Target) bool { return methodPath.MatchString(t.URL.Path) },
	}
}

// Web speaks gRPC-Web, and is meant where it is named.
func Web(stack string) Dialect {
	return Dialect{
		Stack: stack, rpc: true,
		fits:    func(Target) bool { return false },
		options: []connect.ClientOption{connect.WithGRPCWeb()},
	}
}

// REST makes requests of HTTP, and is meant by all other URLs.
func REST(stack string) Dialect {
	return Dialect{Stack: stack, fits: func(Target) bool { return true }}
}

// Protocol is the name of what it speaks.
func (d Dialect) Protocol() string {
	name, _, _ := strings.Cut(d.Stack, "+")
	return name
}

// CallsMethods says whether it calls methods of services.
func (d Dialect) CallsMethods() bool { return d.rpc }

// Choose gives the first dialect that t is meant for.
func Choose(dialects []Dialect, t Target) (Dialect, error) {
	for _, d := range dialects {
		if d.fits(t) {
			return d, nil
		}
	}
	return Dialect{}, fmt.Errorf("%s means no protocol that there is", t)
}

// methodPath is a path that names a method as gRPC does. Services begin with a
// capital letter, or the paths of resources might be taken for them.
var methodPath = regexp.MustCompile(`^(?:/[^/]+)*/(?:\w+\.)+[A-Z]\w*/[A-Z]\w*$`)

// Target is what a person's URL says.
type Target struct {
	URL    *url.URL // of http or https
	scheme string   // as it was written
}

// ParseTarget reads a URL of grpc, grpcs, http or https.
func ParseTarget(text string) (Target, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return Target{}, fmt.Errorf("%q is no URL such as grpc://127.0.0.1:8080/acme.v1.Ledger/Post or http://127.0.0.1:8080/v1/posts", text)
	}
	t := Target{URL: u, scheme: u.Scheme}
	switch u.Scheme {
	case "grpc":
		u.Scheme = "http"
	case "grpcs":
		u.Scheme = "https"
	case "http", "https":
	default:
		return Target{}, fmt.Errorf("%q: the scheme %s is none of grpc, grpcs, http and https", text, u.Scheme)
	}
	return t, nil
}

// String gives the URL as it was written.
func (t Target) String() string {
	u := *t.URL
	u.Scheme = t.scheme
	return u.Redacted()
}

// Secure says whether calls go over TLS.
func (t Target) Secure() bool { return t.URL.Scheme == "https" }

// Address gives host and port.
func (t Target) Address() string {
	port := t.URL.Port()
	if port == "" {
		port = t.URL.Scheme // net knows the ports of both
	}
	return net.JoinHostPort(t.URL.Hostname(), port)
}

// Method parts the path's last two words, which name a method, from what is
// before them.
func (t Target) Method() (service, method string, err error) {
	words := strings.Split(strings.Trim(t.URL.Path, "/"), "/")
	if n := len(words); n >= 2 {
		return words[n-2], words[n-1], nil
	}
	return "", "", fmt.Errorf("%s names no method: write it as %s://%s/PACKAGE.SERVICE/METHOD", t, t.scheme, t.URL.Host)
}

// base is the URL that a server's methods are below.
func (t Target) base() string {
	u := *t.URL
	u.RawQuery, u.Fragment = "", ""
	if words := strings.Split(strings.TrimRight(u.Path, "/"), "/"); len(words) > 2 {
		u.Path = strings.Join(words[:len(words)-2], "/")
	} else {
		u.Path = ""
	}
	u.RawPath = ""
	return u.String()
}
