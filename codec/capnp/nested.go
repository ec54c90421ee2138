package capnp

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"capnproto.org/go/capnp/v3"
	"capnproto.org/go/capnp/v3/std/capnp/schema"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/codec/capnp/idl"
)

var errNotStruct = errors.New("is no struct")

// nested is the form of a message that another holds.
func (p planner) nested(m protoreflect.MessageDescriptor, at slot, held reflect.Type) (form, error) {
	if at.which != schema.Type_Which_structType {
		return form{}, fmt.Errorf("is %s in gen/capnp: run make generate", at.which)
	}
	in, err := layoutByID(at.of)
	if err != nil {
		return form{}, err
	}
	switch {
	case m.FullName() == idl.Timestamp:
		return timeAt(at.offset, in, held)
	case idl.IsWrapper(m) && held.Kind() == reflect.Pointer:
		value, err := scalar(m.Fields().Get(0), in.slots["value"], held.Elem())
		return pointed(at.offset, in.size, value, held), err
	case held.Kind() != reflect.Pointer:
		return form{}, fmt.Errorf("a message that may be absent is a pointer, and not %s", held)
	}
	inner, err := p.plan(m, held.Elem())
	return pointed(at.offset, in.size, form{inner.write, inner.read}, held), err
}

// pointed is the form of a pointer in Go that is one in Cap'n Proto too.
func pointed(offset uint32, size capnp.ObjectSize, inner form, held reflect.Type) form {
	i := uint16(offset) //nolint:gosec // a struct has less pointers
	return form{
		func(s capnp.Struct, v reflect.Value) error {
			if v.IsNil() {
				return nil
			}
			to, err := room(s, i, size)
			if err != nil {
				return err
			}
			return inner.write(to, v.Elem())
		},
		func(r *reader, s capnp.Struct, v reflect.Value) error {
			from, err := structAt(s, i)
			if err != nil || !from.IsValid() {
				return err
			}
			r.holds(from)
			v.Set(reflect.New(held.Elem()))
			return inner.read(r, from, v.Elem())
		},
	}
}

// room makes a struct that pointer i of s points to.
func room(s capnp.Struct, i uint16, size capnp.ObjectSize) (capnp.Struct, error) {
	to, err := capnp.NewStruct(s.Segment(), size)
	if err != nil {
		return capnp.Struct{}, err
	}
	return to, s.SetPtr(i, to.ToPtr())
}

// structAt is what pointer i of s points to: invalid where it points nowhere.
func structAt(s capnp.Struct, i uint16) (capnp.Struct, error) {
	p, err := s.Ptr(i)
	if err != nil || !p.IsValid() {
		return capnp.Struct{}, err
	}
	out := p.Struct()
	if !out.IsValid() {
		return capnp.Struct{}, errNotStruct
	}
	return out, nil
}

// timeAt is the form of a time, which is absent where it is zero.
func timeAt(offset uint32, in layout, held reflect.Type) (form, error) {
	i, pointer := uint16(offset), held.Kind() == reflect.Pointer //nolint:gosec // a struct has less pointers
	if held != reflect.TypeFor[time.Time]() && held != reflect.TypeFor[*time.Time]() {
		return form{}, fmt.Errorf("a time is not %s", held)
	}
	seconds, nanos := capnp.DataOffset(in.slots["seconds"].offset*8), capnp.DataOffset(in.slots["nanos"].offset*4)
	return form{
		func(s capnp.Struct, v reflect.Value) error {
			if v.IsZero() {
				return nil
			}
			if !pointer {
				v = v.Addr()
			}
			at := v.Interface().(*time.Time)
			to, err := room(s, i, in.size)
			if err != nil {
				return err
			}
			to.SetUint64(seconds, uint64(at.Unix()))     //nolint:gosec // the same bits
			to.SetUint32(nanos, uint32(at.Nanosecond())) //nolint:gosec // below 1e9
			return nil
		},
		func(r *reader, s capnp.Struct, v reflect.Value) error {
			from, err := structAt(s, i)
			if err != nil || !from.IsValid() {
				return err
			}
			r.holds(from)
			at := time.Unix(int64(from.Uint64(seconds)), int64(from.Uint32(nanos))).UTC() //nolint:gosec // the same bits
			if from.Uint32(nanos) >= 1e9 || at.Year() < 1 || at.Year() > 9999 {
				return errors.New("is no time of the years 1 to 9999")
			}
			if pointer {
				v.Set(reflect.New(v.Type().Elem()))
				v = v.Elem()
			}
			*v.Addr().Interface().(*time.Time) = at
			return nil
		},
	}, nil
}
