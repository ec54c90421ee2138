// Package codectest is the contract of package codec as tests: for any plain
// value, plain → native → bytes → native → plain is the identity, and no input
// makes a codec panic. A codec's own test hands it the codec:
//
//	func TestContract(t *testing.T) { codectest.Run(t, x.Codec{}) }
//	func FuzzParse(f *testing.F)    { codectest.Fuzz(f, x.Codec{}) }
//
// It knows no codec. What it encodes is package conformance.
package codectest

import (
	"bytes"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

// Run holds c to the contract.
func Run(t *testing.T, c codec.Codec) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, codec.Codec)
	}{
		{"every message type round-trips", everyType},
		{"the items that codecs get wrong round-trip", examples},
		{"any item round-trips", anyItem},
		{"Append keeps what stands before", appends},
		{"Parse keeps no reference to its input", keepsNothing},
		{"Size is what Append appends", sizes},
		{"a binding is safe for concurrent use", concurrent},
		{"noise is an error", noise},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, c) })
	}
}

// Fuzz tries that Parse never panics, and that what it takes is stable: what
// it read, encoded and read again is the same.
func Fuzz(f *testing.F, c codec.Codec) {
	b := bind(f, c)
	for _, e := range conformance.Examples() {
		if encoded, err := b.Append(nil, b.Native(&conformance.EchoRequest{Item: e.Item})); err == nil && len(encoded) < 1<<12 {
			f.Add(encoded)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		native, err := b.Parse(src)
		if err != nil {
			return
		}
		plain := b.Plain(native)
		encoded, err := b.Append(nil, b.Native(plain))
		if err != nil {
			t.Fatalf("takes %q, and cannot encode what it read: %v", src, err)
		}
		again, err := b.Parse(encoded)
		if err != nil {
			t.Fatalf("refuses its own %q: %v", encoded, err)
		}
		if diff := conformance.Diff(plain, b.Plain(again)); diff != "" {
			t.Errorf("reads %q differently the second time: %s", src, diff)
		}
	})
}

func bind(t testing.TB, c codec.Codec) codec.Binding {
	t.Helper()
	b, err := c.Bind(conformance.Echo.In)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fataler is what *testing.T and *rapid.T share.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func encode(t fataler, b codec.Binding, plain any) []byte {
	t.Helper()
	out, err := b.Append(nil, b.Native(plain))
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return out
}

func decode(t fataler, b codec.Binding, src []byte) any {
	t.Helper()
	native, err := b.Parse(src)
	if err != nil {
		t.Fatalf("parse %.500q: %v", src, err)
	}
	return b.Plain(native)
}

func wantIdentity(t fataler, b codec.Binding, plain any) {
	t.Helper()
	if diff := conformance.Diff(plain, decode(t, b, encode(t, b, plain))); diff != "" {
		t.Fatalf("differs (-in +out):\n%.2000s", diff)
	}
}

func everyType(t *testing.T, c codec.Codec) {
	item, asked := conformance.Ordinary(), conformance.OrdinaryQuery()
	full := map[string][2]any{
		"Echo": {
			&conformance.EchoRequest{Item: item, FailCode: 5, FailMessage: "m", Hang: true},
			&conformance.EchoResponse{Item: item},
		},
		"Expand": {
			&conformance.ExpandRequest{Item: item, Count: 2, FailCode: 5},
			&conformance.ExpandResponse{Item: item},
		},
		"Collect": {
			&conformance.CollectRequest{Item: item},
			&conformance.CollectResponse{Count: 2, Last: item},
		},
		"Converse": {
			&conformance.ConverseRequest{Item: item},
			&conformance.ConverseResponse{Item: item},
		},
		"Find":   {asked, &conformance.FindResponse{Found: asked}},
		"Amend":  {&conformance.AmendRequest{Name: "a", Item: item}, &conformance.AmendResponse{Name: "a", Item: item}},
		"Follow": {&conformance.FollowRequest{Count: 2, After: new(int64)}, &conformance.FollowResponse{Number: 1}},
	}
	for _, m := range conformance.Service.Methods {
		in, err := c.Bind(m.In)
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.Bind(m.Out)
		if err != nil {
			t.Fatal(err)
		}
		wantIdentity(t, in, full[m.Name][0])
		wantIdentity(t, in, m.In.New())
		wantIdentity(t, out, full[m.Name][1])
		wantIdentity(t, out, m.Out.New())
	}
}

// examples takes an error for an item that the codec has no form for, never a
// changed value.
func examples(t *testing.T, c codec.Codec) {
	b := bind(t, c)
	for _, e := range conformance.Examples() {
		t.Run(e.Name, func(t *testing.T) {
			in := &conformance.EchoRequest{Item: e.Item}
			unnamed := c.Spec().ClosedEnums && e.Item.Unnamed()
			if _, err := b.Append(nil, b.Native(in)); err != nil && (e.NotJSON || unnamed) {
				t.Skipf("no form for it: %v", err)
			}
			wantIdentity(t, b, in)
		})
	}
}

func anyItem(t *testing.T, c codec.Codec) {
	b := bind(t, c)
	rapid.Check(t, func(t *rapid.T) {
		wantIdentity(t, b, &conformance.EchoRequest{Item: item(c, 3).Draw(t, "item")})
	})
}

func appends(t *testing.T, c codec.Codec) {
	b := bind(t, c)
	native := b.Native(&conformance.EchoRequest{Item: &conformance.Item{Text: "after"}})
	alone, err := b.Append(nil, native)
	if err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, len(alone) - 1, 4096} {
		dst := append(make([]byte, 0, len("before")+room), "before"...)
		both, err := b.Append(dst, native)
		if err != nil {
			t.Fatal(err)
		}
		if want := append([]byte("before"), alone...); !bytes.Equal(both, want) {
			t.Errorf("with room for %d: %q, want %q", room, both, want)
		}
	}
}

