package connect

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/codec"
)

// message is what connect takes for a generated message: one on its way, in
// the codec's own form.
type message struct {
	native any
	parsed bool // connect gives an empty message to no codec
}

// take empties a received message.
func (m *message) take(b codec.Binding) (plain any, err error) {
	native := m.native
	if !m.parsed {
		if native, err = b.Parse(nil); err != nil {
			return nil, err
		}
	}
	*m = message{}
	return b.Plain(native), nil
}

// wire is a connect.Codec for one side of one method. Its MarshalAppend lets
// connect encode into its pooled buffers.
type wire struct {
	name     string
	sends    codec.Binding
	receives codec.Binding
}

// Name is the codec's part of a content type.
func (w *wire) Name() string { return w.name }

// Marshal encodes v.
func (w *wire) Marshal(v any) ([]byte, error) { return w.MarshalAppend(nil, v) }

// MarshalAppend appends v encoded. The codec that bears the name of protobuf's
// also gets the messages that gRPC-Web itself sends to tell of errors.
func (w *wire) MarshalAppend(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case *message:
		encoded, err := w.sends.Append(dst, v.native)
		if err != nil {
			return nil, encodeError{err}
		}
		return encoded, nil
	case proto.Message:
		return proto.MarshalOptions{}.MarshalAppend(dst, v)
	}
	return nil, fmt.Errorf("encode %T: not a message", v)
}

// Unmarshal parses src into v.
func (w *wire) Unmarshal(src []byte, v any) error {
	var m *message
	switch v := v.(type) {
	case *message:
		m = v
	case *unaryCall:
		m = &v.request
	case proto.Message:
		return proto.Unmarshal(src, v)
	default:
		return fmt.Errorf("decode into %T: not a message", v)
	}
	native, err := w.receives.Parse(src)
	*m = message{native: native, parsed: err == nil}
	return err
}

// encodeError marks what went wrong before anything was sent.
type encodeError struct{ error }

func (e encodeError) Unwrap() error { return e.error }
