package avro

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/gen/comments"
)

// Schema gives the Avro schema of a message: a record with a field for each of
// the message's, in the order of their numbers in the file, by the schema's
// names. A field that may be absent is a union with null; each has protobuf's
// default, so that a reader does without it.
func Schema(m protoreflect.MessageDescriptor) (string, error) { return derive(m, nil) }

// Schemas gives the schemas of several messages as one, a union, in which no
// type is defined twice.
func Schemas(all ...protoreflect.MessageDescriptor) (string, error) {
	d := deriver{defined: make(map[protoreflect.FullName]bool)}
	var union []any
	for _, m := range all {
		if d.defined[m.FullName()] {
			continue
		}
		s, err := d.record(m, nil)
		if err != nil {
			return "", err
		}
		union = append(union, s)
	}
	return text(union)
}

// derive makes the schema of m. Where plain is a struct, its fields have the
// names that the struct gives them, and the schema's as aliases: no name is on
// the wire, the library finds a struct's fields by theirs, and so a plain
// struct needs no tags.
func derive(m protoreflect.MessageDescriptor, plain reflect.Type) (string, error) {
	d := deriver{defined: make(map[protoreflect.FullName]bool)}
	s, err := d.record(m, plain)
	if err != nil {
		return "", err
	}
	return text(s)
}

func text(schema any) (string, error) {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // the comments of the schema are for people
	err := e.Encode(schema)
	return out.String(), err
}

// The parts of a schema, with their members in the order in which people
// write them. A reference is the name as a string, a union a list.
type (
	named struct {
		Type      string   `json:"type"`
		Name      string   `json:"name"`
		Namespace string   `json:"namespace"`
		Doc       string   `json:"doc,omitempty"`
		Fields    []field  `json:"fields,omitempty"`
		Symbols   []string `json:"symbols,omitempty"`
		Default   string   `json:"default,omitempty"` // of an enum, for symbols that a reader does not know
	}
	field struct {
		Name    string   `json:"name"`
		Doc     string   `json:"doc,omitempty"`
		Type    any      `json:"type"`
		Default any      `json:"default"`
		Aliases []string `json:"aliases,omitempty"`
	}
	array struct {
		Type  string `json:"type"`
		Items any    `json:"items"`
	}
	dictionary struct {
		Type   string `json:"type"`
		Values any    `json:"values"`
	}
	logical struct {
		Type        string `json:"type"`
		LogicalType string `json:"logicalType"`
	}
)

type deriver struct {
	defined map[protoreflect.FullName]bool // what is defined once is a name from then on
}

func (d deriver) record(m protoreflect.MessageDescriptor, plain reflect.Type) (any, error) {
	if d.defined[m.FullName()] {
		return string(m.FullName()), nil
	}
	d.defined[m.FullName()] = true
	r := named{
		Type: "record", Name: string(m.Name()), Namespace: string(m.FullName().Parent()),
		Doc: comments.Of[string(m.FullName())],
	}
	for i := range m.Fields().Len() {
		f, err := d.field(m.Fields().Get(i), plain)
		if err != nil {
			return nil, err
		}
		r.Fields = append(r.Fields, f)
	}
	return r, nil
}

func (d deriver) field(f protoreflect.FieldDescriptor, plain reflect.Type) (field, error) {
	out := field{Name: string(f.Name()), Doc: comments.Of[string(f.FullName())]}
	var held reflect.Type
	if plain != nil {
		in, err := fieldOf(plain, f)
		if err != nil {
			return field{}, err
		}
		if in.Name != out.Name {
			out.Name, out.Aliases = in.Name, []string{out.Name}
		}
		held = in.Type
	}
	kind, zero, err := d.whole(f, held)
	if err != nil {
		return field{}, fmt.Errorf("%s: %w", f.FullName(), err)
	}
	out.Type, out.Default = kind, zero
	return out, nil
}

// fieldOf finds the struct's field for f: by its name in JSON, which is
// ProtoJSON's in plain structs, or by its own name.
func fieldOf(plain reflect.Type, f protoreflect.FieldDescriptor) (reflect.StructField, error) {
	for in := range plain.Fields() {
		name, _, _ := strings.Cut(in.Tag.Get("json"), ",")
		if name == f.JSONName() || name == "" && strings.EqualFold(in.Name, f.JSONName()) {
			return in, nil
		}
	}
	return reflect.StructField{}, fmt.Errorf("%s has no field for %s: %w", plain, f.FullName(), codec.ErrUnbound)
}

