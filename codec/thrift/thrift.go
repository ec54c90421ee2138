// Package thrift encodes structs that Apache's compiler generates, in Thrift's
// binary and compact forms, with Apache's Go library.
//
// Thrift has a schema of its own, schema/thrift, so the codec binds to messages
// one workload at a time, in a file each. Plain values of orders cannot be
// reached from here, and a way round by protobuf would be charged to Thrift.
// Protocol thrift sends the same bytes in its calls.
package thrift

import (
	"fmt"
	"maps"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/rpc"
)

// Codec is one of Thrift's forms.
type Codec struct {
	spec codec.Spec
	form *form
}

const module = "github.com/apache/thrift"

// New gives the binary form, which is what Thrift's users have by default.
func New() Codec {
	return Codec{form: binary, spec: codec.Spec{
		Name: "thrift", Media: "application/vnd.apache.thrift.binary", Subtype: "thrift", Module: module,
		About: "generated structs, Thrift's binary form",
	}}
}

// NewCompact gives the compact form: numbers take as many bytes as they need.
func NewCompact() Codec {
	return Codec{form: compact, spec: codec.Spec{
		Name: "thriftcompact", Media: "application/vnd.apache.thrift.compact", Subtype: "thriftcompact", Module: module,
		About: "generated structs, Thrift's compact form",
	}}
}

// Spec says what the codec is.
func (c Codec) Spec() codec.Spec { return c.spec }

// Bind binds to the struct that is generated for the type.
func (c Codec) Bind(t *rpc.Type) (codec.Binding, error) {
	bound, ok := messages[t.Name]
	if !ok {
		return nil, fmt.Errorf("bind %s: no struct of Thrift's: %w", t.Name, codec.ErrUnbound)
	}
	b := bound(c.form, t)
	if b == nil {
		return nil, fmt.Errorf("bind %s: its plain struct is another one than the one that is mapped: %w", t.Name, codec.ErrUnbound)
	}
	return b, nil
}

// message binds to one type; it gives nil where the type has another plain
// struct.
type message func(*form, *rpc.Type) codec.Binding

// messages are those of all workloads, by full protobuf name.
var messages = merge(clinicalMessages, conformanceMessages, evolutionMessages)

func merge(all ...map[string]message) map[string]message {
	out := make(map[string]message)
	for _, some := range all {
		maps.Copy(out, some)
	}
	return out
}

// generated is a struct that Apache's compiler has made, by its pointer.
type generated[N any] interface {
	*N
	apache.TStruct
}

// mapped binds to messages by a function that fills a generated struct from a
// plain one, and one that takes it back.
func mapped[P, N any, G generated[N]](fill func(*N, *P), take func(*P, *N)) message {
	return func(f *form, t *rpc.Type) codec.Binding {
		if t.New == nil {
			return nil
		}
		if _, ok := t.New().(*P); !ok {
			return nil
		}
		return binding{
			form:  f,
			fresh: func() apache.TStruct { return G(new(N)) },
			native: func(plain any) apache.TStruct {
				native := new(N)
				fill(native, plain.(*P))
				return G(native)
			},
			plain: func(native any) any {
				plain := new(P)
				take(plain, (*N)(native.(G)))
				return plain
			},
		}
	}
}

// binding has no type parameters, so that profiles can tell its methods.
type binding struct {
	form   *form
	fresh  func() apache.TStruct
	native func(plain any) apache.TStruct
	plain  func(native any) any
}

func (b binding) Native(plain any) any { return b.native(plain) }
func (b binding) Plain(native any) any { return b.plain(native) }

func (b binding) Append(dst []byte, native any) ([]byte, error) {
	return b.form.append(dst, native.(apache.TStruct))
}

func (b binding) Parse(src []byte) (any, error) {
	native := b.fresh()
	if err := b.form.parse(src, native); err != nil {
		return nil, err
	}
	return native, nil
}
