// Package capnp encodes plain structs with Cap'n Proto's library for Go.
//
// The schema in schema/capnp is made of protobuf's: see Schema. What is set
// where in a message is looked up once for each type, in the schema that the
// generated code of gen/capnp brings, so that a message costs the calls of the
// library that its generated setters would make. Cap'n Proto is read in place:
// to parse is to read every field, since each may turn out not to be one.
package capnp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"

	"capnproto.org/go/capnp/v3"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/codec/capnp/idl"
	"github.com/tare-bench/tare/rpc"
)

// Codec is Cap'n Proto's library for Go.
type Codec struct{}

// Spec says what the codec is.
func (Codec) Spec() codec.Spec {
	return codec.Spec{
		Name: "capnp", Media: "application/x-capnp", Subtype: "capnp", Module: "capnproto.org/go/capnp/v3",
		About:       "plain structs, Cap'n Proto's unpacked form; the library is an alpha",
		Remark:      "uses an alpha of Cap'n Proto's library for Go, whose users may yet see it change",
		ClosedEnums: true,
	}
}

// Bind binds to the type's plain struct.
func (Codec) Bind(t *rpc.Type) (codec.Binding, error) {
	if b, ok := bound.Load(t); ok {
		return b.(codec.Binding), nil
	}
	if t.New == nil || t.NewProto == nil {
		return nil, fmt.Errorf("bind %s: no plain struct with a schema: %w", t.Name, codec.ErrUnbound)
	}
	p, err := planOf(t.NewProto().ProtoReflect().Descriptor(), reflect.TypeOf(t.New()).Elem())
	if err != nil {
		return nil, fmt.Errorf("bind %s: %w", t.Name, err)
	}
	b, _ := bound.LoadOrStore(t, &binding{t, p})
	return b.(codec.Binding), nil
}

// ID implements what the protocol of Cap'n Proto asks of a codec.
func (Codec) ID(fullName string) uint64 { return idl.ID(fullName) }

var bound sync.Map // of *rpc.Type to *binding

type binding struct {
	t    *rpc.Type
	plan *plan
}

// message is the native form: what is built, or why it cannot be; or what is
// read.
type message struct {
	built *capnp.Message
	read  any
	err   error
}

func (b *binding) Native(plain any) any {
	msg, segment, err := capnp.NewMessage(capnp.SingleSegment(nil))
	if err != nil {
		return &message{err: err}
	}
	root, err := capnp.NewRootStruct(segment, b.plan.size)
	if err == nil {
		err = b.plan.write(root, reflect.ValueOf(plain).Elem())
	}
	return &message{built: msg, err: err}
}

// Plain gives what was read. What was built is read, as none but a test does.
func (b *binding) Plain(native any) any {
	m := native.(*message)
	if m.read != nil {
		return m.read
	}
	plain, err := b.reread(m)
	if err != nil {
		return b.t.New() // it cannot be built, as Append says
	}
	return plain
}

func (b *binding) reread(m *message) (any, error) {
	if m.err != nil {
		return nil, m.err
	}
	root, err := m.built.Root()
	if err != nil {
		return nil, err
	}
	size, err := m.built.TotalSize()
	if err != nil {
		return nil, err
	}
	m.built.ResetReadLimit(math.MaxUint64)            // it is ours, and read as often as one likes
	plain, _, err := b.take(root.Struct(), int(size)) //nolint:gosec // it is in memory
	return plain, err
}

// writable gives what is built, or builds what was read: a message that is read in
// place would keep the bytes that a protocol uses again.
func (b *binding) writable(native any) *message {
	m := native.(*message)
	if m.read != nil {
		return b.Native(m.read).(*message)
	}
	return m
}

// Size implements codec.Sizer.
func (b *binding) Size(native any) int {
	m := b.writable(native)
	if m.err != nil {
		return 0
	}
	size, err := m.built.TotalSize()
	if err != nil {
		return 0 // and Append will say so
	}
	return int(size) //nolint:gosec // it is in memory
}

// AppendSized implements codec.Sizer.
func (b *binding) AppendSized(dst []byte, native any) ([]byte, error) { return b.Append(dst, native) }

// Append is capnp.Message.Marshal into a buffer that is there already.
func (b *binding) Append(dst []byte, native any) ([]byte, error) {
	m := b.writable(native)
	if m.err != nil {
		return dst, m.err
	}
	count := m.built.NumSegments()
	out := binary.LittleEndian.AppendUint32(dst, uint32(count-1)) //nolint:gosec // a segment takes memory
	for i := range count {
		s, err := m.built.Segment(capnp.SegmentID(i)) //nolint:gosec // a segment takes memory
		if err != nil {
			return dst, err
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(len(s.Data())/wordSize)) //nolint:gosec // the library sees to it
	}
	if count%2 == 0 {
		out = binary.LittleEndian.AppendUint32(out, 0)
	}
	for i := range count {
		s, err := m.built.Segment(capnp.SegmentID(i)) //nolint:gosec // a segment takes memory
		if err != nil {
			return dst, err
		}
		out = append(out, s.Data()...)
	}
	return out, nil
}

const wordSize = 8

func (b *binding) Parse(src []byte) (any, error) {
	msg, err := capnp.Unmarshal(src)
	if err != nil {
		return nil, fmt.Errorf("read the frame of the message: %w", err)
	}
	if size, err := msg.TotalSize(); err != nil || size != uint64(len(src)) {
		return nil, errors.New("the message is not as long as it says")
	}
	// Nothing is read twice, so that more than is there is pointed to twice.
	msg.ResetReadLimit(uint64(len(src)))
	root, err := msg.Root()
	if err != nil {
		return nil, err
	}
	plain, _, err := b.take(root.Struct(), len(src))
	if err != nil {
		return nil, err
	}
	return &message{read: plain}, nil
}

// Room is the size of the struct that Put fills, which the protocol makes.
func (b *binding) Room() capnp.ObjectSize { return b.plan.size }

// Put fills a struct of a message of the RPC with a plain value.
func (b *binding) Put(to capnp.Struct, plain any) error { return part{b}.Append(to, plain) }

// Take reads a struct that is part of a message, and gives its size as one of
// its own.
func (b *binding) Take(from capnp.Struct) (plain any, size int, err error) {
	return part{b}.Parse(from)
}

// part is a message that is part of another. Its methods bear the names by which
// profiles know what is encoded and decoded.
type part struct{ *binding }

func (p part) Append(to capnp.Struct, plain any) error {
	return p.plan.write(to, reflect.ValueOf(plain).Elem())
}

func (p part) Parse(from capnp.Struct) (plain any, size int, err error) {
	if !from.IsValid() {
		return nil, 0, errNoStruct
	}
	whole, err := from.Message().TotalSize()
	if err != nil {
		return nil, 0, err
	}
	return p.take(from, int(whole)) //nolint:gosec // it is in memory
}

var errNoStruct = errors.New("the message has no struct where one must be")

func (b *binding) take(from capnp.Struct, room int) (any, int, error) {
	if !from.IsValid() {
		return nil, 0, errNoStruct
	}
	plain, r := b.t.New(), reader{room: room, size: frame}
	r.holds(from)
	if err := b.plan.read(&r, from, reflect.ValueOf(plain).Elem()); err != nil {
		return nil, 0, err
	}
	return plain, r.size, nil
}
