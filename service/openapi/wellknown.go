package openapi

import (
	"github.com/getkin/kin-openapi/openapi3"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// known describes the messages of google.protobuf whose JSON is not an object
// of their fields. Source: protobuf.dev/programming-guides/json.
var known = map[protoreflect.FullName]func() *openapi3.Schema{
	"google.protobuf.Timestamp":   openapi3.NewDateTimeSchema,
	"google.protobuf.Duration":    func() *openapi3.Schema { return text("").WithPattern(`^-?[0-9]+(\.[0-9]{1,9})?s$`) },
	"google.protobuf.FieldMask":   func() *openapi3.Schema { return text("Paths to fields, separated by commas.") },
	"google.protobuf.Struct":      anyObject,
	"google.protobuf.Empty":       openapi3.NewObjectSchema,
	"google.protobuf.Any":         anyMessage,
	"google.protobuf.Value":       openapi3.NewSchema,
	"google.protobuf.ListValue":   func() *openapi3.Schema { return openapi3.NewArraySchema().WithItems(openapi3.NewSchema()) },
	"google.protobuf.BoolValue":   func() *openapi3.Schema { return openapi3.NewBoolSchema().WithNullable() },
	"google.protobuf.StringValue": func() *openapi3.Schema { return text("").WithNullable() },
	"google.protobuf.BytesValue":  func() *openapi3.Schema { return openapi3.NewBytesSchema().WithNullable() },
	"google.protobuf.Int32Value":  func() *openapi3.Schema { return openapi3.NewInt32Schema().WithNullable() },
	"google.protobuf.UInt32Value": func() *openapi3.Schema { return uint32Schema().WithNullable() },
	"google.protobuf.Int64Value":  func() *openapi3.Schema { return digits("int64", signed).WithNullable() },
	"google.protobuf.UInt64Value": func() *openapi3.Schema { return digits("uint64", unsigned).WithNullable() },
	"google.protobuf.FloatValue":  func() *openapi3.Schema { return number("float", rules{}).WithNullable() },
	"google.protobuf.DoubleValue": func() *openapi3.Schema { return number("double", rules{}).WithNullable() },
}

// wellKnown describes such a message; it gives nil for all others.
func wellKnown(name protoreflect.FullName) *openapi3.Schema {
	if build := known[name]; build != nil {
		return build()
	}
	return nil
}

func text(description string) *openapi3.Schema {
	s := openapi3.NewStringSchema()
	s.Description = description
	return s
}

func anyObject() *openapi3.Schema { return openapi3.NewObjectSchema().WithAnyAdditionalProperties() }

func anyMessage() *openapi3.Schema {
	s := anyObject().WithProperty("@type", text("URL of the message's type."))
	s.Required = []string{"@type"}
	return s
}
