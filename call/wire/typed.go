package wire

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/jhump/protoreflect/v2/protoresolve"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/call/schema"
)

// Show writes a message as JSON to out, and to aside what its JSON leaves out:
// fields that its type does not have, and what is of no known type.
func Show(out, aside io.Writer, m proto.Message, types protoresolve.SerializationResolver) error {
	text, unknown, err := schema.JSON(m, types)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "%s\n", text); err != nil {
		return err
	}
	for _, url := range unknown {
		fmt.Fprintf(aside, "tare: warning: no schema of %s, whose content is left out\n", url)
	}
	for _, f := range unknownFields(m.ProtoReflect(), "") {
		fmt.Fprintf(aside, "tare: warning: the schema has no field %s\n", f)
	}
	return nil
}

// unknownFields lists, with their paths, the fields that types do not have.
func unknownFields(m protoreflect.Message, path string) (all []string) {
	fields, err := Parse(m.GetUnknown())
	for _, f := range fields {
		all = append(all, path+Line([]Field{f}))
	}
	if err != nil { // of a message that did not parse to its end
		all = append(all, path+"…: "+err.Error())
	}
	m.Range(func(d protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := path + string(d.Name())
		switch {
		case d.IsMap() && d.MapValue().Message() != nil:
			v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				all = append(all, unknownFields(v.Message(), fmt.Sprintf("%s[%v].", name, k))...)
				return true
			})
		case d.IsList() && d.Message() != nil:
			for i := range v.List().Len() {
				all = append(all, unknownFields(v.List().Get(i).Message(), fmt.Sprintf("%s[%d].", name, i))...)
			}
		case !d.IsMap() && !d.IsList() && d.Message() != nil:
			all = append(all, unknownFields(v.Message(), name+".")...)
		}
		return true
	})
	return all
}

// unmarshal reads b as a message of a type. With an error, which is an *Error,
// the message has what could be read before it.
func unmarshal(b []byte, t protoreflect.MessageType, types protoresolve.SerializationResolver) (proto.Message, error) {
	m := t.New().Interface()
	err := proto.UnmarshalOptions{Resolver: types, RecursionLimit: maxDepth, AllowPartial: true}.Unmarshal(b, m)
	if err == nil {
		return m, nil
	}
	if at := locate(b, 0, t.Descriptor(), nil); at != nil {
		return m, at
	}
	return m, fmt.Errorf("%s: %s", t.Descriptor().FullName(), strings.TrimLeft(strings.TrimPrefix(err.Error(), "proto:"), " \u00a0"))
}

// locate finds where b, which begins at byte base of the input, is no message of
// type d. path names the fields that b stands in.
func locate(b []byte, base int, d protoreflect.MessageDescriptor, path []string) *Error {
	if len(path) > maxDepth {
		return &Error{base, fmt.Sprintf("messages within messages, more than %d deep", maxDepth)}
	}
	for at := 0; at < len(b); {
		number, kind, n := protowire.ConsumeTag(b[at:])
		if n < 0 {
			return &Error{base + at, "no field begins: " + reason(n)}
		}
		f := d.Fields().ByNumber(number)
		name := fmt.Sprintf("field %d", number)
		if f != nil {
			name = strings.Join(append(path, string(f.Name())), ".")
		}
		value := b[at+n:]
		m := protowire.ConsumeFieldValue(number, kind, value)
		if m < 0 {
			return &Error{base + at, fmt.Sprintf("%s: %v", name, tooShort(kind, value, m))}
		}
		if f != nil && kind == protowire.BytesType {
			content, _ := protowire.ConsumeBytes(value)
			start := base + at + n + m - len(content)
			if f.Kind() == protoreflect.StringKind && !utf8.Valid(content) {
				return &Error{start, name + ": its text is not UTF-8"}
			}
			if f.Message() != nil && f.Kind() != protoreflect.GroupKind {
				if err := locate(content, start, f.Message(), append(path, string(f.Name()))); err != nil {
					return err
				}
			}
		}
		at += n + m
	}
	return nil
}

func tooShort(kind protowire.Type, value []byte, n int) string {
	if length, m := protowire.ConsumeVarint(value); kind == protowire.BytesType && m > 0 {
		return fmt.Sprintf("it says that it has %d bytes, and %d are left", length, len(value)-m)
	}
	return reason(n)
}
