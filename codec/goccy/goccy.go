// Package goccy encodes plain structs with github.com/goccy/go-json, of the fast
// libraries that take the place of encoding/json one whose values come back as
// they went: bytedance/sonic, which is about as fast, reads -0 as 0.
//
// Its verdicts are those of package json. It would take strings that are not
// UTF-8; so they are refused before it.
package goccy

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/goccy/go-json"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/rpc"
)

// Codec is goccy/go-json.
type Codec struct{}

// Spec says what the codec is.
func (Codec) Spec() codec.Spec {
	return codec.Spec{
		Name: "goccy", Media: "application/json", Subtype: "json", Module: "github.com/goccy/go-json",
		About: "plain structs, the fast JSON of goccy/go-json",
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

// Append encodes by way of a json.Encoder: json.Marshal would copy the message
// once more than a service that encodes into its response writer.
func (binding) Append(dst []byte, native any) ([]byte, error) {
	a := appenders.Get().(*appender)
	defer func() {
		a.dst = nil
		appenders.Put(a)
	}()
	a.dst = dst
	if err := a.encoder.Encode(native); err != nil {
		return dst, err
	}
	return bytes.TrimSuffix(a.dst, []byte("\n")), nil
}

func (b binding) Parse(src []byte) (any, error) {
	if !bytes.HasPrefix(bytes.TrimLeft(src, " \t\r\n"), []byte("{")) {
		return nil, errNotObject // of all other JSON, null would be taken
	}
	if !utf8.Valid(src) {
		return nil, errNotUTF8
	}
	plain := b.t.New()
	if err := json.Unmarshal(src, plain); err != nil {
		return nil, err
	}
	return plain, nil
}

var (
	errNotObject = errors.New("message is not a JSON object")
	errNotUTF8   = errors.New("message is not UTF-8")
)

type appender struct {
	dst     []byte
	encoder *json.Encoder
}

func (a *appender) Write(p []byte) (int, error) {
	a.dst = append(a.dst, p...)
	return len(p), nil
}

var appenders = sync.Pool{New: func() any {
	a := new(appender)
	a.encoder = json.NewEncoder(a)
	return a
}}
