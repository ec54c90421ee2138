package wire_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tare-bench/tare/call/schema"
	"github.com/tare-bench/tare/call/wire"
	pb "github.com/tare-bench/tare/gen/tare/conformance/v1"
)

// asItem makes a decoder one of conformance items.
func asItem(d *wire.Decoder) {
	d.Type, d.Types = new(pb.Item).ProtoReflect().Type(), schema.Builtin().Types()
}

func TestTypedIsJSON(t *testing.T) {
	out, notes, err := decode(marshal(t, &pb.Item{Text: "Zoë", Number: 1 << 60, Child: &pb.Item{Mood: 2}}), asItem)
	const want = `{
  "text": "Zoë",
  "number": "1152921504606846976",
  "child": {
    "mood": "MOOD_BRISK"
  }
}
`
	if out != want || notes != "" || err != nil {
		t.Errorf("printed %s and %q, ended with %v; want %s", out, notes, err, want)
	}
}

func TestFieldsThatTheTypeHasNotAreNoted(t *testing.T) {
	strange := protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 150)
	child := append(marshal(t, &pb.Item{Text: "c"}), strange...)
	b := append(marshal(t, &pb.Item{Text: "a"}), protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), child)...)
	b = append(b, strange...)
	_, notes, err := decode(b, asItem)
	const want = "tare: warning: the schema has no field 99: varint 150 (zigzag 75)\n" +
		"tare: warning: the schema has no field child.99: varint 150 (zigzag 75)\n"
	if notes != want || err != nil {
		t.Errorf("noted\n%s(%v), want\n%s", notes, err, want)
	}
}

// With a type the place of what is wrong has a name, and all before it is shown.
func TestTypedGarbageHasItsPlace(t *testing.T) {
	child := func(content string) []byte {
		return append([]byte{0x0a, 1, 'a'}, protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), []byte(content))...)
	}
	deep := []byte("\x10\x01")
	for range 120 {
		deep = protowire.AppendBytes(protowire.AppendTag(nil, 7, protowire.BytesType), deep)
	}
	for _, test := range []struct {
		name, err string
		in        []byte
	}{
		{"cut off", "byte 3: child: it says that it has 5 bytes, and 2 are left", append(child(""), 0x3a, 5, 1, 2)[:7]},
		{"cut off within", "byte 5: child.text: it says that it has 9 bytes, and 1 are left", child("\x0a\x09x")},
		{"no UTF-8", "byte 7: child.text: its text is not UTF-8", child("\x0a\x02\xff\xfe")},
		{"no field", "byte 5: no field begins: invalid field number", child("\x00\x01")},
		{"a varint that is too long", "byte 5: child.number: variable length integer overflow", child("\x10" + strings.Repeat("\xff", 11))},
		{"too deep", "messages within messages, more than 100 deep", deep},
	} {
		in := test.in
		if test.name == "cut off" {
			in = append([]byte{0x0a, 1, 'a'}, 0x3a, 5, 1, 2)
		}
		out, _, err := decode(in, asItem)
		if err == nil || !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s ended with %v, want %s", test.name, err, test.err)
		}
		if !strings.Contains(out, `"text": "a"`) && test.name != "too deep" {
			t.Errorf("%s printed %s", test.name, out)
		}
	}
}

