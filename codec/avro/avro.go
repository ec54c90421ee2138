// Package avro encodes plain structs in Avro's binary form with twmb/avro.
//
// Avro has a schema of its own, which is derived of protobuf's and kept for
// others in schema/avro: see Schema. Its enums are closed, so that a number
// without a name is refused; its times are timestamp-micros, so that what a
// time has below a microsecond is lost, as Avro's own libraries lose it.
//
// Its media type is that of the specification: avro.apache.org/docs/1.12.0/
// specification/#http-as-transport.
package avro

import (
	"fmt"
	"reflect"
	"sync"

	"github.com/twmb/avro"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/rpc"
)

// Codec is twmb/avro.
type Codec struct{}

// Spec says what the codec is.
func (Codec) Spec() codec.Spec {
	return codec.Spec{
		Name: "avro", Media: "avro/binary", Subtype: "avro", Module: "github.com/twmb/avro",
		About:       "plain structs, Avro's binary form by twmb/avro; times to the microsecond",
		ClosedEnums: true,
	}
}

// Bind binds to the type's plain struct.
func (Codec) Bind(t *rpc.Type) (codec.Binding, error) {
	s, err := schemaOf(t)
	if err != nil {
		return nil, fmt.Errorf("bind %s: %w", t.Name, err)
	}
	return newBinding(t, s, s), nil
}

// Written is the schema that Bind's binding of t writes by, as schema/avro has it:
// with the schema's own names, where those of plain structs are this codec's alone.
func (Codec) Written(t *rpc.Type) (string, error) {
	if t.NewProto == nil {
		return "", fmt.Errorf("write the schema of %s: it has none of protobuf's: %w", t.Name, codec.ErrUnbound)
	}
	return Schema(t.NewProto().ProtoReflect().Descriptor())
}

// BindWritten is Bind for messages that somebody else wrote, under another
// schema: Parse takes what that schema says, gives fields that it lacks their
// defaults, and leaves out those that t lacks. Append writes t's own schema.
func (Codec) BindWritten(t *rpc.Type, writer string) (codec.Binding, error) {
	own, err := schemaOf(t)
	if err != nil {
		return nil, fmt.Errorf("bind %s: %w", t.Name, err)
	}
	theirs, err := avro.Parse(writer)
	if err != nil {
		return nil, fmt.Errorf("read the schema that %s was written under: %w", t.Name, err)
	}
	resolved, err := avro.Resolve(theirs, own)
	if err != nil {
		return nil, fmt.Errorf("read %s as it was written: %w", t.Name, err)
	}
	return newBinding(t, own, resolved), nil
}

// schemas holds each type's schema once it is bound: to make one takes a
// thousand times what a message takes.
var schemas sync.Map // of *rpc.Type to *avro.Schema

func schemaOf(t *rpc.Type) (*avro.Schema, error) {
	if s, ok := schemas.Load(t); ok {
		return s.(*avro.Schema), nil
	}
	if t.New == nil || t.NewProto == nil {
		return nil, fmt.Errorf("no plain struct with a schema: %w", codec.ErrUnbound)
	}
	text, err := derive(t.NewProto().ProtoReflect().Descriptor(), reflect.TypeOf(t.New()).Elem())
	if err != nil {
		return nil, err
	}
	s, err := avro.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parse the schema derived: %w", err)
	}
	schemas.Store(t, s)
	return s, nil
}

type binding struct {
	t             *rpc.Type
	written, read *avro.Schema
	text          check
}

func newBinding(t *rpc.Type, written, read *avro.Schema) binding {
	return binding{t: t, written: written, read: read, text: make(checker).of(reflect.TypeOf(t.New()))}
}

func (binding) Native(plain any) any { return plain }
func (binding) Plain(native any) any { return native }

func (b binding) Append(dst []byte, native any) ([]byte, error) {
	out, err := b.written.AppendEncode(dst, native)
	if err != nil {
		return dst, err // the library gives nil
	}
	return out, nil
}

func (b binding) Parse(src []byte) (any, error) {
	plain := b.t.New()
	rest, err := b.read.Decode(src, plain)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes follow the message", len(rest))
	}
	if b.text != nil {
		if err := b.text(reflect.ValueOf(plain)); err != nil {
			return nil, err
		}
	}
	return plain, nil
}
