//go:build !race

// The race detector allocates, and empties pools at random.

package msgpack_test

import (
	"testing"

	ugorji "github.com/ugorji/go/codec"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/msgpack"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

func TestAllocatesLikeItsTwin(t *testing.T) {
	h := new(ugorji.MsgpackHandle)
	h.WriteExt = true
	encoder, decoder := ugorji.NewEncoderBytes(nil, h), ugorji.NewDecoderBytes(nil, h)
	out := make([]byte, 0, 1<<16)
	codectest.Twin(t, msgpack.Codec{}, codectest.ByHand{
		Append: func(_ []byte, native any) ([]byte, error) {
			out = out[:cap(out)]
			encoder.ResetBytes(&out)
			return out, encoder.Encode(native)
		},
		New: conformance.Echo.In.New,
		Parse: func(src []byte, native any) error {
			decoder.ResetBytes(src)
			return decoder.Decode(native)
		},
	})
}
