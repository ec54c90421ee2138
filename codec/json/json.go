// Package json encodes plain structs with encoding/json, as a hand-written
// REST service in Go does.
//
// Its verdicts are protobuf's, so that one body is not 400 on one stack and
// 200 on another: unknown fields are ignored, trailing bytes and anything but
// an object are refused. Two of encoding/json's own habits remain, as its users
// have them: it matches names without regard to case, and the last of two equal
// names wins.
package json

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/rpc"
)

// Codec is encoding/json.
type Codec struct{}

// Spec says what the codec is.
func (Codec) Spec() codec.Spec {
	return codec.Spec{
		Name: "json", Media: "application/json", Subtype: "json", Module: "std",
		About: "plain structs, encoding/json of the standard library",
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

// Append encodes by way of a pooled json.Encoder: json.Marshal would copy the
// message once more than a service that encodes into its response writer.
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
		return nil, errNotObject // of all other JSON, encoding/json would take null
	}
	if !utf8.Valid(src) {
		return nil, errNotUTF8 // which encoding/json would take, and keep something else
	}
	plain := b.t.New()
	if err := json.Unmarshal(src, plain); err != nil {
		return nil, inWords(err)
	}
	return plain, nil
}

var (
	errNotObject = errors.New("message is not a JSON object")
	errNotUTF8   = errors.New("message is not UTF-8")
	errUnquoted  = errors.New(`a whole number of 64 bits stands in quotes, such as "150"`)
)

// inWords says what is wrong with a body to somebody who sends JSON and knows
// nothing of Go. Of a field in quotes, encoding/json does not tell the name.
func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case strings.Contains(err.Error(), ",string struct tag"):
		return errUnquoted
	case !errors.As(err, &wrong) || wrong.Field == "":
		return err
	}
	want := wrong.Type.Kind().String()
	if name, ok := kinds[wrong.Type.Kind()]; ok {
		want = name
	}
	return fmt.Errorf("%s is to be %s, and is %s", wrong.Field, want, wrong.Value)
}

// kinds are Go's kinds as JSON has them; the others' names say enough.
var kinds = map[reflect.Kind]string{
	reflect.Slice: "a list", reflect.Struct: "an object", reflect.Pointer: "an object", reflect.Map: "an object",
	reflect.String: "a string", reflect.Bool: "true or false", reflect.Float64: "a number", reflect.Float32: "a number",
}

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
