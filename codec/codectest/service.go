package codectest

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"
	"pgregory.net/rapid"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/rpc"
)

// Service holds c to the identity for any message of a service's methods, and
// of the types beside, that keeps to the schema: enums have named values, and
// times are whole microseconds.
func Service(t *testing.T, c codec.Codec, svc *rpc.Service, beside ...*rpc.Type) {
	types := beside
	for _, m := range svc.Methods {
		types = append(types, m.In, m.Out)
	}
	for _, typ := range types {
		t.Run(typ.Name, func(t *testing.T) {
			b, err := c.Bind(typ)
			if err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				m := typ.NewProto()
				fill(t, m.ProtoReflect(), 5)
				wantIdentity(t, b, typ.FromProto(m))
			})
		})
	}
}

// fill sets fields of a message to what rapid draws, nested at most so deep.
func fill(t *rapid.T, m protoreflect.Message, depth int) {
	if at, ok := m.Interface().(*timestamppb.Timestamp); ok {
		proto.Merge(at, timestamppb.New(anyTime.Draw(t, "time")))
		return
	}
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		nested := f.Kind() == protoreflect.MessageKind && !f.IsMap()
		if nested && depth == 0 || rapid.IntRange(0, 3).Draw(t, "absent") == 0 {
			continue
		}
		switch {
		case f.IsMap(): // no schema but conformance's has one, and that has examples
		case f.IsList():
			list := m.Mutable(f).List()
			for range rapid.IntRange(1, 3).Draw(t, "length") {
				if nested {
					fill(t, list.AppendMutable().Message(), depth-1)
				} else {
					list.Append(scalar(t, f))
				}
			}
		case nested:
			fill(t, m.Mutable(f).Message(), depth-1)
		default:
			m.Set(f, scalar(t, f))
		}
	}
}

// anyTime draws from all that protobuf has: the years 1 to 9999.
var anyTime = rapid.Custom(func(t *rapid.T) time.Time {
	first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
	return time.UnixMicro(rapid.Int64Range(first.UnixMicro(), last.UnixMicro()).Draw(t, "µs"))
})

func scalar(t *rapid.T, f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(rapid.Bool().Draw(t, "bool"))
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(rapid.IntRange(0, values.Len()-1).Draw(t, "enum")).Number())
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(rapid.Int32().Draw(t, "int32"))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(rapid.Int64().Draw(t, "int64"))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(rapid.Float64().Draw(t, "double"))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(rapid.String().Draw(t, "string"))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	}
	panic("codectest: no " + f.Kind().String() + " is drawn: give scalar a line for it")
}
