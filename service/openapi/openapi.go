// Package openapi describes services' routes for those who call them over plain
// HTTP: as a document of OpenAPI 3.0, which other programs read, and as a page
// that a person reads.
//
// All of it comes from what is there anyway: routes from rpc.Method, messages
// and their rules from the schema, texts from its comments. It knows package
// rpc, JSON as ProtoJSON writes it, and how package rest of protocols carries
// fields, streams and failures.
package openapi

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"buf.build/go/protovalidate"
	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/gen/comments"
	"github.com/tare-bench/tare/rpc"
)

// About is what a document says of itself.
type About struct {
	Title   string
	Version string // of the service
}

// New describes services, and fails where a route cannot be described.
func New(ctx context.Context, about About, services ...*rpc.Service) (*openapi3.T, error) {
	validator, err := protovalidate.New()
	if err != nil {
		return nil, fmt.Errorf("ready the schema's rules: %w", err)
	}
	b := &builder{
		doc: &openapi3.T{
			OpenAPI: "3.0.3",
			Info:    &openapi3.Info{Title: about.Title, Version: about.Version},
			Paths:   openapi3.NewPaths(),
			Servers: openapi3.Servers{{URL: "/"}},
			Components: &openapi3.Components{
				Schemas: openapi3.Schemas{}, Responses: openapi3.ResponseBodies{}, Parameters: openapi3.ParametersMap{},
			},
		},
		validator: validator,
		seen:      make(map[protoreflect.FullName]bool),
	}
	b.common()
	for _, svc := range services {
		if err := b.service(svc); err != nil {
			return nil, err
		}
	}
	if len(b.leftOut) > 0 {
		b.doc.Info.Description = "Not described here, since both sides stream: " + strings.Join(b.leftOut, ", ") + "."
	}
	if err := openapi3.NewLoader().ResolveRefsIn(b.doc, nil); err != nil {
		return nil, fmt.Errorf("resolve the document's references: %w", err)
	}
	if err := b.doc.Validate(ctx); err != nil {
		return nil, fmt.Errorf("check the document: %w", err)
	}
	return b.doc, nil
}

// builder makes a document.
type builder struct {
	doc       *openapi3.T
	validator protovalidate.Validator
	seen      map[protoreflect.FullName]bool // messages and enums that have a component
	leftOut   []string
}

func (b *builder) service(svc *rpc.Service) error {
	tag := shortName(svc.Name)
	b.doc.Tags = append(b.doc.Tags, &openapi3.Tag{Name: tag, Description: comments.Of[svc.Name]})
	for _, m := range svc.Methods {
		if m.Kind == rpc.Bidi {
			b.leftOut = append(b.leftOut, tag+"."+m.Name)
			continue
		}
		r, err := routeOf(m)
		if err != nil {
			return err
		}
		op, err := b.operation(m, r)
		if err != nil {
			return fmt.Errorf("describe %s: %w", m.Path(), err)
		}
		op.Tags = []string{tag}
		if item := b.doc.Paths.Value(r.path); item != nil && item.GetOperation(r.verb) != nil {
			return fmt.Errorf("describe %s: %s %s is %s already", m.Path(), r.verb, r.path, item.GetOperation(r.verb).OperationID)
		}
		b.doc.AddOperation(r.path, r.verb, op)
	}
	return nil
}

func (b *builder) operation(m *rpc.Method, r route) (*openapi3.Operation, error) {
	text := comments.Of[m.Service+"."+m.Name]
	op := &openapi3.Operation{
		OperationID: shortName(m.Service) + "_" + m.Name,
		Summary:     sentence(text), Description: text,
		Responses: openapi3.NewResponses(),
	}
	in := m.In.NewProto().ProtoReflect().Descriptor()
	if err := b.parameters(op, in, r); err != nil {
		return nil, err
	}
	op.Parameters = append(op.Parameters, &openapi3.ParameterRef{Ref: "#/components/parameters/" + timeoutParameter})
	if r.hasBody() {
		body, err := b.body(m, in, r)
		if err != nil {
			return nil, err
		}
		op.RequestBody = &openapi3.RequestBodyRef{Value: body}
	}
	ok, err := b.success(m)
	if err != nil {
		return nil, err
	}
	op.Responses.Set("200", &openapi3.ResponseRef{Value: ok})
	for status, name := range failures(r) {
		op.Responses.Set(status, &openapi3.ResponseRef{Ref: "#/components/responses/" + name})
	}
	return op, nil
}

// Media types, beside that of problems.
const (
	jsonMedia  = "application/json"
	linesMedia = "application/x-ndjson"
)

// body is a request's: the message without what stands in the path, or, where
// the caller streams, one message on each line.
func (b *builder) body(m *rpc.Method, in protoreflect.MessageDescriptor, r route) (*openapi3.RequestBody, error) {
	schema, err := b.without(in, r.params)
	if err != nil {
		return nil, err
	}
	media, text := jsonMedia, ""
	if m.Kind.StreamsIn() {
		media, text = linesMedia, "A message on each line."
	}
	return &openapi3.RequestBody{
		Description: text, Required: true,
		Content: openapi3.Content{media: {Schema: schema}},
	}, nil
}

// success is the answer to a call that does not fail, at least not before its
// first message.
func (b *builder) success(m *rpc.Method) (*openapi3.Response, error) {
	out := m.Out.NewProto().ProtoReflect().Descriptor()
	schema, err := b.message(out)
	if err != nil {
		return nil, err
	}
	text := comments.Of[string(out.FullName())]
	if text == "" {
		text = http.StatusText(http.StatusOK) // OpenAPI wants one
	}
	if !m.Kind.StreamsOut() {
		return &openapi3.Response{Description: &text, Content: openapi3.Content{jsonMedia: {Schema: schema}}}, nil
	}
	text += "\n\nEach line is an object: a message is its `result`, and what a stream fails with is the `error` of its last line."
	line := &openapi3.Schema{OneOf: openapi3.SchemaRefs{only("result", schema), only("error", problemRef())}}
	return &openapi3.Response{
		Description: &text,
		Content:     openapi3.Content{linesMedia: {Schema: &openapi3.SchemaRef{Value: line}}},
	}, nil
}

// only describes an object with one property.
func only(name string, schema *openapi3.SchemaRef) *openapi3.SchemaRef {
	s := openapi3.NewObjectSchema().WithPropertyRef(name, schema)
	s.Required = []string{name}
	return openapi3.NewSchemaRef("", s)
}

// shortName is the last part of a full name.
func shortName(full string) string { return full[strings.LastIndexByte(full, '.')+1:] }

// sentence is the first one of a text.
func sentence(text string) string {
	text = strings.ReplaceAll(text, "\n", " ")
	if i := strings.Index(text, ". "); i >= 0 {
		text = text[:i]
	}
	return strings.TrimSuffix(text, ".")
}
