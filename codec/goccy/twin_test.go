//go:build !race

// The race detector allocates, and empties pools at random.

package goccy_test

import (
	"bytes"
	"testing"

	"github.com/goccy/go-json"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/goccy"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

func TestAllocatesLikeItsTwin(t *testing.T) {
	var buf bytes.Buffer
	codectest.Twin(t, goccy.Codec{}, codectest.ByHand{
		Append: func(_ []byte, native any) ([]byte, error) {
			buf.Reset()
			return buf.Bytes(), json.NewEncoder(&buf).Encode(native)
		},
		New:   conformance.Echo.In.New,
		Parse: json.Unmarshal,
	})
}
