//go:build !race

// The race detector allocates, and empties pools at random.

package jsonv2_test

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/jsonv2"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

func TestAllocatesLikeItsTwin(t *testing.T) {
	var buf bytes.Buffer
	codectest.Twin(t, jsonv2.Codec{}, codectest.ByHand{
		Append: func(_ []byte, native any) ([]byte, error) {
			buf.Reset()
			return buf.Bytes(), json.MarshalWrite(&buf, native)
		},
		New:   conformance.Echo.In.New,
		Parse: func(src []byte, native any) error { return json.Unmarshal(src, native) },
	})
}
