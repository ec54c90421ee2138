//go:build !race

// The race detector allocates, and empties pools at random.

package cbor_test

import (
	"bytes"
	"testing"

	"github.com/fxamacker/cbor/v2"

	cborcodec "github.com/tare-bench/tare/codec/cbor"
	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

func TestAllocatesLikeItsTwin(t *testing.T) {
	out, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano}.UserBufferEncMode()
	if err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	codectest.Twin(t, cborcodec.Codec{}, codectest.ByHand{
		Append: func(_ []byte, native any) ([]byte, error) {
			buf.Reset()
			return buf.Bytes(), out.MarshalToBuffer(native, &buf)
		},
		New:   conformance.Echo.In.New,
		Parse: cbor.Unmarshal,
	})
}
