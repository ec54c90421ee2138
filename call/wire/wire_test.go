package wire_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/call/wire"
	pb "github.com/tare-bench/tare/gen/tare/conformance/v1"
)

func marshal(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func everyField() *pb.Item {
	return &pb.Item{
		Text: "Zoë", Number: -5, Ratio: 2.5, Blob: []byte{1, 200, 3}, Mood: 2, Tags: []string{"hi", ""},
		Child: &pb.Item{Text: "0123456789"}, Maybe: proto.Int32(75), Counts: map[string]int64{"a": 150},
	}
}

func decode(b []byte, change func(*wire.Decoder)) (out, notes string, err error) {
	var o, n strings.Builder
	d := wire.Decoder{Out: &o, Aside: &n}
	if change != nil {
		change(&d)
	}
	err = d.Decode(b)
	return o.String(), n.String(), err
}

func TestTree(t *testing.T) {
	const want = `1: "Zoë"
2: varint 18446744073709551611 (int64 -5)
3: fixed64 4612811918334230528 (double 2.5)
4: 3 bytes 01 c8 03  # or packed varints [1 456]
5: varint 2 (zigzag 1)
6: "hi"  # or {13: varint 105 (zigzag -53)}
6: ""
7 {  # or "\n\n0123456789"
  1: "0123456789"
}
8: varint 75 (zigzag -38)
9 {
  1: "a"
  2: varint 150 (zigzag 75)
}
`
	if out, _, err := decode(marshal(t, everyField()), nil); err != nil || out != want {
		t.Errorf("printed\n%s(%v), want\n%s", out, err, want)
	}
}

func TestTreeOfWhatItemHasNot(t *testing.T) {
	doubles := protowire.AppendFixed64(protowire.AppendFixed64(nil, math.Float64bits(1.5)), math.Float64bits(-1e6))
	floats := protowire.AppendFixed32(protowire.AppendFixed32(nil, math.Float32bits(0.1)), math.Float32bits(3))
	var b []byte
	for _, content := range [][]byte{doubles, floats} {
		b = protowire.AppendBytes(protowire.AppendTag(b, 1, protowire.BytesType), content)
	}
	b = protowire.AppendFixed32(protowire.AppendTag(b, 2, protowire.Fixed32Type), math.Float32bits(1))
	b = protowire.AppendTag(b, 3, protowire.StartGroupType)
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.VarintType), 1)
	b = protowire.AppendTag(b, 3, protowire.EndGroupType)
	b = protowire.AppendBytes(protowire.AppendTag(b, 4, protowire.BytesType), []byte(strings.Repeat("ab", 3000)))
	b = protowire.AppendBytes(protowire.AppendTag(b, 5, protowire.BytesType), make([]byte, 100))
	out, _, err := decode(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"packed doubles [1.5 -1e+06]", "packed floats [0.1 3]", "2: fixed32 1065353216 (float 1)\n",
		"3 group {\n  1: varint 1 (zigzag -1)\n}\n", "ab\"… (6000 bytes)\n", "5: 100 bytes 00 00", "0 0 0 … (84 more)]",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

// What makes no sense is told by its byte, after all that does.
func TestGarbageHasItsPlace(t *testing.T) {
	whole := marshal(t, everyField())
	tag := func(n protowire.Number, kind protowire.Type) []byte { return protowire.AppendTag(nil, n, kind) }
	deep := []byte{}
	for range 200 {
		deep = append(deep, tag(1, protowire.StartGroupType)...)
	}
	for _, test := range []struct {
		name string
		in   []byte
		out  string // its end
		err  string
	}{
		{"nothing", nil, "", ""},
		{"cut off in a string", whole[:3], "1: \"Z\"  # cut off\n", "byte 2: field 1 says that it has 4 bytes, and 1 are left"},
		{"cut off in a message", whole[:len(whole)-1], "9 {  # cut off\n  1: \"a\"\n}\n", "byte 57: field 9 says that it has 6 bytes, and 5 are left"},
		{"cut off in a varint", []byte{0x08, 0x80}, "", "byte 1: field 1: its varint: unexpected EOF"},
		{"cut off in a length", []byte{0x0a, 0x80}, "", "byte 1: field 1: its length: unexpected EOF"},
		{"cut off in a tag", []byte{0x08, 1, 0x80}, "1: varint 1 (zigzag -1)\n", "byte 2: no field begins: unexpected EOF"},
		{"a varint that is too long", append([]byte{0x08}, strings.Repeat("\xff", 11)...), "", "byte 1: field 1: its varint: variable length integer overflow"},
		{"field 0", []byte{0x08, 1, 0, 1}, "1: varint 1 (zigzag -1)\n", "byte 2: no field begins: invalid field number"},
		{"no wire type", []byte{0x0f}, "", "byte 0: field 1 has wire type 7, which there is not"},
		{"a group that ends unbegun", tag(2, protowire.EndGroupType), "", "byte 0: a group ends that did not begin"},
		{"a group that does not end", append(tag(2, protowire.StartGroupType), 0x08, 1), "2 group {\n  1: varint 1 (zigzag -1)\n}\n", "byte 3: group 2 does not end"},
		{"a group that ends as another", append(tag(2, protowire.StartGroupType), tag(3, protowire.EndGroupType)...), "2 group {\n}\n", "byte 1: group 3 ends, and it is group 2 that is open"},
		{"groups within groups", deep, "", "byte 101: groups within groups, more than 100 deep"},
	} {
		out, _, err := decode(test.in, nil)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.err {
			t.Errorf("%s ended with %q, want %q", test.name, got, test.err)
		}
		if test.name != "groups within groups" && !strings.HasSuffix(out, test.out) {
			t.Errorf("%s printed\n%s, want at its end\n%s", test.name, out, test.out)
		}
		if at := (*wire.Error)(nil); err != nil && !errors.As(err, &at) {
			t.Errorf("%s: %v is no *wire.Error", test.name, err)
		}
	}
}

// However much there is, no more is looked into than a person could read.
func TestLimits(t *testing.T) {
	out, _, err := decode(bytes.Repeat([]byte{8, 1}, 1<<18+1), nil)
	if err == nil || err.Error() != "byte 524288: more than 262144 fields" || strings.Count(out, "\n") != 1<<18 {
		t.Errorf("%d lines were printed, and it ended with %v", strings.Count(out, "\n"), err)
	}
	deep := []byte{8, 1}
	for range 150 {
		deep = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), deep)
	}
	out, _, err = decode(deep, nil)
	if err != nil || strings.Count(out, "{") != 100 || !strings.Contains(out, " bytes 0a ") {
		t.Errorf("of 150 messages in one another %d are looked into, and it ended with %v", strings.Count(out, "{"), err)
	}
}