// whole is the type of a field with its default.
func (d deriver) whole(f protoreflect.FieldDescriptor, held reflect.Type) (kind, zero any, err error) {
	switch {
	case f.IsMap():
		if f.MapKey().Kind() != protoreflect.StringKind {
			return nil, nil, fmt.Errorf("keys of Avro's maps are strings: %w", codec.ErrUnbound)
		}
		kind, _, err = d.one(f.MapValue(), element(held))
		return dictionary{"map", kind}, struct{}{}, err
	case f.IsList():
		kind, _, err = d.one(f, element(held))
		return array{"array", kind}, []any{}, err
	}
	kind, zero, err = d.one(f, element(held))
	if f.HasPresence() {
		return []any{"null", kind}, nil, err
	}
	return kind, zero, err
}

// element is what a list, map or pointer holds, or else the type itself.
func element(t reflect.Type) reflect.Type {
	if t == nil {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Map:
		return element(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 {
			return element(t.Elem())
		}
	}
	return t
}

func (d deriver) one(f protoreflect.FieldDescriptor, held reflect.Type) (kind, zero any, err error) {
	switch f.Kind() {
	case protoreflect.EnumKind:
		return d.enum(f.Enum())
	case protoreflect.MessageKind:
		kind, err = d.message(f.Message(), held)
		return kind, nil, err
	}
	p, ok := primitives[f.Kind()]
	if !ok {
		return nil, nil, fmt.Errorf("no Avro type for %s: %w", f.Kind(), codec.ErrUnbound)
	}
	return p.name, p.zero, nil
}

// primitives are protobuf's scalars in Avro. Of 64 bits without a sign there is
// none.
var primitives = map[protoreflect.Kind]struct {
	name string
	zero any
}{
	protoreflect.BoolKind:     {"boolean", false},
	protoreflect.Int32Kind:    {"int", 0},
	protoreflect.Sint32Kind:   {"int", 0},
	protoreflect.Sfixed32Kind: {"int", 0},
	protoreflect.Uint32Kind:   {"long", 0},
	protoreflect.Fixed32Kind:  {"long", 0},
	protoreflect.Int64Kind:    {"long", 0},
	protoreflect.Sint64Kind:   {"long", 0},
	protoreflect.Sfixed64Kind: {"long", 0},
	protoreflect.FloatKind:    {"float", 0},
	protoreflect.DoubleKind:   {"double", 0},
	protoreflect.StringKind:   {"string", ""},
	protoreflect.BytesKind:    {"bytes", ""},
}

// message is a record, or for protobuf's own messages what Avro has for the
// same.
func (d deriver) message(m protoreflect.MessageDescriptor, plain reflect.Type) (any, error) {
	switch {
	case m.FullName() == "google.protobuf.Timestamp":
		return logical{"long", "timestamp-micros"}, nil
	case m.FullName().Parent() == "google.protobuf" && strings.HasSuffix(string(m.Name()), "Value") && m.Fields().Len() == 1:
		kind, _, err := d.one(m.Fields().Get(0), nil) // a wrapper: what is absent says is null
		return kind, err
	}
	return d.record(m, plain)
}

func (d deriver) enum(e protoreflect.EnumDescriptor) (kind, zero any, err error) {
	out := named{Type: "enum", Name: string(e.Name()), Namespace: string(e.FullName().Parent())}
	for i := range e.Values().Len() {
		v := e.Values().Get(i)
		if int(v.Number()) != i {
			return nil, nil, fmt.Errorf("%s does not count its values from 0, as Avro does: %w", e.FullName(), codec.ErrUnbound)
		}
		out.Symbols = append(out.Symbols, string(v.Name()))
	}
	out.Default = out.Symbols[0]
	out.Doc = comments.Of[string(e.FullName())]
	if d.defined[e.FullName()] {
		return string(e.FullName()), out.Default, nil
	}
	d.defined[e.FullName()] = true
	return out, out.Default, nil
}
