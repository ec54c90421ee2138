package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/rpc"
)

// The rules that a path or a query breaks, as violations name them.
const (
	unknownField = "UNKNOWN_FIELD"
	repeatedKey  = "REPEATED_KEY"
	badValue     = "BAD_VALUE"
	badEscape    = "BAD_ESCAPE"
	oneofTwice   = "ONEOF_TWICE"
	pathAndBody  = "PATH_AND_BODY"
)

// mostWrong is after how much that is wrong with a query its rest is not read.
const mostWrong = 32

// reader sets the fields of a message out of a request's path and query.
type reader struct {
	route *route
	m     protoreflect.Message
	set   []string // single fields that a key has set, by their paths
	wrong []rpc.Violation
}

// readTarget sets in m what the path and, where there is no body, the query of
// r say. The error names every field that is wrong.
func (rt *route) readTarget(m protoreflect.Message, r *http.Request) error {
	q := reader{route: rt, m: m}
	if rt.bodyless {
		q.query(r.URL.RawQuery)
	}
	for _, p := range rt.pathFields {
		q.pathField(p, r.PathValue(p.name))
	}
	if len(q.wrong) == 0 {
		return nil
	}
	first := q.wrong[0]
	e := rpc.Errorf(rpc.InvalidArgument, "%.80s: %s", first.Field, first.Description)
	if more := len(q.wrong) - 1; more > 0 {
		e.Message += fmt.Sprintf(", and %d more", more)
	}
	e.Violations = q.wrong
	return e
}

func (q *reader) say(field, reason, format string, args ...any) {
	q.wrong = append(q.wrong, rpc.Violation{Field: field, Reason: reason, Description: fmt.Sprintf(format, args...)})
}

// pathField sets a field to a segment of the path. In the body it may stand too, as
// the same.
func (q *reader) pathField(p pathField, text string) {
	v, ok := parseText(p.field, text, noElement)
	switch {
	case !ok:
		q.say(p.name, badValue, "%.80q in the path is not %s", text, kindOf(p.field))
	case q.m.Has(p.field) && !q.m.Get(p.field).Equal(v), otherOfOneof(q.m, p.field):
		q.say(p.name, pathAndBody, "is one thing in the path and another in the body")
	default:
		q.m.Set(p.field, v)
	}
}

func (q *reader) query(raw string) {
	for raw != "" && len(q.wrong) < mostWrong {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		key, text, _ := strings.Cut(pair, "=")
		key, keyErr := url.QueryUnescape(key)
		text, textErr := url.QueryUnescape(text)
		if keyErr != nil || textErr != nil || strings.Contains(pair, ";") {
			q.say(pair, badEscape, "is not percent-encoded as queries are")
			continue
		}
		q.pair(key, text)
	}
}

// pair sets the field that key names.
func (q *reader) pair(key, text string) {
	m, f, path := q.find(key)
	switch {
	case f == nil:
		q.say(key, unknownField, "no such field can stand in the query")
		return
	case !f.IsList() && slices.Contains(q.set, path):
		q.say(path, repeatedKey, "stands more than once in the query")
		return
	case otherOfOneof(m, f):
		q.say(path, oneofTwice, "stands in the query beside another that excludes it")
		return
	}
	element := func() protoreflect.Value { return m.NewField(f) }
	if f.IsList() {
		element = m.Mutable(f).List().NewElement
	}
	v, ok := parseText(f, text, element)
	switch {
	case !ok:
		q.say(path, badValue, "%.80q is not %s", text, kindOf(f))
	case f.IsList():
		m.Mutable(f).List().Append(v)
	default:
		m.Set(f, v)
		q.set = append(q.set, path)
	}
}

// find gives the message and the field that a key names, in names of JSON or of
// the schema, parted by dots, and its path in the schema's. There is none where
// the key names no field, or one that cannot stand in the query.
func (q *reader) find(key string) (protoreflect.Message, protoreflect.FieldDescriptor, string) {
	m, path := q.m, ""
	for {
		name, rest, nested := strings.Cut(key, ".")
		f := m.Descriptor().Fields().ByJSONName(name)
		if f == nil {
			f = m.Descriptor().Fields().ByName(protoreflect.Name(name))
		}
		if f == nil || path == "" && q.route.inPath(f) {
			return nil, nil, ""
		}
		path += string(f.Name())
		inner := f.Message() != nil && !asText[f.Message().FullName()]
		if nested != inner {
			return nil, nil, ""
		}
		if !nested {
			return m, f, path
		}
		if otherOfOneof(m, f) {
			return m, f, path // which is refused
		}
		m, key, path = m.Mutable(f).Message(), rest, path+"."
	}
}

// otherOfOneof says that another field of f's oneof is set.
func otherOfOneof(m protoreflect.Message, f protoreflect.FieldDescriptor) bool {
	oneof := f.ContainingOneof()
	if oneof == nil || oneof.IsSynthetic() {
		return false
	}
	set := m.WhichOneof(oneof)
	return set != nil && set.Number() != f.Number()
}
