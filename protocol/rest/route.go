package rest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/rpc"
)

// route is where a method's requests go, and where they have the fields of its
// message: those that the path names there, the others in the body, or for a
// verb without a body in the query. The rules are those of google.api.http with
// body "*" or none.
// Source: github.com/googleapis/googleapis, google/api/http.proto.
type route struct {
	verb       string
	path       string // a pattern of http.ServeMux
	pathFields []pathField
	bodyless   bool
}

// pathField is a field that stands in the path, as one whole segment.
type pathField struct {
	name  string
	field protoreflect.FieldDescriptor
}

// verbs say which methods of HTTP carry calls, and whether they have a body.
var verbs = map[string]bool{
	http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodGet: false, http.MethodDelete: false,
}

// routeOf reads a method's route; a method without one is posted to its path.
func routeOf(m *rpc.Method) (route, error) {
	if m.Route == "" {
		return route{verb: http.MethodPost, path: m.Path()}, nil
	}
	wrong := func(format string, args ...any) (route, error) {
		return route{}, fmt.Errorf("route %q of %s "+format, append([]any{m.Route, m.Path()}, args...)...)
	}
	verb, path, ok := strings.Cut(m.Route, " ")
	if !ok || !strings.HasPrefix(path, "/") {
		return wrong("is not VERB /PATH")
	}
	hasBody, ok := verbs[verb]
	r := route{verb: verb, path: path, bodyless: !hasBody}
	switch {
	case !ok:
		return wrong("has a verb that carries no calls")
	case strings.HasSuffix(path, "/"):
		return wrong("ends with /, and would take all paths below it")
	case strings.Contains(path, "...}"):
		return wrong("has a field of several segments: give each segment one")
	}
	if err := register(http.NewServeMux(), m.Route, http.NotFound); err != nil {
		return wrong("is no pattern: %w", err)
	}
	if !r.bodyless && !strings.Contains(path, "{") {
		return r, nil
	}
	if m.Kind.StreamsIn() {
		return wrong("has one message in path and query, and its caller streams")
	}
	if m.In.NewProto == nil || m.In.ToProto == nil || m.In.FromProto == nil {
		return wrong("has fields in path or query, and %s no schema to find them by", m.In.Name)
	}
	in := m.In.NewProto().ProtoReflect().Descriptor()
	for _, name := range segmentNames(path) {
		field := in.Fields().ByName(protoreflect.Name(name))
		if field == nil {
			return wrong("names no field of %s by {%s}", m.In.Name, name)
		}
		if field.IsList() || field.IsMap() || field.Message() != nil {
			return wrong("has {%s} in the path, which is not one plain value", name)
		}
		r.pathFields = append(r.pathFields, pathField{name, field})
	}
	if r.bodyless {
		if bad := unaskable(in, r.inPath, nil); bad != "" {
			return wrong("has no body, and %s of %s cannot stand in a query", bad, m.In.Name)
		}
	}
	return r, nil
}

// segmentNames gives the names of the fields in a path.
func segmentNames(path string) (names []string) {
	for segment := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// targeted says that a call's path or query depends on its message.
func (r *route) targeted() bool { return r.bodyless || len(r.pathFields) > 0 }

// inPath says whether a field of the message stands in the path.
func (r *route) inPath(f protoreflect.FieldDescriptor) bool {
	return slices.ContainsFunc(r.pathFields, func(p pathField) bool { return p.field.FullName() == f.FullName() })
}

// unaskable names a field of a message that no query can set, or gives "".
func unaskable(m protoreflect.MessageDescriptor, skip func(protoreflect.FieldDescriptor) bool, above []protoreflect.FullName) string {
	above = append(above, m.FullName())
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		inner := f.Message()
		switch {
		case skip != nil && skip(f), !f.IsMap() && (inner == nil || asText[inner.FullName()]):
			continue
		case f.IsMap(), f.IsList(), strings.HasPrefix(string(inner.FullName()), "google.protobuf."),
			inner.Fields().Len() == 0, slices.Contains(above, inner.FullName()):
			return string(f.Name())
		}
		if bad := unaskable(inner, nil, above); bad != "" {
			return string(f.Name()) + "." + bad
		}
	}
	return ""
}

// register has mux answer pattern. What net/http panics with is the error.
func register(mux *http.ServeMux, pattern string, h http.HandlerFunc) (err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("%v", why)
		}
	}()
	mux.HandleFunc(pattern, h)
	return nil
}

// conflict says that two patterns take some request both, and neither is the
// more exact.
func conflict(a, b string) bool {
	mux := http.NewServeMux()
	return register(mux, a, http.NotFound) == nil && register(mux, b, http.NotFound) != nil
}
