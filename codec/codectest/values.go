package codectest

import (
	"math"
	"runtime"
	"testing"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

// Values holds a binary codec of plain structs to the verdicts that those of JSON
// give. marshal encodes maps, lists and plain values in the codec's format.
func Values(t *testing.T, c codec.Codec, marshal func(any) ([]byte, error)) {
	type fields = map[string]any
	b := bind(t, c)
	encoded := func(v any) []byte {
		t.Helper()
		out, err := marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, test := range []struct {
		name  string
		value any
		takes bool
	}{
		{"a map", fields{"failCode": 5}, true},
		{"no field", fields{}, true},
		{"a field that is nil", fields{"item": nil, "failCode": nil}, true},
		{"an unknown field", fields{"unknown": fields{"a": []any{1, "b", nil, 1.5}}, "failCode": 5}, true},
		{"an enum", fields{"item": fields{"mood": 2}}, true},
		{"an unknown enum", fields{"item": fields{"mood": 77}}, true},
		{"a thousand levels", levels("child", 1000), true},
		{"levels without end", levels("child", 20_000), false},
		{"unknown levels without end", fields{"unknown": levels("a", 20_000)}, false},
		{"nil", nil, false},
		{"a list", []any{}, false},
		{"text", "{}", false},
		{"a number", 5, false},
		{"text for a number", fields{"failCode": "five"}, false},
		{"a fraction for an integer", fields{"failCode": 1.5}, false},
		{"a number beyond its type", fields{"failCode": math.MaxInt32 + 1}, false},
		{"an int64 beyond its type", fields{"item": fields{"number": uint64(math.MaxInt64) + 1}}, false},
		{"a number for text", fields{"item": fields{"text": 7}}, false},
		{"a number for a struct", fields{"item": 7}, false},
		{"a number for a list", fields{"item": fields{"tags": 7}}, false},
		{"a number for a truth", fields{"hang": 7}, false},
		{"text that is not UTF-8", fields{"item": fields{"text": "\xff"}}, false},
		{"an unknown name for an enum", fields{"item": fields{"mood": "MERRY"}}, false},
	} {
		native, err := b.Parse(encoded(test.value))
		if takes := err == nil; takes != test.takes {
			t.Errorf("%s: takes it: %v, want %v (%v)", test.name, takes, test.takes, err)
		}
		if err == nil {
			b.Plain(native)
		}
	}
	if _, err := b.Parse(append(encoded(fields{}), encoded(fields{})...)); err == nil {
		t.Error("takes a message with another behind it")
	}
	if _, err := b.Parse(nil); err == nil {
		t.Error("takes nothing for a message")
	}
	exact := encoded(fields{"item": fields{"number": 1<<53 + 1}})
	if got := decode(t, b, exact).(*conformance.EchoRequest).Item.Number; got != 1<<53+1 {
		t.Errorf("2^53+1 reads as %d", got)
	}
}

// Bounded tries messages that say of themselves that they are far longer than
// they are: no memory is made for what is not there.
func Bounded(t *testing.T, c codec.Codec, bodies map[string]string) {
	const limit = 1 << 20
	b := bind(t, c)
	for name, body := range bodies {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := b.Parse([]byte(body))
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: takes %x", name, body)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > limit {
			t.Errorf("%s: %x has %d bytes made for it", name, body, made)
		}
	}
}

// levels is an item in so many others, each under a name.
func levels(name string, n int) map[string]any {
	v := map[string]any{}
	for range n {
		v = map[string]any{name: v}
	}
	return map[string]any{"item": v}
}
