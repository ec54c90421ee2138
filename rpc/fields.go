package rpc

import (
	"context"
	"fmt"
	"slices"
)

// Field is one header field that crosses with a call, beside its message: where
// it stands in a trace, its id, who makes it. Name is in lower case.
type Field struct{ Name, Value string }

type (
	fieldsIn  struct{}
	fieldsOut struct{}
)

// FieldsIn gives the fields that came with the call that ctx is of. They must
// not be changed.
func FieldsIn(ctx context.Context) []Field {
	fields, _ := ctx.Value(fieldsIn{}).([]Field)
	return fields
}

// FieldIn gives the value of the field that came under a name, or "".
func FieldIn(ctx context.Context, name string) string { return valueOf(FieldsIn(ctx), name) }

// WithFieldsIn gives the context of a call that came with fields. Protocols
// call it, with one field of a name at most.
func WithFieldsIn(ctx context.Context, fields []Field) context.Context {
	return context.WithValue(ctx, fieldsIn{}, fields)
}

// FieldsOut gives the fields that go out with calls made under ctx. They must
// not be changed.
func FieldsOut(ctx context.Context) []Field {
	fields, _ := ctx.Value(fieldsOut{}).([]Field)
	return fields
}

// WithFieldsOut has fields go out with the calls that are made under the
// context, besides those of ctx. One of a name that is there takes its place,
// and without a value takes it away. What came in does not go out by itself:
// authorization is for one hop unless a service says otherwise.
//
// Only fields that a connection's options name do cross; CheckField says which
// values may.
func WithFieldsOut(ctx context.Context, fields ...Field) context.Context {
	all := slices.DeleteFunc(slices.Clone(FieldsOut(ctx)), func(f Field) bool {
		return slices.ContainsFunc(fields, func(g Field) bool { return g.Name == f.Name })
	})
	for i, f := range fields {
		again := slices.ContainsFunc(fields[i+1:], func(g Field) bool { return g.Name == f.Name })
		if f.Value != "" && !again {
			all = append(all, f)
		}
	}
	return context.WithValue(ctx, fieldsOut{}, all)
}

// Arrived gives the context that a call made under ctx has on the other side
// where both are one process: what goes out has come in, and nothing goes out.
func Arrived(ctx context.Context) context.Context {
	in, out := FieldsIn(ctx), FieldsOut(ctx)
	if len(in) == 0 && len(out) == 0 {
		return ctx
	}
	return WithFieldsIn(context.WithValue(ctx, fieldsOut{}, []Field(nil)), out)
}

func valueOf(fields []Field, name string) string {
	for _, f := range fields {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Bounds of a field. Baggage may be the longest.
// Source: www.w3.org/TR/baggage, section 3.3.2.
const (
	longestName  = 64
	longestValue = 8192
)

// CheckField says why a field cannot cross every protocol: names are those that
// gRPC allows for text, values printable ASCII without space at an end.
// Source: github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md, Custom-Metadata.
func CheckField(f Field) error {
	if f.Name == "" || len(f.Name) > longestName {
		return fmt.Errorf("field name %.80q: want 1 to %d characters", f.Name, longestName)
	}
	for _, c := range []byte(f.Name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return fmt.Errorf("field name %q: want lower-case letters, digits and - _ . alone", f.Name)
		}
	}
	switch v := f.Value; {
	case len(v) > longestValue:
		return fmt.Errorf("field %s: value of %d bytes, want at most %d", f.Name, len(v), longestValue)
	case v != "" && (v[0] == ' ' || v[len(v)-1] == ' '):
		return fmt.Errorf("field %s: value has space at an end", f.Name)
	}
	for i := range len(f.Value) {
		if c := f.Value[i]; c < ' ' || c > '~' {
			// The value may be a secret, and is not shown.
			return fmt.Errorf("field %s: byte %d of the value is not printable ASCII", f.Name, i+1)
		}
	}
	return nil
}