func frame(flags byte, content []byte) []byte {
	n := len(content)
	return append([]byte{flags, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, content...)
}

func TestFrames(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	if _, err := w.Write(marshal(t, &pb.Item{Text: "b"})); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole := bytes.Join([][]byte{
		frame(0, marshal(t, &pb.Item{Text: "a"})), frame(1, zipped.Bytes()), frame(0, nil),
		frame(0x80, []byte("grpc-status: 0\r\ncost: 3\r\n")), frame(2, []byte(`{"metadata":{}}`)),
	}, nil)
	framed := func(d *wire.Decoder) {
		d.Framed = true
		d.Aside = d.Out
		d.Expand = func(b []byte) ([]byte, error) {
			r, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				return nil, err
			}
			return io.ReadAll(r)
		}
	}
	const want = `# message of 3 bytes, at byte 5
1: "a"
# message of 3 bytes, at byte 13
1: "b"
# message of 0 bytes, at byte `
	out, _, err := decode(whole, framed)
	if err != nil || !strings.HasPrefix(out, want) || !strings.HasSuffix(out, "\n# trailer grpc-status: 0\n# trailer cost: 3\n# end of stream {\"metadata\":{}}\n") {
		t.Errorf("printed\n%s(%v), want at first\n%s", out, err, want)
	}
	for _, test := range []struct {
		name, err, out string
		in             []byte
	}{
		{"cut off in a prefix", "byte 8: a frame begins with 5 bytes, and 3 are left", "1: \"a\"\n", whole[:11]},
		{"cut off in a message", "byte 0: a frame says that it has 3 bytes, and 2 are left", "1: \"\"  # cut off\n", whole[:7]},
		{"no frames", `byte 0: no frame has the flags 0x0a; the input may not be of frames`, "", []byte("\x0a\x03abc")},
		{"garbage within", "byte 5: no field begins", "", frame(0, []byte{0, 1})},
		{"not gzip", "frame 1, at byte 0: expand: gzip: invalid header", "", frame(1, []byte("not gzip at all"))},
	} {
		out, _, err := decode(test.in, framed)
		if err == nil || !strings.Contains(err.Error(), test.err) || !strings.HasSuffix(out, test.out) {
			t.Errorf("%s printed %q and ended with %v, want %q and %s", test.name, out, err, test.out, test.err)
		}
	}
	_, _, err = decode(whole, func(d *wire.Decoder) { d.Framed = true })
	if !errors.Is(err, wire.ErrCompressed) || !strings.HasPrefix(err.Error(), "frame 2, at byte 8: ") {
		t.Errorf("a compressed frame ends with %v", err)
	}
}

func TestDigits(t *testing.T) {
	want := []byte{0xfb, 0xff, 0, 1}
	for _, text := range []string{"fbff0001", "FB:FF:00:01\n", " fb ff\t00\r\n01"} {
		if got, err := wire.FromHex([]byte(text)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q is %x (%v)", text, got, err)
		}
	}
	for _, text := range []string{"+/8AAQ==", "-_8AAQ", "+/\n8A AQ==\n", "+w==/w==AAE="} {
		if got, err := wire.FromBase64([]byte(text)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q is %x (%v)", text, got, err)
		}
	}
	for text, want := range map[string]string{"fbf": "byte 1: ", "fbxx": "byte 1: ", "": ""} {
		if _, err := wire.FromHex([]byte(text)); want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%q gives %v", text, err)
		}
	}
	for text, want := range map[string]string{"AAEC!!!!": `byte 3: "!!!!" is no base64`, "A": `byte 0: "A" is no base64`, "AA=A": "byte 0: "} {
		if _, err := wire.FromBase64([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q gives %v, want %s", text, err, want)
		}
	}
}

// FuzzDecode holds that no bytes are too much for any way to read them.
func FuzzDecode(f *testing.F) {
	f.Add(frame(0, marshal(f, everyField())))
	f.Add(marshal(f, everyField()))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, framed := range []bool{false, true} {
			_, _, err := decode(b, func(d *wire.Decoder) {
				asItem(d)
				d.Framed = framed
			})
			if at := (*wire.Error)(nil); errors.As(err, &at) && (at.At < 0 || at.At > len(b)) {
				t.Errorf("%v is not within %d bytes", err, len(b))
			}
		}
		if got, err := wire.FromHex([]byte(hex.EncodeToString(b))); err != nil || !bytes.Equal(got, b) {
			t.Errorf("hexadecimal digits of %x give %x (%v)", b, got, err)
		}
		if got, err := wire.FromBase64([]byte(base64.URLEncoding.EncodeToString(b))); err != nil || !bytes.Equal(got, b) {
			t.Errorf("base64 of %x gives %x (%v)", b, got, err)
		}
		_, _ = wire.FromHex(b)    // which must not panic
		_, _ = wire.FromBase64(b) // nor this
	})
}