func keepsNothing(t *testing.T, c codec.Codec) {
	b := bind(t, c)
	in := &conformance.EchoRequest{Item: conformance.Ordinary(), FailMessage: "kept"}
	src := encode(t, b, in)
	out := decode(t, b, src)
	clear(src)
	if diff := conformance.Diff(in, out); diff != "" {
		t.Errorf("changed with its input: %s", diff)
	}
}

func sizes(t *testing.T, c codec.Codec) {
	b := bind(t, c)
	sizer, ok := b.(codec.Sizer)
	if !ok {
		t.Skip("the codec does not know sizes beforehand")
	}
	rapid.Check(t, func(t *rapid.T) {
		native := b.Native(&conformance.EchoRequest{Item: item(c, 2).Draw(t, "item")})
		out, err := b.Append(nil, native)
		if err != nil {
			t.Fatal(err)
		}
		if size := sizer.Size(native); size != len(out) {
			t.Fatalf("size %d, appended %d", size, len(out))
		}
		for _, room := range []int{0, 1, 4096} {
			dst := append(make([]byte, 0, len("before")+len(out)+room), "before"...)
			if dst, err = sizer.AppendSized(dst, native); err != nil {
				t.Fatal(err)
			}
			if len(dst) != len("before")+len(out) {
				t.Fatalf("with room for %d more: appended %d, want %d", room, len(dst)-len("before"), len(out))
			}
			parsed, err := b.Parse(dst[len("before"):])
			if err != nil {
				t.Fatalf("with room for %d more: parse: %v", room, err)
			}
			if diff := conformance.Diff(b.Plain(native), b.Plain(parsed)); diff != "" {
				t.Fatalf("with room for %d more: differs: %s", room, diff)
			}
		}
	})
}

func concurrent(t *testing.T, c codec.Codec) {
	b := bind(t, c)
	var wg sync.WaitGroup
	for n := range int64(8) {
		wg.Go(func() {
			in := &conformance.EchoRequest{Item: &conformance.Item{Number: n}}
			for range 100 {
				encoded, err := b.Append(nil, b.Native(in))
				if err != nil {
					t.Error(err)
					return
				}
				native, err := b.Parse(encoded)
				if err != nil {
					t.Error(err)
					return
				}
				if diff := conformance.Diff(in, b.Plain(native)); diff != "" {
					t.Errorf("caller %d: %s", n, diff)
				}
			}
		})
	}
	wg.Wait()
}

func noise(t *testing.T, c codec.Codec) {
	b := bind(t, c)
	whole := encode(t, b, &conformance.EchoRequest{Item: conformance.Ordinary()})
	for name, src := range map[string][]byte{
		"no format's bytes":   bytes.Repeat([]byte{0xff}, 12),
		"a message cut short": whole[:len(whole)-1],
	} {
		if native, err := b.Parse(src); err == nil {
			t.Errorf("%s: takes %q for %v", name, src, native)
		}
	}
}
