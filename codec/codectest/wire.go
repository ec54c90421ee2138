package codectest

import (
	"bytes"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tare-bench/tare/codec"
)

// Wire holds a codec of protobuf's binary form to the verdicts that Google's
// runtime gives. Source: protobuf.dev/programming-guides/encoding.
func Wire(t *testing.T, c codec.Codec) {
	const failCode, item, text, counts, child = 2, 1, 1, 9, 7 // fields of Echo's request and of its item
	b := bind(t, c)
	holds := func(number protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), value)
	}
	nested := func(levels int) []byte {
		var sizes []int // of the levels' contents, the innermost first
		for size := 0; len(sizes) <= levels; size += protowire.SizeTag(child) + protowire.SizeVarint(uint64(size)) {
			sizes = append(sizes, size)
		}
		src := protowire.AppendVarint(protowire.AppendTag(nil, item, protowire.BytesType), uint64(sizes[levels]))
		for n := levels - 1; n >= 0; n-- {
			src = protowire.AppendVarint(protowire.AppendTag(src, child, protowire.BytesType), uint64(sizes[n]))
		}
		return src
	}
	for _, test := range []struct {
		name  string
		src   []byte
		takes bool
	}{
		{"nothing", nil, true},
		{"a field twice", []byte{failCode << 3, 5, failCode << 3, 7}, true},
		{"an unknown field", holds(1000, []byte("x")), true},
		{"an unknown group", []byte("\xa3\x06\x08\x05\xa4\x06"), true},
		{"a thousand levels", nested(1000), true},
		{"levels without end", nested(3_000_000), false},
		{"unknown groups without end", bytes.Repeat([]byte("\xa3\x06"), 1_000_000), false},
		{"text that is not UTF-8", holds(item, holds(text, []byte("\xff"))), false},
		{"text far within that is not UTF-8", holds(item, holds(child, holds(child, holds(text, []byte("a\xc3"))))), false},
		{"a key that is not UTF-8", holds(item, holds(counts, append(holds(1, []byte("\xff")), 2<<3, 1))), false},
		{"a length beyond the end", append(protowire.AppendTag(nil, item, protowire.BytesType), 5, 0), false},
		{"a huge length", protowire.AppendVarint(protowire.AppendTag(nil, item, protowire.BytesType), 1<<40), false},
		{"a length that is negative", protowire.AppendVarint(protowire.AppendTag(nil, item, protowire.BytesType), 1<<63), false},
		{"a number without its end", []byte{failCode << 3, 0x80}, false},
		{"a number of 11 bytes", append([]byte{failCode << 3}, bytes.Repeat([]byte{0x80}, 11)...), false},
		{"levels without end behind a tag of too many bits", append(append([]byte("\xa0\x86\x80\x80\x80\x80\x80\x80\x80\x7f"), 0), nested(3_000_000)...), false},
		{"levels without end behind a group of another number", append([]byte("\xa3\x06\xac\x06"), nested(3_000_000)...), false},
		{"field 0", []byte{0, 5}, false},
		{"an end of no group", []byte{failCode<<3 | 4}, false},
		{"a type that there is not", []byte{failCode<<3 | 7}, false},
	} {
		native, err := b.Parse(test.src)
		if takes := err == nil; takes != test.takes {
			t.Errorf("%s: takes it: %v, want %v (%v)", test.name, takes, test.takes, err)
		}
		if err == nil {
			b.Plain(native)
		}
	}
}
