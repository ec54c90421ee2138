package rest

import (
	"net/url"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/rpc"
)

// aim gives the path and the query of a call, and what is left of its message
// for the body, or nil where there is none.
func (e *endpoint) aim(in any) (path, query string, rest any, err error) {
	m := e.method.In.ToProto(in).ProtoReflect()
	if path, err = e.pathFor(m); err != nil {
		return "", "", nil, err
	}
	if e.bodyless {
		q := writer{route: &e.route}
		q.fields("", "", m)
		return path, q.text.String(), nil, q.err
	}
	// The message may be its caller's own, and is left as it is.
	left := e.method.In.NewProto().ProtoReflect()
	for f, v := range m.Range {
		if !e.inPath(f) {
			left.Set(f, v)
		}
	}
	return path, "", e.method.In.FromProto(left.Interface()), nil
}

// pathFor fills in the fields of the path, escaped.
func (e *endpoint) pathFor(m protoreflect.Message) (string, error) {
	if len(e.pathFields) == 0 {
		return e.path, nil
	}
	var path strings.Builder
	pathFields := e.pathFields
	for segment := range strings.SplitSeq(e.path[1:], "/") {
		path.WriteByte('/')
		if !strings.HasPrefix(segment, "{") {
			path.WriteString(segment)
			continue
		}
		text, err := formatText(pathFields[0].field, m.Get(pathFields[0].field))
		if err != nil || text == "" {
			return "", unsendable(pathFields[0].name, "must not be empty: it stands in the path")
		}
		path.WriteString(escapeSegment(text))
		pathFields = pathFields[1:]
	}
	return path.String(), nil
}

// escapeSegment escapes what else would part segments or, as "." and "..", go
// up the path.
func escapeSegment(text string) string {
	if text == "." || text == ".." {
		return strings.ReplaceAll(text, ".", "%2E")
	}
	return url.PathEscape(text)
}

// writer makes a query of a message's fields.
type writer struct {
	route *route
	text  strings.Builder
	err   error
}

// fields appends what is set of m, in the schema's order. prefix names m in
// JSON, path in the schema.
func (q *writer) fields(prefix, path string, m protoreflect.Message) {
	all := m.Descriptor().Fields()
	for i := range all.Len() {
		f := all.Get(i)
		if !m.Has(f) || prefix == "" && q.route.inPath(f) {
			continue
		}
		name, path, v := prefix+f.JSONName(), path+string(f.Name()), m.Get(f)
		switch {
		case f.IsList():
			for i := range v.List().Len() {
				q.pair(name, path, f, v.List().Get(i))
			}
		case f.Message() == nil || asText[f.Message().FullName()]:
			q.pair(name, path, f, v)
		default:
			before := q.text.Len()
			q.fields(name+".", path+".", v.Message())
			if q.text.Len() == before {
				q.present(name, path, v.Message())
			}
		}
	}
}

// present says of a message that it is there and empty, by a field that is as
// it would be anyway.
func (q *writer) present(name, path string, m protoreflect.Message) {
	all := m.Descriptor().Fields()
	for i := range all.Len() {
		if f := all.Get(i); !f.IsList() && !f.HasPresence() {
			q.pair(name+"."+f.JSONName(), path, f, m.Get(f))
			return
		}
	}
	if q.err == nil {
		q.err = unsendable(path, "is there and empty, which a query cannot say")
	}
}

func (q *writer) pair(name, path string, f protoreflect.FieldDescriptor, v protoreflect.Value) {
	text, err := formatText(f, v)
	if err != nil && q.err == nil {
		q.err = unsendable(path, err.Error())
	}
	if q.text.Len() > 0 {
		q.text.WriteByte('&')
	}
	q.text.WriteString(url.QueryEscape(name) + "=" + url.QueryEscape(text))
}

func unsendable(field, why string) error {
	e := rpc.Errorf(rpc.InvalidArgument, "%s: %s", field, why)
	e.Violations = []rpc.Violation{{Field: field, Description: why, Reason: badValue}}
	return e
}
