package capnp_test

import (
	"encoding/binary"
	"runtime"
	"testing"

	lib "capnproto.org/go/capnp/v3"

	"github.com/tare-bench/tare/codec/capnp"
	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T) { codectest.Run(t, capnp.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, capnp.Codec{}) }

func TestStatements(t *testing.T) {
	codectest.Service(t, capnp.Codec{}, clinical.StatementService, clinical.StatementType)
}

func TestVisits(t *testing.T) { codectest.Service(t, capnp.Codec{}, clinical.VisitService) }

// What the protocol takes out of a longer message is as long as the message
// that it would be alone, by which limits go.
func TestTakeTellsTheSize(t *testing.T) {
	for _, e := range conformance.Examples() {
		if e.Item.Unnamed() {
			continue
		}
		b, err := capnp.Codec{}.Bind(conformance.Echo.In)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := b.Append(nil, b.Native(&conformance.EchoRequest{Item: e.Item, FailMessage: "é"}))
		if err != nil {
			t.Fatal(err)
		}
		root := lib.MustUnmarshalRoot(encoded)
		_, size, err := b.(interface {
			Take(lib.Struct) (any, int, error)
		}).Take(root.Struct())
		if err != nil || size != len(encoded) {
			t.Errorf("%s: size %d, error %v; %d bytes are appended", e.Name, size, err, len(encoded))
		}
	}
}

// Bytes that say more than is there are errors, and get no room for it.
func TestRefusesWhatSaysMoreThanIsThere(t *testing.T) {
	b, err := capnp.Codec{}.Bind(clinical.ListVisits.Out)
	if err != nil {
		t.Fatal(err)
	}
	word := binary.LittleEndian.AppendUint64
	message := func(words ...uint64) []byte {
		out := word(nil, uint64(len(words))<<32)
		for _, w := range words {
			out = word(out, w)
		}
		return out
	}
	const root = 2 << 48 // a struct of two pointers, just behind
	for name, src := range map[string][]byte{
		"nothing":                {},
		"no root":                message(0),
		"trailing bytes":         append(message(root, 0, 0), 0, 0, 0, 0, 0, 0, 0, 0),
		"a list of 2^29 nothing": message(root, 1|1<<2|7<<32, 0, (1<<29-1)<<2),
		"a list below nothing":   message(root, 1|1<<2|7<<32, 0, 1<<31),
		"a text that is structs": message(root, 0, 1|0<<2|7<<32|1<<35, 0, 0),
		"a pointer outside":      message(root, 1|900<<2|2<<32|8<<35, 0),
		"a far pointer to none":  message(root, 2|9<<32, 0),
		"a capability":           message(root, 3, 0),
		"a text of no UTF-8":     message(root, 0, 1|2<<32|2<<35, 0xff),
		"2^32 segments":          word(nil, 1<<32-1),
	} {
		if native, err := b.Parse(src); err == nil {
			t.Errorf("%s: reads as %v", name, b.Plain(native))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			_, _ = b.Parse(src)
		}
		runtime.ReadMemStats(&after)
		size := (after.TotalAlloc - before.TotalAlloc) / 10
		if size > 4096 {
			t.Errorf("%s: takes %d bytes for %d bytes of input", name, size, len(src))
		}
	}
}
