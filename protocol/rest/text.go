package rest

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// asText are the messages whose JSON is one text, number or boolean. They stand
// in a query as that, without quotes.
var asText = map[protoreflect.FullName]bool{
	"google.protobuf.Timestamp": true, "google.protobuf.Duration": true, "google.protobuf.FieldMask": true,
	boolValue: true, "google.protobuf.StringValue": true, "google.protobuf.BytesValue": true,
	"google.protobuf.Int32Value": true, "google.protobuf.Int64Value": true,
	"google.protobuf.UInt32Value": true, "google.protobuf.UInt64Value": true,
	"google.protobuf.FloatValue": true, "google.protobuf.DoubleValue": true,
}

const boolValue = "google.protobuf.BoolValue" // the only one whose JSON may not stand in quotes

// bitsOf is how long the numbers of a kind are.
var bitsOf = map[protoreflect.Kind]int{
	protoreflect.Int32Kind: 32, protoreflect.Sint32Kind: 32, protoreflect.Sfixed32Kind: 32,
	protoreflect.Int64Kind: 64, protoreflect.Sint64Kind: 64, protoreflect.Sfixed64Kind: 64,
	protoreflect.Uint32Kind: 32, protoreflect.Fixed32Kind: 32,
	protoreflect.Uint64Kind: 64, protoreflect.Fixed64Kind: 64,
	protoreflect.FloatKind: 32, protoreflect.DoubleKind: 64,
}

// noElement is for fields that are no messages.
func noElement() protoreflect.Value { panic("a field of the path is no message") }

// parseText reads one value of f, as JSON of protobuf has it but for quotes.
// element makes what holds it, where that is a message.
func parseText(f protoreflect.FieldDescriptor, text string, element func() protoreflect.Value) (v protoreflect.Value, ok bool) {
	bits := bitsOf[f.Kind()]
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(text), utf8.ValidString(text)
	case protoreflect.BytesKind:
		b, err := parseBytes(text)
		return protoreflect.ValueOfBytes(b), err == nil
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(text == "true"), text == "true" || text == "false"
	case protoreflect.EnumKind:
		return parseEnum(f.Enum(), text)
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		n, ok := parseFloat(text, bits)
		if bits == 32 {
			return protoreflect.ValueOfFloat32(float32(n)), ok
		}
		return protoreflect.ValueOfFloat64(n), ok
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind, protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		n, err := strconv.ParseUint(text, 10, bits)
		if bits == 32 {
			return protoreflect.ValueOfUint32(uint32(n)), err == nil //nolint:gosec // ParseUint keeps to the bits
		}
		return protoreflect.ValueOfUint64(n), err == nil
	case protoreflect.MessageKind, protoreflect.GroupKind:
		v := element()
		return v, parseMessage(v.Message(), text)
	default:
		n, err := strconv.ParseInt(text, 10, bits)
		if bits == 32 {
			return protoreflect.ValueOfInt32(int32(n)), err == nil //nolint:gosec // ParseInt keeps to the bits
		}
		return protoreflect.ValueOfInt64(n), err == nil
	}
}

// parseBytes takes base64 of either alphabet, with padding or without.
func parseBytes(text string) ([]byte, error) {
	text = strings.TrimRight(text, "=")
	if strings.ContainsAny(text, "-_") {
		return base64.RawURLEncoding.DecodeString(text)
	}
	return base64.RawStdEncoding.DecodeString(text)
}

// parseEnum takes a name, or a number, which may be one without a name.
func parseEnum(e protoreflect.EnumDescriptor, text string) (protoreflect.Value, bool) {
	if named := e.Values().ByName(protoreflect.Name(text)); named != nil {
		return protoreflect.ValueOfEnum(named.Number()), true
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return protoreflect.ValueOfEnum(protoreflect.EnumNumber(n)), err == nil //nolint:gosec // of 32 bits
}

// What JSON of protobuf calls the numbers that have no digits.
var namedFloats = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}

func parseFloat(text string, bits int) (float64, bool) {
	if n, ok := namedFloats[text]; ok {
		return n, true
	}
	if strings.Trim(text, "+-.0123456789eE") != "" { // as hexadecimals and other names
		return 0, false
	}
	n, err := strconv.ParseFloat(text, bits)
	return n, err == nil
}

// parseMessage reads a message of asText.
func parseMessage(m protoreflect.Message, text string) bool {
	if m.Descriptor().FullName() == boolValue {
		return (text == "true" || text == "false") && protojson.Unmarshal([]byte(text), m.Interface()) == nil
	}
	quoted, err := json.Marshal(text)
	return err == nil && utf8.ValidString(text) && protojson.Unmarshal(quoted, m.Interface()) == nil
}

// kindOf says what a value of f would be, for a person.
func kindOf(f protoreflect.FieldDescriptor) string {
	switch {
	case f.Enum() != nil:
		return "of " + string(f.Enum().FullName())
	case f.Message() != nil:
		return "a " + string(f.Message().FullName())
	case f.Kind() == protoreflect.BytesKind:
		return "base64"
	case f.Kind() == protoreflect.StringKind:
		return "UTF-8"
	}
	return "of type " + f.Kind().String()
}

// formatText gives a value as parseText reads it.
func formatText(f protoreflect.FieldDescriptor, v protoreflect.Value) (string, error) {
	switch f.Kind() {
	case protoreflect.BytesKind:
		return base64.RawURLEncoding.EncodeToString(v.Bytes()), nil
	case protoreflect.EnumKind:
		if named := f.Enum().Values().ByNumber(v.Enum()); named != nil {
			return string(named.Name()), nil
		}
		return strconv.Itoa(int(v.Enum())), nil
	case protoreflect.FloatKind, protoreflect.DoubleKind:
		return formatFloat(v.Float(), bitsOf[f.Kind()]), nil
	case protoreflect.MessageKind, protoreflect.GroupKind:
		text, err := protojson.Marshal(v.Message().Interface())
		if err != nil || text[0] != '"' {
			return string(text), err
		}
		var plain string
		err = json.Unmarshal(text, &plain)
		return plain, err
	}
	return v.String(), nil
}

func formatFloat(n float64, bits int) string {
	for name, named := range namedFloats {
		if n == named || n != n && named != named {
			return name
		}
	}
	return strconv.FormatFloat(n, 'g', -1, bits)
}
