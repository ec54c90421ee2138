package openapi

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"buf.build/go/protovalidate"
	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tare-bench/tare/gen/comments"
)

// message refers to the component of a message, and makes it if need be. It
// bears the message's full name.
func (b *builder) message(d protoreflect.MessageDescriptor) (*openapi3.SchemaRef, error) {
	if known := wellKnown(d.FullName()); known != nil {
		return openapi3.NewSchemaRef("", known), nil
	}
	return b.component(d.FullName(), func() (*openapi3.Schema, error) { return b.object(d, nil) })
}

// without refers to a message that lacks some fields.
func (b *builder) without(d protoreflect.MessageDescriptor, except []string) (*openapi3.SchemaRef, error) {
	if len(except) == 0 {
		return b.message(d)
	}
	schema, err := b.object(d, except)
	return openapi3.NewSchemaRef("", schema), err
}

// component refers to a schema by name. Messages may hold themselves: the name
// is there before the schema is.
func (b *builder) component(name protoreflect.FullName, build func() (*openapi3.Schema, error)) (*openapi3.SchemaRef, error) {
	ref := openapi3.NewSchemaRef("#/components/schemas/"+string(name), nil)
	if b.seen[name] {
		return ref, nil
	}
	b.seen[name] = true
	schema, err := build()
	if err != nil {
		return nil, err
	}
	b.doc.Components.Schemas[string(name)] = openapi3.NewSchemaRef("", schema)
	return ref, nil
}

func (b *builder) object(d protoreflect.MessageDescriptor, except []string) (*openapi3.Schema, error) {
	s := openapi3.NewObjectSchema()
	s.Description = paragraphs(comments.Of[string(d.FullName())], messageRules(d)...)
	s.Deprecated = d.Options().(*descriptorpb.MessageOptions).GetDeprecated()
	required, err := b.required(d)
	if err != nil {
		return nil, err
	}
	for f := range fields(d) {
		if slices.Contains(except, string(f.Name())) {
			continue
		}
		property, err := b.field(f)
		if err != nil {
			return nil, err
		}
		s.WithPropertyRef(f.JSONName(), property)
		if slices.Contains(required, f.JSONName()) {
			s.Required = append(s.Required, f.JSONName())
		}
	}
	return s, nil
}

// required are the fields, by JSON name, that a message must bring: those with
// a rule that an absent field breaks. An absent number is 0, an absent text
// empty, so that the rules themselves have the answer.
func (b *builder) required(d protoreflect.MessageDescriptor) (names []string, err error) {
	err = b.validator.Validate(dynamicpb.NewMessage(d))
	var broken *protovalidate.ValidationError
	switch {
	case err == nil:
		return nil, nil
	case !errors.As(err, &broken):
		return nil, fmt.Errorf("check the rules of %s: %w", d.FullName(), err)
	}
	for _, v := range broken.Violations {
		path := v.Proto.GetField().GetElements()
		if len(path) == 0 { // a rule of the whole message
			continue
		}
		if f := d.Fields().ByNumber(protoreflect.FieldNumber(path[0].GetFieldNumber())); f != nil {
			names = append(names, f.JSONName())
		}
	}
	return names, nil
}

func fields(d protoreflect.MessageDescriptor) iter.Seq[protoreflect.FieldDescriptor] {
	return func(yield func(protoreflect.FieldDescriptor) bool) {
		for i := range d.Fields().Len() {
			if !yield(d.Fields().Get(i)) {
				return
			}
		}
	}
}

// field describes a field's JSON value, with its rules and its comment.
func (b *builder) field(f protoreflect.FieldDescriptor) (*openapi3.SchemaRef, error) {
	rules := rulesOf(f)
	var schema *openapi3.SchemaRef
	var err error
	switch {
	case f.IsMap():
		schema, err = b.mapField(f, rules)
	case f.IsList():
		schema, err = b.list(f, rules)
	default:
		schema, err = b.value(f, rules)
	}
	if err != nil {
		return nil, err
	}
	text := paragraphs(comments.Of[string(f.FullName())], rules.words()...)
	deprecated := f.Options().(*descriptorpb.FieldOptions).GetDeprecated()
	if text == "" && !deprecated {
		return schema, nil
	}
	if schema.Ref != "" { // OpenAPI 3.0 ignores what stands beside a reference
		schema = openapi3.NewSchemaRef("", &openapi3.Schema{AllOf: openapi3.SchemaRefs{schema}})
	}
	schema.Value.Description, schema.Value.Deprecated = text, deprecated
	return schema, nil
}

