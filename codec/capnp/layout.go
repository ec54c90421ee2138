package capnp

import (
	"fmt"
	"sync"

	"capnproto.org/go/capnp/v3"
	"capnproto.org/go/capnp/v3/schemas"
	"capnproto.org/go/capnp/v3/std/capnp/schema"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/codec/capnp/idl"
	"github.com/tare-bench/tare/gen/capnp/clinical"
	"github.com/tare-bench/tare/gen/capnp/conformance"
	"github.com/tare-bench/tare/gen/capnp/evolutionv1"
	"github.com/tare-bench/tare/gen/capnp/evolutionv2"
)

// packages are the schemas that there is generated code of, by one of the structs
// that each has.
var packages = map[string]func(*schemas.Registry){
	"tare.clinical.v1." + idl.Failure:    clinical.RegisterSchema,
	"tare.conformance.v1." + idl.Failure: conformance.RegisterSchema,
	"tare.evolution.v1.Grown":            evolutionv1.RegisterSchema,
	"tare.evolution.v2.Grown":            evolutionv2.RegisterSchema,
}

// layout is where the fields of a struct stand in it.
type layout struct {
	size  capnp.ObjectSize
	slots map[string]slot
}

// slot is where one field stands.
type slot struct {
	ordinal int
	offset  uint32 // in units of its type, or among pointers
	which   schema.Type_Which
	of      uint64            // ID of a struct or enum; of a list, its elements'
	element schema.Type_Which // of a list
}

func layoutOf(fullName string) (layout, error) {
	l, err := layoutByID(idl.ID(fullName))
	if err != nil {
		return layout{}, fmt.Errorf("%s: %w", fullName, err)
	}
	return l, nil
}

func layoutByID(id uint64) (layout, error) {
	all, err := layouts()
	if err != nil {
		return layout{}, err
	}
	l, ok := all[id]
	if !ok {
		return layout{}, fmt.Errorf("no schema of it in gen/capnp: %w", codec.ErrUnbound)
	}
	return l, nil
}

// layouts reads the schemas that generated code brings, by the IDs of structs.
var layouts = sync.OnceValues(func() (map[uint64]layout, error) {
	registry, all := new(schemas.Registry), make(map[uint64]layout)
	for name, register := range packages {
		register(registry)
		src, err := registry.Find(idl.ID(name))
		if err != nil {
			return nil, fmt.Errorf("find the schema that has %s: %w", name, err)
		}
		if err := readLayouts(src, all); err != nil {
			return nil, fmt.Errorf("read the schema that has %s: %w", name, err)
		}
	}
	return all, nil
})

func readLayouts(src []byte, all map[uint64]layout) error {
	msg, err := capnp.Unmarshal(src)
	if err != nil {
		return err
	}
	request, err := schema.ReadRootCodeGeneratorRequest(msg)
	if err != nil {
		return err
	}
	nodes, err := request.Nodes()
	if err != nil {
		return err
	}
	for i := range nodes.Len() {
		n := nodes.At(i)
		if n.Which() != schema.Node_Which_structNode {
			continue
		}
		if all[n.Id()], err = readLayout(n.StructNode()); err != nil {
			return err
		}
	}
	return nil
}

func readLayout(n schema.Node_structNode) (layout, error) {
	l := layout{
		size:  capnp.ObjectSize{DataSize: capnp.Size(n.DataWordCount()) * wordSize, PointerCount: n.PointerCount()},
		slots: make(map[string]slot),
	}
	fields, err := n.Fields()
	if err != nil {
		return layout{}, err
	}
	for i := range fields.Len() {
		f := fields.At(i)
		if f.Which() != schema.Field_Which_slot {
			continue
		}
		name, err := f.Name()
		if err != nil {
			return layout{}, err
		}
		t, err := f.Slot().Type()
		if err != nil {
			return layout{}, err
		}
		s := slot{ordinal: int(f.Ordinal().Explicit()), offset: f.Slot().Offset(), which: t.Which()}
		if s.which == schema.Type_Which_list {
			if t, err = t.List().ElementType(); err != nil {
				return layout{}, err
			}
			s.element = t.Which()
		}
		switch t.Which() {
		case schema.Type_Which_structType:
			s.of = t.StructType().TypeId()
		case schema.Type_Which_enum:
			s.of = t.Enum().TypeId()
		}
		l.slots[name] = s
	}
	return l, nil
}
