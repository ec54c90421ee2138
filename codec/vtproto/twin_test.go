//go:build !race

// The race detector allocates, and empties pools at random.

package vtproto_test

import (
	"testing"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/vtproto"
	conformancev1 "github.com/tare-bench/tare/gen/tare/conformance/v1"
)

func TestAllocatesLikeItsTwin(t *testing.T) {
	codectest.Twin(t, vtproto.Codec{}, codectest.ByHand{
		Append: func(dst []byte, native any) ([]byte, error) {
			m := native.(*conformancev1.EchoRequest)
			dst = dst[:m.SizeVT()]
			_, err := m.MarshalToSizedBufferVT(dst)
			return dst, err
		},
		New:   func() any { return new(conformancev1.EchoRequest) },
		Parse: func(src []byte, native any) error { return native.(*conformancev1.EchoRequest).UnmarshalVT(src) },
	})
}
