// Package jsonv2 encodes plain structs with the second version of encoding/json,
// as github.com/go-json-experiment/json brings it to every toolchain. Go's own
// encoding/json/v2 is the same code, where GOEXPERIMENT=jsonv2 turns it on.
//
// Its verdicts are those of package json, and in two habits of that package it
// is as strict as ProtoJSON: names are matched as they are written, and two
// equal names are refused.
package jsonv2

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/rpc"
)

// Codec is the second version of encoding/json.
type Codec struct{}

// Spec says what the codec is.
func (Codec) Spec() codec.Spec {
	return codec.Spec{
		Name: "jsonv2", Media: "application/json", Subtype: "json", Module: "github.com/go-json-experiment/json",
		About: "plain structs, encoding/json/v2 as a module",
	}
}

// Bind binds to the type's plain struct.
func (Codec) Bind(t *rpc.Type) (codec.Binding, error) {
	if t.New == nil {
		return nil, fmt.Errorf("bind %s: no plain struct: %w", t.Name, codec.ErrUnbound)
	}
	return binding{t}, nil
}

type binding struct{ t *rpc.Type }

func (binding) Native(plain any) any { return plain }
func (binding) Plain(native any) any { return native }

// Append encodes into a pooled buffer first: one that had to grow from what room
// dst has would cost more than the copy.
func (binding) Append(dst []byte, native any) ([]byte, error) {
	buf := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buf)
	buf.Reset()
	if err := json.MarshalWrite(buf, native); err != nil {
		return dst, err
	}
	return append(dst, buf.Bytes()...), nil
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func (b binding) Parse(src []byte) (any, error) {
	if !bytes.HasPrefix(bytes.TrimLeft(src, " \t\r\n"), []byte("{")) {
		return nil, errNotObject // of all other JSON, null would be taken
	}
	plain := b.t.New()
	if err := json.Unmarshal(src, plain); err != nil {
		return nil, err
	}
	return plain, nil
}

var errNotObject = errors.New("message is not a JSON object")
