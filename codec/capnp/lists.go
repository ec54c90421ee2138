package capnp

import (
	"fmt"
	"reflect"

	"capnproto.org/go/capnp/v3"
	"capnproto.org/go/capnp/v3/std/capnp/schema"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/codec"
)

// list is the form of a list.
func (p planner) list(f protoreflect.FieldDescriptor, at slot, held reflect.Type) (form, error) {
	if at.which != schema.Type_Which_list || held.Kind() != reflect.Slice {
		return form{}, mismatch(f, at, held)
	}
	i := uint16(at.offset) //nolint:gosec // a struct has less pointers
	switch element := held.Elem(); {
	case f.Kind() == protoreflect.MessageKind && at.element == schema.Type_Which_structType:
		in, err := layoutByID(at.of)
		if err != nil {
			return form{}, err
		}
		inner, err := p.plan(f.Message(), element)
		return structsAt(i, in.size, inner), err
	case f.Kind() == protoreflect.StringKind && at.element == schema.Type_Which_text && element.Kind() == reflect.String:
		return textsAt(i), nil
	case f.Kind() == protoreflect.EnumKind && at.element == schema.Type_Which_enum && element.Kind() == reflect.Int32:
		return enumsAt(i), nil
	}
	return form{}, fmt.Errorf("no form for a list of %s in %s: %w", f.Kind(), held, codec.ErrUnbound)
}

// listAt is the list that pointer i of s points to, and how long it is: 0 where
// it points nowhere.
func listAt(r *reader, s capnp.Struct, i uint16) (capnp.List, int, error) {
	p, err := s.Ptr(i)
	if err != nil || !p.IsValid() {
		return capnp.List{}, 0, err
	}
	l := p.List()
	if !l.IsValid() {
		return capnp.List{}, 0, errNotList
	}
	return l, l.Len(), r.elements(l.Len())
}

// resize makes a list of n, in one allocation.
func resize(v reflect.Value, n int) {
	v.Grow(n)
	v.SetLen(n)
}

func structsAt(i uint16, size capnp.ObjectSize, inner *plan) form {
	return form{
		func(s capnp.Struct, v reflect.Value) error {
			n := v.Len()
			if n == 0 {
				return nil
			}
			l, err := capnp.NewCompositeList(s.Segment(), size, int32(n)) //nolint:gosec // the library takes less than 2^29
			if err != nil {
				return err
			}
			if err := s.SetPtr(i, l.ToPtr()); err != nil {
				return err
			}
			for j := range n {
				if err := inner.write(l.Struct(j), v.Index(j)); err != nil {
					return fmt.Errorf("[%d]: %w", j, err)
				}
			}
			return nil
		},
		func(r *reader, s capnp.Struct, v reflect.Value) error {
			l, n, err := listAt(r, s, i)
			if err != nil || n == 0 {
				return err
			}
			resize(v, n)
			r.size += wordSize // the tag
			for j := range n {
				from := l.Struct(j)
				if !from.IsValid() {
					return errNotList
				}
				r.holds(from)
				if err := inner.read(r, from, v.Index(j)); err != nil {
					return fmt.Errorf("[%d]: %w", j, err)
				}
			}
			return nil
		},
	}
}

func textsAt(i uint16) form {
	return form{
		func(s capnp.Struct, v reflect.Value) error {
			n := v.Len()
			if n == 0 {
				return nil
			}
			l, err := capnp.NewTextList(s.Segment(), int32(n)) //nolint:gosec // the library takes less than 2^29
			if err != nil {
				return err
			}
			if err := s.SetPtr(i, l.ToPtr()); err != nil {
				return err
			}
			for j := range n {
				if err := l.Set(j, v.Index(j).String()); err != nil {
					return fmt.Errorf("[%d]: %w", j, err)
				}
			}
			return nil
		},
		func(r *reader, s capnp.Struct, v reflect.Value) error {
			l, n, err := listAt(r, s, i)
			if err != nil || n == 0 {
				return err
			}
			resize(v, n)
			r.bytes(n * wordSize)
			for j := range n {
				p, err := capnp.PointerList(l).At(j)
				if err == nil {
					err = setText(r, p, v.Index(j))
				}
				if err != nil {
					return fmt.Errorf("[%d]: %w", j, err)
				}
			}
			return nil
		},
	}
}

func enumsAt(i uint16) form {
	return form{
		func(s capnp.Struct, v reflect.Value) error {
			n := v.Len()
			if n == 0 {
				return nil
			}
			l, err := capnp.NewUInt16List(s.Segment(), int32(n)) //nolint:gosec // the library takes less than 2^29
			if err != nil {
				return err
			}
			for j := range n {
				number, err := enum(v.Index(j))
				if err != nil {
					return fmt.Errorf("[%d]: %w", j, err)
				}
				l.Set(j, number)
			}
			return s.SetPtr(i, l.ToPtr())
		},
		func(r *reader, s capnp.Struct, v reflect.Value) error {
			l, n, err := listAt(r, s, i)
			if err != nil || n == 0 {
				return err
			}
			resize(v, n)
			r.bytes(n * 2)
			for j := range n {
				v.Index(j).SetInt(int64(capnp.UInt16List(l).At(j)))
			}
			return nil
		},
	}
}

// dictionary is the form of a map: a list of its entries.
func (p planner) dictionary(f protoreflect.FieldDescriptor, at slot, held reflect.Type) (form, error) {
	if at.element != schema.Type_Which_structType || held.Kind() != reflect.Map {
		return form{}, mismatch(f, at, held)
	}
	in, err := layoutByID(at.of)
	if err != nil {
		return form{}, err
	}
	key, err := scalar(f.MapKey(), in.slots["key"], held.Key())
	if err != nil {
		return form{}, err
	}
	value, err := scalar(f.MapValue(), in.slots["value"], held.Elem())
	if err != nil {
		return form{}, err
	}
	i := uint16(at.offset) //nolint:gosec // a struct has less pointers
	return form{
		func(s capnp.Struct, v reflect.Value) error { return writeEntries(s, i, in.size, key, value, v) },
		func(r *reader, s capnp.Struct, v reflect.Value) error { return readEntries(r, s, i, key, value, v) },
	}, nil
}

func writeEntries(s capnp.Struct, i uint16, size capnp.ObjectSize, key, value form, v reflect.Value) error {
	n := v.Len()
	if n == 0 {
		return nil
	}
	l, err := capnp.NewCompositeList(s.Segment(), size, int32(n)) //nolint:gosec // the library takes less than 2^29
	if err != nil {
		return err
	}
	if err := s.SetPtr(i, l.ToPtr()); err != nil {
		return err
	}
	j := 0
	for entry := v.MapRange(); entry.Next(); j++ {
		if err := key.write(l.Struct(j), entry.Key()); err != nil {
			return err
		}
		if err := value.write(l.Struct(j), entry.Value()); err != nil {
			return err
		}
	}
	return nil
}

func readEntries(r *reader, s capnp.Struct, i uint16, key, value form, v reflect.Value) error {
	l, n, err := listAt(r, s, i)
	if err != nil || n == 0 {
		return err
	}
	t := v.Type()
	v.Set(reflect.MakeMapWithSize(t, n))
	r.size += wordSize // the tag
	for j := range n {
		from, k, e := l.Struct(j), reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if !from.IsValid() {
			return errNotList
		}
		r.holds(from)
		if err := key.read(r, from, k); err != nil {
			return err
		}
		if err := value.read(r, from, e); err != nil {
			return err
		}
		v.SetMapIndex(k, e)
	}
	return nil
}