func (b *builder) mapField(f protoreflect.FieldDescriptor, r rules) (*openapi3.SchemaRef, error) {
	values, err := b.value(f.MapValue(), r.each("values"))
	if err != nil {
		return nil, err
	}
	s := openapi3.NewObjectSchema()
	s.AdditionalProperties = openapi3.AdditionalProperties{Schema: values}
	r.boundMap(s)
	return openapi3.NewSchemaRef("", s), nil
}

func (b *builder) list(f protoreflect.FieldDescriptor, r rules) (*openapi3.SchemaRef, error) {
	items, err := b.value(f, r.each("items"))
	if err != nil {
		return nil, err
	}
	s := openapi3.NewArraySchema()
	s.Items = items
	r.boundList(s)
	return openapi3.NewSchemaRef("", s), nil
}

// value describes one value, as ProtoJSON writes it.
// Source: protobuf.dev/programming-guides/json.
func (b *builder) value(f protoreflect.FieldDescriptor, r rules) (*openapi3.SchemaRef, error) {
	var s *openapi3.Schema
	switch f.Kind() {
	case protoreflect.MessageKind, protoreflect.GroupKind:
		return b.message(f.Message())
	case protoreflect.EnumKind:
		return b.enum(f.Enum(), r)
	case protoreflect.BoolKind:
		s = openapi3.NewBoolSchema()
	case protoreflect.StringKind:
		s = openapi3.NewStringSchema()
		r.boundText(s)
	case protoreflect.BytesKind:
		s = openapi3.NewBytesSchema()
	case protoreflect.FloatKind:
		s = number("float", r)
	case protoreflect.DoubleKind:
		s = number("double", r)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		s = openapi3.NewInt32Schema()
		r.boundNumber(s)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		s = uint32Schema()
		r.boundNumber(s)
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		s = digits("int64", signed)
		r.boundDigits(s)
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		s = digits("uint64", unsigned)
		r.boundDigits(s)
	default:
		return nil, fmt.Errorf("%s is of an unknown kind, %s", f.FullName(), f.Kind())
	}
	return openapi3.NewSchemaRef("", s), nil
}

// Patterns of whole numbers.
const (
	signed   = `^-?[0-9]+$`
	unsigned = `^[0-9]+$`
	positive = `^0*[1-9][0-9]*$`
)

// digits is a number of 64 bits, which is a string in JSON: programs that read
// JSON numbers as doubles would change it.
func digits(format, pattern string) *openapi3.Schema {
	return openapi3.NewStringSchema().WithFormat(format).WithPattern(pattern)
}

func uint32Schema() *openapi3.Schema { return openapi3.NewInt64Schema().WithMin(0).WithMax(1<<32 - 1) }

// number is a floating-point number; JSON has no number for three of them.
func number(format string, r rules) *openapi3.Schema {
	s := openapi3.NewFloat64Schema().WithFormat(format)
	r.boundNumber(s)
	return openapi3.NewAnyOfSchema(s, openapi3.NewStringSchema().WithEnum("NaN", "Infinity", "-Infinity"))
}

// enum refers to the component of an enum; one that rules narrow is a schema of
// its own.
func (b *builder) enum(d protoreflect.EnumDescriptor, r rules) (*openapi3.SchemaRef, error) {
	build := func(allowed func(int64) bool) *openapi3.Schema {
		s := openapi3.NewStringSchema()
		var lines []string
		for i := range d.Values().Len() {
			v := d.Values().Get(i)
			if !allowed(int64(v.Number())) {
				continue
			}
			s.Enum = append(s.Enum, string(v.Name()))
			if text := comments.Of[string(v.FullName())]; text != "" {
				lines = append(lines, "- `"+string(v.Name())+"`: "+text)
			}
		}
		s.Description = comments.Of[string(d.FullName())]
		for i, line := range lines {
			if i == 0 {
				s.Description += "\n"
			}
			s.Description += "\n" + line
		}
		return s
	}
	if allowed := r.numbers(); allowed != nil {
		return openapi3.NewSchemaRef("", build(allowed)), nil
	}
	return b.component(d.FullName(), func() (*openapi3.Schema, error) {
		return build(func(int64) bool { return true }), nil
	})
}
