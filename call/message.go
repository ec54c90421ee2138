package call

import (
	"fmt"
	"io"

	"connectrpc.com/connect"
	"github.com/jhump/protoreflect/v2/protoresolve"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// plain is a plain value whose type is known at run time alone. Codecs of plain
// structs find in it one that writes its own JSON.
type plain struct {
	m     proto.Message
	types protoresolve.TypeResolver
}

// MarshalJSON writes ProtoJSON.
func (p *plain) MarshalJSON() ([]byte, error) {
	return protojson.MarshalOptions{Resolver: p.types}.Marshal(p.m)
}

// UnmarshalJSON reads ProtoJSON, without what the schema does not have.
func (p *plain) UnmarshalJSON(text []byte) error {
	return protojson.UnmarshalOptions{Resolver: p.types, DiscardUnknown: true}.Unmarshal(text, p.m)
}

// typeOf gives a message type to which codecs can be bound.
func typeOf(d protoreflect.MessageDescriptor, types protoresolve.TypeResolver) *rpc.Type {
	fresh := func() proto.Message { return dynamicpb.NewMessage(d) }
	return &rpc.Type{
		Name:      string(d.FullName()),
		New:       func() any { return &plain{fresh(), types} },
		NewProto:  fresh,
		ToProto:   func(p any) proto.Message { return p.(*plain).m },
		FromProto: func(m proto.Message) any { return &plain{m, types} },
	}
}

// carried is what connect takes for a generated message: one in the codec's own
// form.
type carried struct {
	native any
	parsed bool // connect gives an empty message to no codec
}

// methodCodec is a connect.Codec for the two messages of one method.
type methodCodec struct {
	name            string
	types           protoresolve.TypeResolver
	sends, receives codec.Binding
}

func newMethodCodec(k codec.Codec, m protoreflect.MethodDescriptor, types protoresolve.TypeResolver) (*methodCodec, error) {
	in, err := k.Bind(typeOf(m.Input(), types))
	if err != nil {
		return nil, fmt.Errorf("carry a message whose type is known at run time alone: %w", err)
	}
	out, err := k.Bind(typeOf(m.Output(), types))
	if err != nil {
		return nil, fmt.Errorf("carry a message whose type is known at run time alone: %w", err)
	}
	return &methodCodec{k.Spec().Subtype, types, in, out}, nil
}

// Name is the codec's part of a content type.
func (c *methodCodec) Name() string { return c.name }

// Marshal encodes v.
func (c *methodCodec) Marshal(v any) ([]byte, error) {
	return c.sends.Append(nil, v.(*carried).native)
}

// Unmarshal parses src into v. The codec that bears the name of protobuf's is
// also given what gRPC tells of errors.
func (c *methodCodec) Unmarshal(src []byte, v any) (err error) {
	in, ok := v.(*carried)
	if !ok {
		return proto.Unmarshal(src, v.(proto.Message))
	}
	in.native, err = c.receives.Parse(src)
	in.parsed = err == nil
	return err
}

// pack gives a message as it is sent.
func (c *methodCodec) pack(m proto.Message) *carried {
	return &carried{native: c.sends.Native(&plain{m, c.types})}
}

// unpack gives a message that was received.
func (c *methodCodec) unpack(in *carried) (proto.Message, error) {
	if !in.parsed {
		if err := c.Unmarshal(nil, in); err != nil {
			return nil, err
		}
	}
	return c.receives.Plain(in.native).(*plain).m, nil
}

// stock is the coding that connect offers unless it is told not to.
const stock = "gzip"

// options gives what connect is told of codec and compressor, nil for none.
func (c *methodCodec) options(k compress.Compressor) []connect.ClientOption {
	options := []connect.ClientOption{
		connect.WithCodec(c), connect.WithReadMaxBytes(protocol.DefaultMaxMessage),
		connect.WithAcceptCompression(stock, nil, nil),
	}
	if k != nil {
		name := k.Spec().Name
		options = append(options, connect.WithAcceptCompression(name,
			func() connect.Decompressor { return &decompressor{k.NewReader()} },
			func() connect.Compressor { return k.NewWriter() }), connect.WithSendCompression(name))
	}
	return options
}

// decompressor is a reader that connect keeps in a pool.
type decompressor struct{ compress.Reader }

func (d *decompressor) Close() error { return nil }

func (d *decompressor) Reset(r io.Reader) error { return d.Reader.Reset(r) }
