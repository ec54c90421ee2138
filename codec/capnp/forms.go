package capnp

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"unicode/utf8"

	"capnproto.org/go/capnp/v3"
	"capnproto.org/go/capnp/v3/std/capnp/schema"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/codec/capnp/idl"
)

var (
	errNotText = errors.New("is no text")
	errNotUTF8 = errors.New("is not UTF-8")
	errNotData = errors.New("is no data")
	errNotList = errors.New("is no list of its type")
)

// scalar is the form of a field of one value that is no message.
func scalar(f protoreflect.FieldDescriptor, at slot, held reflect.Type) (form, error) {
	type fit struct {
		is   protoreflect.Kind
		as   schema.Type_Which
		held reflect.Kind
	}
	off := at.offset
	switch (fit{f.Kind(), at.which, held.Kind()}) {
	case fit{protoreflect.BoolKind, schema.Type_Which_bool, reflect.Bool}:
		return boolAt(capnp.BitOffset(off)), nil
	case fit{protoreflect.Int32Kind, schema.Type_Which_int32, reflect.Int32}:
		return int32At(capnp.DataOffset(off * 4)), nil
	case fit{protoreflect.Int64Kind, schema.Type_Which_int64, reflect.Int64}:
		return int64At(capnp.DataOffset(off * 8)), nil
	case fit{protoreflect.DoubleKind, schema.Type_Which_float64, reflect.Float64}:
		return float64At(capnp.DataOffset(off * 8)), nil
	case fit{protoreflect.EnumKind, schema.Type_Which_enum, reflect.Int32}:
		if at.of == idl.ID(string(f.Enum().FullName())) {
			return enumAt(capnp.DataOffset(off * 2)), nil
		}
	case fit{protoreflect.StringKind, schema.Type_Which_text, reflect.String}:
		return textAt(uint16(off)), nil //nolint:gosec // a struct has less pointers
	case fit{protoreflect.BytesKind, schema.Type_Which_data, reflect.Slice}:
		return dataAt(uint16(off)), nil //nolint:gosec // a struct has less pointers
	}
	return form{}, mismatch(f, at, held)
}

func boolAt(off capnp.BitOffset) form {
	return form{
		func(s capnp.Struct, v reflect.Value) error { s.SetBit(off, v.Bool()); return nil },
		func(_ *reader, s capnp.Struct, v reflect.Value) error { v.SetBool(s.Bit(off)); return nil },
	}
}

func int32At(off capnp.DataOffset) form {
	return form{
		func(s capnp.Struct, v reflect.Value) error { s.SetUint32(off, uint32(v.Int())); return nil }, //nolint:gosec // the same bits
		func(_ *reader, s capnp.Struct, v reflect.Value) error {
			v.SetInt(int64(int32(s.Uint32(off))))
			return nil
		}, //nolint:gosec // the same bits
	}
}

func int64At(off capnp.DataOffset) form {
	return form{
		func(s capnp.Struct, v reflect.Value) error { s.SetUint64(off, uint64(v.Int())); return nil },         //nolint:gosec // the same bits
		func(_ *reader, s capnp.Struct, v reflect.Value) error { v.SetInt(int64(s.Uint64(off))); return nil }, //nolint:gosec // the same bits
	}
}

func float64At(off capnp.DataOffset) form {
	return form{
		func(s capnp.Struct, v reflect.Value) error { s.SetUint64(off, math.Float64bits(v.Float())); return nil },
		func(_ *reader, s capnp.Struct, v reflect.Value) error {
			v.SetFloat(math.Float64frombits(s.Uint64(off)))
			return nil
		},
	}
}

func enumAt(off capnp.DataOffset) form {
	return form{
		func(s capnp.Struct, v reflect.Value) error {
			n, err := enum(v)
			s.SetUint16(off, n)
			return err
		},
		func(_ *reader, s capnp.Struct, v reflect.Value) error { v.SetInt(int64(s.Uint16(off))); return nil },
	}
}

// enum gives an enum's number, for which Cap'n Proto has 16 bits.
func enum(v reflect.Value) (uint16, error) {
	n := v.Int()
	if n < 0 || n > math.MaxUint16 {
		return 0, fmt.Errorf("%d is no number that Cap'n Proto has for an enum", n)
	}
	return uint16(n), nil
}

func textAt(i uint16) form {
	return form{
		func(s capnp.Struct, v reflect.Value) error { return s.SetText(i, v.String()) },
		func(r *reader, s capnp.Struct, v reflect.Value) error {
			p, err := s.Ptr(i)
			if err != nil {
				return err
			}
			return setText(r, p, v)
		},
	}
}

// setText copies a text. The library gives "" for what is none.
func setText(r *reader, p capnp.Ptr, v reflect.Value) error {
	text := p.TextBytes()
	switch {
	case !p.IsValid():
		return nil
	case text == nil:
		return errNotText
	case !utf8.Valid(text):
		return errNotUTF8
	}
	r.bytes(len(text) + 1)
	v.SetString(string(text))
	return nil
}

func dataAt(i uint16) form {
	return form{
		func(s capnp.Struct, v reflect.Value) error {
			if v.Len() == 0 {
				return nil
			}
			return s.SetData(i, v.Bytes())
		},
		func(r *reader, s capnp.Struct, v reflect.Value) error {
			p, err := s.Ptr(i)
			if err != nil || !p.IsValid() {
				return err
			}
			data := p.Data()
			if data == nil {
				return errNotData
			}
			r.bytes(len(data))
			v.SetBytes(append([]byte(nil), data...))
			return nil
		},
	}
}
