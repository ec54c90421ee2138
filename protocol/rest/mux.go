package rest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// mux tells routes apart.
type mux struct {
	*http.ServeMux
	verbs []string // that some route has
}

// anyPath is the pattern of what no route takes.
const anyPath = "/"

func newMux(svcs []*rpc.Service, h rpc.Handler, o protocol.Options) (http.Handler, error) {
	x := &mux{ServeMux: http.NewServeMux()}
	inUse := make(map[string]bool)
	var routes []*endpoint
	for _, svc := range svcs {
		endpoints, err := bind(svc, o)
		if err != nil {
			return nil, err
		}
		for _, e := range endpoints {
			s := &server{endpoint: e, handler: h, contentType: []string{e.media}}
			answer := s.unary
			if e.method.Kind != rpc.Unary {
				answer = s.streaming
			}
			if err := register(x.ServeMux, e.pattern(), answer); err != nil {
				return nil, clash(e, routes, err)
			}
			routes = append(routes, e)
			inUse[e.verb] = true
		}
	}
	if inUse[http.MethodGet] {
		inUse[http.MethodHead] = true // by ServeMux
	}
	x.verbs = slices.Sorted(maps.Keys(inUse))
	x.HandleFunc(anyPath, x.refuse)
	return x, nil
}

func (r *route) pattern() string { return r.verb + " " + r.path }

// clash says which of the routes that are there takes requests of e's.
func clash(e *endpoint, there []*endpoint, why error) error {
	for _, other := range there {
		if conflict(other.pattern(), e.pattern()) {
			return fmt.Errorf("route %s of %s takes requests that route %s of %s takes too: change one of them",
				e.pattern(), e.method.Path(), other.pattern(), other.method.Path())
		}
	}
	return fmt.Errorf("route %s of %s: %w", e.pattern(), e.method.Path(), why)
}

// ServeHTTP answers a path that is not clean as one that no route takes:
// ServeMux would redirect to another, and few clients of an API follow.
func (x *mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !protocol.CleanPath(r.URL.EscapedPath()) {
		x.refuse(w, r)
		return
	}
	x.ServeMux.ServeHTTP(w, r)
}

// refuse answers what no route takes.
func (x *mux) refuse(w http.ResponseWriter, r *http.Request) {
	w.Header()["Cache-Control"] = noStore // a cache may keep it otherwise
	var allowed []string
	for _, verb := range x.verbs {
		probe := &http.Request{Method: verb, Host: r.Host, URL: r.URL}
		if _, pattern := x.Handler(probe); pattern != anyPath && protocol.CleanPath(r.URL.EscapedPath()) {
			allowed = append(allowed, verb)
		}
	}
	if len(allowed) == 0 {
		answerFailure(w, rpc.Errorf(rpc.NotFound, "no route %s %.200s", r.Method, r.URL.Path))
		return
	}
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	answerFailure(w, refusal{rpc.Errorf(rpc.Unimplemented, "%.200s takes %s", r.URL.Path, list), http.StatusMethodNotAllowed})
}

// noStore is the Cache-Control of answers that a cache might keep: what they
// tell of changes.
var noStore = []string{"no-store"}