// FuzzTree holds that any input is read to its end or to where an error says, in
// little time, and that nothing before that is lost.
func FuzzTree(f *testing.F) {
	f.Add(marshal(f, everyField()))
	f.Add([]byte(strings.Repeat("\n~", 300)))
	f.Add([]byte{0x0b, 0x0b, 0x0c, 0x0c})
	f.Fuzz(func(t *testing.T, b []byte) {
		out, _, err := decode(b, nil)
		end := len(b)
		if at := (*wire.Error)(nil); errors.As(err, &at) {
			end = at.At
		} else if err != nil {
			t.Fatal(err)
		}
		if end < 0 || end > len(b) {
			t.Fatalf("%v is not within %d bytes", err, len(b))
		}
		if limit := 100 * (len(b) + 1) * 8; len(out) > limit {
			t.Errorf("%d bytes were printed as %d", len(b), len(out))
		}
		lines := "\n" + out
		for at := 0; at < min(end, 1000); {
			number, kind, n := protowire.ConsumeTag(b[at:])
			m := protowire.ConsumeFieldValue(number, kind, b[at+max(n, 0):])
			if n < 0 || m < 0 {
				break // the error is within this field
			}
			if !strings.Contains(lines, fmt.Sprintf("\n%d", number)) {
				t.Errorf("field %d of %x is not printed:\n%s", number, b, out)
			}
			at += n + m
		}
	})
}

// FuzzMessage holds that each field of a message is printed.
func FuzzMessage(f *testing.F) {
	f.Add("Zoë", int64(-5), 2.5, []byte{1, 200}, "tag", "\n\n", int32(7))
	f.Fuzz(func(t *testing.T, text string, number int64, ratio float64, blob []byte, tag, child string, maybe int32) {
		text, tag, child = strings.ToValidUTF8(text, ""), strings.ToValidUTF8(tag, ""), strings.ToValidUTF8(child, "")
		m := &pb.Item{
			Text: text, Number: number, Ratio: ratio, Blob: blob, Tags: []string{tag}, Maybe: &maybe,
			Child: &pb.Item{Text: child, Number: 1}, Counts: map[string]int64{tag: number},
		}
		out, _, err := decode(marshal(t, m), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []struct {
			number int
			is     bool
		}{{1, text != ""}, {2, number != 0}, {3, ratio != 0}, {4, len(blob) > 0}, {6, true}, {7, true}, {8, true}, {9, true}} {
			if want.is && !strings.Contains("\n"+out, fmt.Sprintf("\n%d", want.number)) {
				t.Errorf("field %d of %v is not printed:\n%s", want.number, m, out)
			}
		}
		if quoted := fmt.Sprintf("1: %q", child); child != "" && len(child) < 1000 && !strings.Contains(out, quoted) {
			if !strings.Contains(out, fmt.Sprintf("1: %d bytes", len(child))) && !strings.Contains(out, "1 {") {
				t.Errorf("there is no %s in\n%s", quoted, out)
			}
		}
	})
}
