// Package proto encodes generated messages in protobuf's binary form with
// Google's Go runtime.
//
// Its media type over HTTP is application/x-protobuf, which Google's APIs take
// for a protobuf body (alt=proto); application/protobuf is registered with no
// one yet.
package proto

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/rpc"
)

// Codec is protobuf of Google's Go runtime.
type Codec struct{}

// Spec says what the codec is.
func (Codec) Spec() codec.Spec {
	return codec.Spec{
		Name: "proto", Media: "application/x-protobuf", Subtype: "proto", Module: "google.golang.org/protobuf",
		About: "generated messages, protobuf's binary form",
	}
}

// Bind binds to the type's generated message.
func (Codec) Bind(t *rpc.Type) (codec.Binding, error) {
	if t.NewProto == nil {
		return nil, fmt.Errorf("bind %s: no generated message: %w", t.Name, codec.ErrUnbound)
	}
	return binding{t}, nil
}

type binding struct{ t *rpc.Type }

func (b binding) Native(plain any) any { return b.t.ToProto(plain) }
func (b binding) Plain(native any) any { return b.t.FromProto(native.(proto.Message)) }

// Size implements codec.Sizer.
func (binding) Size(native any) int { return proto.Size(native.(proto.Message)) }

func (binding) Append(dst []byte, native any) ([]byte, error) {
	return proto.MarshalOptions{}.MarshalAppend(dst, native.(proto.Message))
}

// AppendSized implements codec.Sizer.
func (binding) AppendSized(dst []byte, native any) ([]byte, error) {
	return proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(dst, native.(proto.Message))
}

func (b binding) Parse(src []byte) (any, error) {
	m := b.t.NewProto()
	if err := proto.Unmarshal(src, m); err != nil {
		return nil, err
	}
	return m, nil
}
