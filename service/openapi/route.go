package openapi

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/rpc"
)

// route is a method's route as OpenAPI writes it.
type route struct {
	verb, path string
	params     []string // fields of the request that stand in the path, by name in the schema
}

func (r route) hasBody() bool {
	return r.verb == http.MethodPost || r.verb == http.MethodPut || r.verb == http.MethodPatch
}

// inPath is a parameter of a route, which http.ServeMux and OpenAPI write alike.
var inPath = regexp.MustCompile(`\{([^{}]*)\}`)

// routeOf reads a method's route; a method without one is posted to its path.
func routeOf(m *rpc.Method) (route, error) {
	if m.Route == "" {
		return route{verb: http.MethodPost, path: m.Path()}, nil
	}
	verb, path, ok := strings.Cut(m.Route, " ")
	if !ok || !strings.HasPrefix(path, "/") {
		return route{}, fmt.Errorf("route %q of %s is not VERB /PATH", m.Route, m.Path())
	}
	r := route{verb: verb, path: path}
	for _, param := range inPath.FindAllStringSubmatch(path, -1) {
		r.params = append(r.params, param[1])
	}
	return r, nil
}

// parameters adds those of the path, and, where there is no body, all other
// fields as those of the query.
func (b *builder) parameters(op *openapi3.Operation, in protoreflect.MessageDescriptor, r route) error {
	for _, name := range r.params {
		f := in.Fields().ByName(protoreflect.Name(name))
		if f == nil {
			return fmt.Errorf("route has {%s}, and %s no such field", name, in.FullName())
		}
		if !isScalar(f) || f.IsList() {
			return fmt.Errorf("route has {%s}, which is more than one value", name)
		}
		p, err := b.parameter(openapi3.NewPathParameter(name), f)
		if err != nil {
			return err
		}
		op.AddParameter(p)
	}
	if r.hasBody() {
		return nil
	}
	return b.query(op, in, r.params, "", nil)
}

// query adds the fields of a message but for some; what stands before their
// names leads to the message.
func (b *builder) query(op *openapi3.Operation, in protoreflect.MessageDescriptor, except []string, before string, above []protoreflect.FullName) error {
	if slices.Contains(above, in.FullName()) {
		return fmt.Errorf("%s holds itself, and cannot stand in a query", in.FullName())
	}
	above = append(slices.Clip(above), in.FullName())
	required, err := b.required(in)
	if err != nil {
		return err
	}
	for f := range fields(in) {
		name := before + f.JSONName()
		switch {
		case slices.Contains(except, string(f.Name())):
		case isScalar(f):
			p, err := b.parameter(openapi3.NewQueryParameter(name), f)
			if err != nil {
				return err
			}
			p.Required = before == "" && slices.Contains(required, f.JSONName())
			op.AddParameter(p)
		case f.IsMap() || f.IsList() || wellKnown(f.Message().FullName()) != nil:
			return fmt.Errorf("%s is of a kind that cannot stand in a query", f.FullName())
		default:
			if err := b.query(op, f.Message(), nil, name+".", above); err != nil {
				return err
			}
		}
	}
	return nil
}

// parameter describes p by the field that it sets. Lists repeat their name,
// which is what OpenAPI takes for granted of a query.
func (b *builder) parameter(p *openapi3.Parameter, f protoreflect.FieldDescriptor) (*openapi3.Parameter, error) {
	schema, err := b.field(f)
	if err != nil {
		return nil, err
	}
	p.Schema = schema
	if schema.Value != nil {
		p.Description, schema.Value.Description = schema.Value.Description, ""
		p.Deprecated, schema.Value.Deprecated = schema.Value.Deprecated, false
	}
	return p, nil
}

// isScalar says whether a field's value, or each of a list, is one word.
func isScalar(f protoreflect.FieldDescriptor) bool {
	if f.IsMap() {
		return false
	}
	if f.Message() == nil {
		return true
	}
	switch known := wellKnown(f.Message().FullName()); {
	case known == nil:
		return false
	case known.Type == nil:
		return known.AnyOf != nil // a number or a word, or else anything at all
	default:
		return !known.Type.Is(openapi3.TypeObject) && !known.Type.Is(openapi3.TypeArray)
	}
}
