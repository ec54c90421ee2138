package openapi_test

import (
	"strings"
	"testing"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
	_ "google.golang.org/protobuf/types/known/anypb" // that the schemas below find it
	_ "google.golang.org/protobuf/types/known/durationpb"
	_ "google.golang.org/protobuf/types/known/fieldmaskpb"
	_ "google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/openapi"
)

// shape declares a message of one field, named "f".
type shape struct {
	kind   string // as in descriptor.proto, or the full name of a message or of an enum
	rules  string // FieldRules in the text format
	list   bool
	asMap  bool // of text to the kind
	asJSON map[string]any
}

var shapes = map[string]shape{
	"bool":     {kind: "TYPE_BOOL", asJSON: map[string]any{"type": "boolean"}},
	"uint32":   {kind: "TYPE_UINT32", asJSON: map[string]any{"type": "integer", "format": "int64", "minimum": 0.0, "maximum": 4294967295.0}},
	"fixed64":  {kind: "TYPE_FIXED64", asJSON: map[string]any{"type": "string", "format": "uint64", "pattern": "^[0-9]+$"}},
	"sfixed64": {kind: "TYPE_SFIXED64", asJSON: map[string]any{"type": "string", "format": "int64", "pattern": "^-?[0-9]+$"}},
	"float": {kind: "TYPE_FLOAT", rules: "float {gt: 0 lt: 1}", asJSON: map[string]any{"anyOf": []any{
		map[string]any{"type": "number", "format": "float", "minimum": 0.0, "exclusiveMinimum": true, "maximum": 1.0, "exclusiveMaximum": true},
		map[string]any{"type": "string", "enum": []any{"NaN", "Infinity", "-Infinity"}},
	}}},

	"timestamp":   {kind: "google.protobuf.Timestamp", asJSON: map[string]any{"type": "string", "format": "date-time"}},
	"duration":    {kind: "google.protobuf.Duration", asJSON: map[string]any{"type": "string", "pattern": `^-?[0-9]+(\.[0-9]{1,9})?s$`}},
	"int64 value": {kind: "google.protobuf.Int64Value", asJSON: map[string]any{"type": "string", "format": "int64", "pattern": "^-?[0-9]+$", "nullable": true}},
	"list value":  {kind: "google.protobuf.ListValue", asJSON: map[string]any{"type": "array", "items": map[string]any{}}},
	"any": {kind: "google.protobuf.Any", asJSON: map[string]any{
		"type": "object", "additionalProperties": true, "required": []any{"@type"},
		"properties": map[string]any{"@type": map[string]any{"type": "string", "description": "URL of the message's type."}},
	}},

	"text of a length": {kind: "TYPE_STRING", rules: "string {len: 3}", asJSON: map[string]any{"type": "string", "minLength": 3.0, "maxLength": 3.0}},
	"text up to":       {kind: "TYPE_STRING", rules: "string {min_bytes: 2 max_len: 9}", asJSON: map[string]any{"type": "string", "minLength": 1.0, "maxLength": 9.0, "description": "At least 2 bytes in UTF-8."}},
	"text of a format": {kind: "TYPE_STRING", rules: "string {uuid: true}", asJSON: map[string]any{"type": "string", "format": "uuid"}},
	"text of parts":    {kind: "TYPE_STRING", rules: `string {prefix: "a" not_contains: "\000"}`, asJSON: map[string]any{"type": "string", "description": "Begins with `a`. Does not hold the character U+0000."}},
	"text out of some": {kind: "TYPE_STRING", rules: `string {in: "a" in: "b"}`, asJSON: map[string]any{"type": "string", "enum": []any{"a", "b"}}},
	"one number":       {kind: "TYPE_INT32", rules: "int32 {const: 7}", asJSON: map[string]any{"type": "integer", "format": "int32", "enum": []any{7.0}}},
	"positive":         {kind: "TYPE_INT64", rules: "int64 {gt: 0 lt: 9007199254740993}", asJSON: map[string]any{"type": "string", "format": "int64", "pattern": "^0*[1-9][0-9]*$", "description": "More than 0. Less than 9007199254740993."}},
	"outside a range":  {kind: "TYPE_INT32", rules: "int32 {gt: 9 lt: 1}", asJSON: map[string]any{"type": "integer", "format": "int32"}},
	"spared zero":      {kind: "TYPE_STRING", rules: "ignore: IGNORE_IF_ZERO_VALUE string {min_len: 3}", asJSON: map[string]any{"type": "string"}},
	"words":            {kind: "TYPE_STRING", rules: `cel {id: "x" message: "must rhyme." expression: "true"}`, asJSON: map[string]any{"type": "string", "description": "Must rhyme."}},
	"list": {kind: "TYPE_STRING", list: true, rules: "repeated {min_items: 1 max_items: 2 unique: true items {string {min_len: 4}}}", asJSON: map[string]any{
		"type": "array", "minItems": 1.0, "maxItems": 2.0, "uniqueItems": true, "items": map[string]any{"type": "string", "minLength": 4.0},
	}},
	"map": {kind: "TYPE_INT64", asMap: true, rules: "map {min_pairs: 1 max_pairs: 2 values {int64 {gte: 0}}}", asJSON: map[string]any{
		"type": "object", "minProperties": 1.0, "maxProperties": 2.0,
		"additionalProperties": map[string]any{"type": "string", "format": "int64", "pattern": "^[0-9]+$"},
	}},
	"enum without zero": {kind: "tare.orders.v1.OrderStatus", rules: "enum {not_in: 0 not_in: 2}", asJSON: map[string]any{
		"type": "string", "enum": []any{"ORDER_STATUS_PAID", "ORDER_STATUS_REFUSED"},
		"description": "OrderStatus is where an order stands.\n\n- `ORDER_STATUS_PAID`: Accepted and paid.\n- `ORDER_STATUS_REFUSED`: Its payment was refused; nothing was charged.",
	}},
	"one of an enum": {kind: "tare.orders.v1.OrderStatus", rules: "enum {in: 2}", asJSON: map[string]any{
		"type": "string", "enum": []any{"ORDER_STATUS_PENDING"},
		"description": "OrderStatus is where an order stands.\n\n- `ORDER_STATUS_PENDING`: Kept; whether it is paid is not known yet, and will be settled.",
	}},
}

