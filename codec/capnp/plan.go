package capnp

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"capnproto.org/go/capnp/v3"
	"capnproto.org/go/capnp/v3/std/capnp/schema"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/codec"
)

// plan is how one plain struct stands in a struct of Cap'n Proto.
type plan struct {
	size   capnp.ObjectSize
	fields []step
}

// step is one field of a plan.
type step struct {
	name  string // in the schema, for errors
	index int    // in the plain struct
	form
}

// form writes a value into a struct, and reads it. The value is addressable,
// and the zero of its type where it is read into.
type form struct {
	write func(capnp.Struct, reflect.Value) error
	read  func(*reader, capnp.Struct, reflect.Value) error
}

// reader counts what reading one message takes.
type reader struct {
	room int // for elements of lists, still
	size int // of what is read, as Append would write it
}

// frame is what stands around what a message's root points to: how long its
// segment is, and the pointer.
const frame = 2 * wordSize

// holds counts a struct.
func (r *reader) holds(s capnp.Struct) {
	r.size += int(s.Size().DataSize) + wordSize*int(s.Size().PointerCount)
}

// bytes counts a list of n bytes.
func (r *reader) bytes(n int) { r.size += (n + wordSize - 1) / wordSize * wordSize }

// elements takes room for the elements of a list. Each of a message's own takes
// a byte or more, and a list of nothing none.
func (r *reader) elements(n int) error {
	if r.room -= n; n < 0 || r.room < 0 {
		return errors.New("a list says that it is longer than its message")
	}
	return nil
}

func (p *plan) write(to capnp.Struct, from reflect.Value) error {
	for i := range p.fields {
		f := &p.fields[i]
		if err := f.write(to, from.Field(f.index)); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

func (p *plan) read(r *reader, from capnp.Struct, to reflect.Value) error {
	for i := range p.fields {
		f := &p.fields[i]
		if err := f.read(r, from, to.Field(f.index)); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

// planOf makes the plan of a message for a plain struct.
func planOf(m protoreflect.MessageDescriptor, plain reflect.Type) (*plan, error) {
	return planner{pkg: string(m.FullName().Parent()), made: make(map[protoreflect.FullName]*plan)}.plan(m, plain)
}

// planner holds the plans that are made, since a message may hold itself.
type planner struct {
	pkg  string // that names the structs that no message is
	made map[protoreflect.FullName]*plan
}

func (p planner) plan(m protoreflect.MessageDescriptor, plain reflect.Type) (*plan, error) {
	if made, ok := p.made[m.FullName()]; ok {
		return made, nil
	}
	name := string(m.FullName())
	if !strings.HasPrefix(name, p.pkg+".") {
		name = p.pkg + "." + string(m.Name()) // of protobuf's own, as writer.box names it
	}
	in, err := layoutOf(name)
	if err != nil {
		return nil, err
	}
	if len(in.slots) != m.Fields().Len() {
		return nil, fmt.Errorf("%s has %d fields in gen/capnp, and %d in proto/: run make generate", name, len(in.slots), m.Fields().Len())
	}
	out := &plan{size: in.size}
	p.made[m.FullName()] = out
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		at, ok := in.slots[f.JSONName()]
		if !ok || at.ordinal != i {
			return nil, fmt.Errorf("%s is not field %d of gen/capnp: run make generate", f.FullName(), i)
		}
		held, err := fieldOf(plain, f)
		if err != nil {
			return nil, err
		}
		form, err := p.form(f, at, held.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.FullName(), err)
		}
		out.fields = append(out.fields, step{name: string(f.Name()), index: held.Index[0], form: form})
	}
	return out, nil
}

// fieldOf finds the struct's field for f: by its name in JSON, which is
// ProtoJSON's in plain structs, or by its own name.
func fieldOf(plain reflect.Type, f protoreflect.FieldDescriptor) (reflect.StructField, error) {
	if plain.Kind() == reflect.Struct {
		for in := range plain.Fields() {
			name, _, _ := strings.Cut(in.Tag.Get("json"), ",")
			if name == f.JSONName() || name == "" && strings.EqualFold(in.Name, f.JSONName()) {
				return in, nil
			}
		}
	}
	return reflect.StructField{}, fmt.Errorf("%s has no field for %s: %w", plain, f.FullName(), codec.ErrUnbound)
}

func (p planner) form(f protoreflect.FieldDescriptor, at slot, held reflect.Type) (form, error) {
	switch {
	case f.IsMap():
		return p.dictionary(f, at, held)
	case f.IsList():
		return p.list(f, at, held)
	case f.Kind() == protoreflect.MessageKind:
		return p.nested(f.Message(), at, held)
	case f.HasOptionalKeyword():
		return p.optional(f, at, held)
	}
	return scalar(f, at, held)
}

// mismatch is the error of a field whose parts do not fit.
func mismatch(f protoreflect.FieldDescriptor, at slot, held reflect.Type) error {
	return fmt.Errorf("no form for a %s that is %s in gen/capnp and %s in Go: %w", f.Kind(), at.which, held, codec.ErrUnbound)
}

// optional is a scalar in a struct of its own, which a pointer to it is in Go.
func (p planner) optional(f protoreflect.FieldDescriptor, at slot, held reflect.Type) (form, error) {
	if at.which != schema.Type_Which_structType || held.Kind() != reflect.Pointer {
		return form{}, mismatch(f, at, held)
	}
	in, err := layoutByID(at.of)
	if err != nil {
		return form{}, err
	}
	value, err := scalar(f, in.slots["value"], held.Elem())
	if err != nil {
		return form{}, err
	}
	return pointed(at.offset, in.size, value, held), nil
}
