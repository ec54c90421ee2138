package grpc

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol"
)

// slot is what grpc-go hands to its codec: one message, and what turns it into
// bytes. Slots are fields of what holds a call, so that they cost no allocation
// of their own.
type slot struct {
	binding codec.Binding
	native  any
	// encoded is the message where it was encoded beforehand.
	encoded mem.BufferSlice
	// err is why the message could not be parsed. It is kept here because
	// grpc-go answers INTERNAL as soon as a codec returns an error.
	err error
}

// take empties the slot of a received message.
func (s *slot) take() (plain any, err error) {
	native, err := s.native, s.err
	s.native, s.err = nil, nil
	if err != nil {
		return nil, err
	}
	return s.binding.Plain(native), nil
}

// wire is an encoding.CodecV2 for slots; its value is the content subtype. What
// is no slot is a message of grpc-go's own services, health and reflection, and
// goes to grpc-go's own codec.
type wire string

var ownCodec = encoding.GetCodecV2(grpcproto.Name)

// Name is "" for gRPC's default codec.
func (w wire) Name() string { return string(w) }

// Marshal encodes into a buffer of grpc-go's pool where the size is known
// beforehand, as grpc-go's codec for protobuf does: without it a large message
// costs a fresh buffer for every call.
func (w wire) Marshal(v any) (mem.BufferSlice, error) {
	s, ok := v.(*slot)
	if !ok {
		return ownCodec.Marshal(v)
	}
	if encoded := s.encoded; encoded != nil {
		s.encoded = nil
		return encoded, nil
	}
	return s.encode()
}

// fits encodes the message, which grpc-go then sends as it is, and says why it
// is not to be sent: a message too long would be refused with grpc-go's own words.
// One that cannot be encoded is left to grpc-go.
func (s *slot) fits(longest int) error {
	encoded, err := s.encode()
	if err != nil {
		return nil //nolint:nilerr // Marshal meets it again
	}
	if encoded.Len() > longest {
		encoded.Free()
		return protocol.TooLong(longest)
	}
	s.encoded = encoded
	return nil
}

func (s *slot) encode() (mem.BufferSlice, error) {
	sizer, ok := s.binding.(codec.Sizer)
	if !ok {
		encoded, err := s.binding.Append(nil, s.native)
		if err != nil {
			return nil, err
		}
		return mem.BufferSlice{mem.SliceBuffer(encoded)}, nil
	}
	size := sizer.Size(s.native)
	if mem.IsBelowBufferPoolingThreshold(size) {
		encoded, err := sizer.AppendSized(make([]byte, 0, size), s.native)
		if err != nil {
			return nil, err
		}
		return mem.BufferSlice{mem.SliceBuffer(encoded)}, nil
	}
	pool := mem.DefaultBufferPool()
	buffer := pool.Get(size)
	encoded, err := sizer.AppendSized((*buffer)[:0], s.native)
	if err == nil && len(encoded) != size {
		err = fmt.Errorf("encode %T: size was to be %d and is %d", s.native, size, len(encoded))
	}
	if err != nil {
		pool.Put(buffer)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(buffer, pool)}, nil
}

// Unmarshal parses from a buffer that goes back to the pool: a binding keeps
// no reference to it.
func (w wire) Unmarshal(src mem.BufferSlice, v any) error {
	s, ok := v.(*slot)
	if !ok {
		return ownCodec.Unmarshal(src, v)
	}
	buffer := src.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buffer.Free()
	s.native, s.err = s.binding.Parse(buffer.ReadOnlyData())
	return nil
}