// declare gives the message of a shape.
func (s shape) declare(t *testing.T) *rpc.Type {
	t.Helper()
	field := &descriptorpb.FieldDescriptorProto{Name: proto.String("f"), Number: proto.Int32(1), Options: &descriptorpb.FieldOptions{}}
	if s.list {
		field.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	}
	if s.rules != "" {
		rules := &validate.FieldRules{}
		if err := prototext.Unmarshal([]byte(s.rules), rules); err != nil {
			t.Fatal(err)
		}
		proto.SetExtension(field.Options, validate.E_Field, rules)
	}
	file := &descriptorpb.FileDescriptorProto{
		Name: proto.String("shape.proto"), Package: proto.String("shape"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Shape"), Field: []*descriptorpb.FieldDescriptorProto{field}}},
	}
	if number, scalar := descriptorpb.FieldDescriptorProto_Type_value[s.kind]; scalar {
		field.Type = descriptorpb.FieldDescriptorProto_Type(number).Enum()
	} else {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(s.kind))
		if err != nil {
			t.Fatal(err)
		}
		field.TypeName = proto.String("." + s.kind)
		field.Type = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum()
		if _, isEnum := d.(protoreflect.EnumDescriptor); isEnum {
			field.Type = descriptorpb.FieldDescriptorProto_TYPE_ENUM.Enum()
		}
		file.Dependency = []string{d.ParentFile().Path()}
	}
	if s.asMap {
		asMap(file.MessageType[0])
	}
	f, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	return typ(dynamicpb.NewMessage(f.Messages().Get(0)))
}

// asMap makes the message's field a map from text to what it was.
func asMap(m *descriptorpb.DescriptorProto) {
	field := m.Field[0]
	value := proto.CloneOf(field)
	value.Name, value.Number, value.Options = proto.String("value"), proto.Int32(2), nil
	m.NestedType = []*descriptorpb.DescriptorProto{{
		Name: proto.String("FEntry"), Options: &descriptorpb.MessageOptions{MapEntry: proto.Bool(true)},
		Field: []*descriptorpb.FieldDescriptorProto{
			{Name: proto.String("key"), Number: proto.Int32(1), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum()}, value,
		},
	}}
	field.Label = descriptorpb.FieldDescriptorProto_LABEL_REPEATED.Enum()
	field.Type, field.TypeName = descriptorpb.FieldDescriptorProto_TYPE_MESSAGE.Enum(), proto.String(".shape.Shape.FEntry")
}

func TestRulesOfAMessageAreWords(t *testing.T) {
	rules := &validate.MessageRules{}
	if err := prototext.Unmarshal([]byte(
		`cel {id: "x" message: "a and b must agree" expression: "true"} oneof {fields: "a" fields: "b" required: true}`), rules); err != nil {
		t.Fatal(err)
	}
	options := &descriptorpb.MessageOptions{Deprecated: proto.Bool(true)}
	proto.SetExtension(options, validate.E_Message, rules)
	var fields []*descriptorpb.FieldDescriptorProto
	for i, name := range []string{"a", "b", "c", "d"} {
		f := &descriptorpb.FieldDescriptorProto{
			Name: &name, JsonName: &name, Number: proto.Int32(int32(i + 1)), Type: descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(),
		}
		if name > "b" {
			f.OneofIndex = proto.Int32(0)
		}
		fields = append(fields, f)
	}
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("shape.proto"), Package: proto.String("shape"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{
			Name: proto.String("Shape"), Field: fields, Options: options,
			OneofDecl: []*descriptorpb.OneofDescriptorProto{{Name: proto.String("either")}},
		}},
	}, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	m := &rpc.Method{Name: "M", Route: "POST /m", In: typ(dynamicpb.NewMessage(file.Messages().Get(0)))}
	m.Out = m.In
	doc := document(t, service("x.X", m))
	if got, want := at(t, doc, "components", "schemas", "shape.Shape", "description"), "A and b must agree. Just one of a, b. At most one of c, d."; got != want {
		t.Errorf("the message says %q, want %q", got, want)
	}
	if at(t, doc, "components", "schemas", "shape.Shape", "deprecated") != true {
		t.Error("the message is not deprecated")
	}
}

func TestShapes(t *testing.T) {
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			m := &rpc.Method{Name: "M", Route: "POST /m", In: s.declare(t)}
			m.Out = m.In
			got := at(t, document(t, service("x.X", m)), "components", "schemas", "shape.Shape", "properties", "f")
			if diff := cmp.Diff(any(s.asJSON), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestShapesInAQuery(t *testing.T) {
	for name, fits := range map[string]bool{
		"timestamp": true, "int64 value": true, "float": true, "list": true, "one of an enum": true,
		"list value": false, "any": false,
	} {
		m := &rpc.Method{Name: "M", Route: "GET /m", In: shapes[name].declare(t)}
		m.Out = m.In
		_, err := openapi.New(t.Context(), openapi.About{Title: "T", Version: "1"}, service("x.X", m))
		if (err == nil) != fits || err != nil && !strings.Contains(err.Error(), "shape.Shape.f is of a kind that cannot stand in a query") {
			t.Errorf("%s in a query: %v", name, err)
		}
	}
}
