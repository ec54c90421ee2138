// Package cbor encodes plain structs as CBOR (RFC 8949) with
// github.com/fxamacker/cbor.
//
// Fields have their names in JSON, as users of the format do who had JSON before;
// enums are numbers, bytes are bytes. A time is text, as RFC 3339 has it: the
// library's other form, seconds in a double, would lose some of its nanoseconds.
//
// Its verdicts are those of ProtoJSON: unknown fields are ignored; trailing
// bytes, anything but a map, two equal names and strings that are not UTF-8 are
// refused.
package cbor

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/fxamacker/cbor/v2"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/rpc"
)

// Codec is fxamacker's CBOR.
type Codec struct{}

// Spec says what the codec is.
func (Codec) Spec() codec.Spec {
	return codec.Spec{
		Name: "cbor", Media: "application/cbor", Subtype: "cbor", Module: "github.com/fxamacker/cbor/v2",
		About: "plain structs as CBOR, fields by their names in JSON",
	}
}

// Bind binds to the type's plain struct.
func (Codec) Bind(t *rpc.Type) (codec.Binding, error) {
	if t.New == nil {
		return nil, fmt.Errorf("bind %s: no plain struct: %w", t.Name, codec.ErrUnbound)
	}
	both, err := modes()
	if err != nil {
		return nil, fmt.Errorf("bind %s: %w", t.Name, err)
	}
	return &binding{t, both}, nil
}

// modes are the library's options. How much a message may hold, its length says:
// what is there is counted before anything is made of it.
var modes = sync.OnceValues(func() (both, error) {
	in, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		FieldNameMatching: cbor.FieldNameMatchingCaseSensitive,
		MaxNestedLevels:   10_000, // as encoding/json and protobuf have it
		MaxArrayElements:  math.MaxInt32,
		MaxMapPairs:       math.MaxInt32,
	}.DecMode()
	if err != nil {
		return both{}, err
	}
	out, err := cbor.EncOptions{Time: cbor.TimeRFC3339Nano, TimeTag: cbor.EncTagRequired}.UserBufferEncMode()
	return both{in, out}, err
})

type both struct {
	in  cbor.DecMode
	out cbor.UserBufferEncMode
}

type binding struct {
	t *rpc.Type
	both
}

func (*binding) Native(plain any) any { return plain }
func (*binding) Plain(native any) any { return native }

// Append encodes into a pooled buffer first: one that had to grow from what room
// dst has would cost more than the copy.
func (b *binding) Append(dst []byte, native any) ([]byte, error) {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	if err := b.out.MarshalToBuffer(native, buf); err != nil {
		return dst, err
	}
	return append(dst, buf.Bytes()...), nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (b *binding) Parse(src []byte) (any, error) {
	if len(src) == 0 || src[0]>>5 != mapType {
		return nil, errNotMap // of all else, the library would take null
	}
	plain := b.t.New()
	if err := b.in.Unmarshal(src, plain); err != nil {
		return nil, err
	}
	return plain, nil
}

// mapType is the major type of maps. Source: RFC 8949, section 3.1.
const mapType = 5

var errNotMap = errors.New("message is not a map of CBOR")
