package codectest

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/rpc"
)

// Carries holds c to carry every message of services that it has a form for: with
// no field set, and with each.
func Carries(t *testing.T, c codec.Codec, services ...*rpc.Service) {
	for _, s := range services {
		for _, m := range s.Methods {
			for _, typ := range []*rpc.Type{m.In, m.Out} {
				t.Run(typ.Name, func(t *testing.T) {
					b, err := c.Bind(typ)
					if errors.Is(err, codec.ErrUnbound) {
						t.Skip(err)
					}
					if err != nil {
						t.Fatal(err)
					}
					wantIdentity(t, b, typ.New())
					full := typ.New()
					new(filler).fill(reflect.ValueOf(full).Elem())
					wantIdentity(t, b, full)
				})
			}
		}
	}
}

// filler sets fields to values that differ.
type filler struct{ n int }

func (f *filler) fill(v reflect.Value) {
	f.n++
	if t, ok := v.Addr().Interface().(*time.Time); ok {
		*t = time.Unix(1_780_000_000+int64(f.n), 123_456_000).UTC() // to the microsecond, as stores keep times
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.String:
		v.SetString(fmt.Sprintf("text%d", f.n))
	case reflect.Int32:
		v.SetInt(1) // an enum's, perhaps
	case reflect.Int64:
		v.SetInt(1<<53 + int64(f.n))
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic(fmt.Sprintf("no value for a %s", v.Type()))
	}
}
