package codectest

import (
	"strings"
	"testing"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

// Verdicts holds a codec of JSON to the verdicts that all of them give, so
// that one body is not refused on one stack and taken on another.
func Verdicts(t *testing.T, c codec.Codec) {
	b := bind(t, c)
	for _, test := range []struct {
		name, body string
		takes      bool
	}{
		{"an object", `{"failCode":5}`, true},
		{"no field", `{}`, true},
		{"space around", " \r\n\t{} \n", true},
		{"a field that is null", `{"item":null,"failCode":null}`, true},
		{"an unknown field", `{"unknown":{"a":[1]},"failCode":5}`, true},
		{"an enum by number", `{"item":{"mood":2}}`, true},
		{"an unknown enum number", `{"item":{"mood":77}}`, true},
		{"nothing", ``, false},
		{"null", `null`, false},
		{"a list", `[]`, false},
		{"text", `"{}"`, false},
		{"trailing data", `{} {}`, false},
		{"a trailing comma", `{"failCode":5,}`, false},
		{"cut short", `{"failCode":5`, false},
		{"text for a number", `{"failCode":"five"}`, false},
		{"a fraction for an integer", `{"failCode":1.5}`, false},
		{"a number beyond its type", `{"failCode":2147483648}`, false},
		{"an int64 beyond its type", `{"item":{"number":"9223372036854775808"}}`, false},
		{"bytes that are no base64", `{"item":{"blob":"*"}}`, false},
		{"a double beyond its type", `{"item":{"ratio":1e999}}`, false},
		{"bytes that are not UTF-8", "{\"item\":{\"text\":\"\xff\"}}", false},
		{"a thousand levels", nested(1000), true},
		{"levels without end", nested(1_000_000), false},
		{"unknown levels without end", `{"unknown":` + strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000) + `}`, false},
		{"a bare NaN", `{"item":{"ratio":NaN}}`, false},
	} {
		native, err := b.Parse([]byte(test.body))
		if takes := err == nil; takes != test.takes {
			t.Errorf("%s: %.200s: takes it: %v, want %v (%v)", test.name, test.body, takes, test.takes, err)
		}
		if err == nil {
			b.Plain(native)
		}
	}
	const exact = `{"item":{"number":"9007199254740993"}}`
	if got := decode(t, b, []byte(exact)).(*conformance.EchoRequest).Item.Number; got != 1<<53+1 {
		t.Errorf("%s reads as %d", exact, got)
	}
}

// nested is an item in so many others.
func nested(levels int) string {
	return `{"item":` + strings.Repeat(`{"child":`, levels) + `{}` + strings.Repeat(`}`, levels) + `}`
}
