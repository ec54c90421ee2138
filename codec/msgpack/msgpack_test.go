package msgpack_test

import (
	"strings"
	"testing"

	ugorji "github.com/ugorji/go/codec"

	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/codec/msgpack"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T) { codectest.Run(t, msgpack.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, msgpack.Codec{}) }

func TestVerdicts(t *testing.T) {
	h := new(ugorji.MsgpackHandle)
	h.WriteExt = true
	codectest.Values(t, msgpack.Codec{}, func(v any) (out []byte, err error) {
		err = ugorji.NewEncoderBytes(&out, h).Encode(v)
		return out, err
	})
}

// Source of the bytes: github.com/msgpack/msgpack, spec.md.
func TestBounded(t *testing.T) {
	codectest.Bounded(t, msgpack.Codec{}, map[string]string{
		"a map":                "\xdf\x7f\xff\xff\xff",
		"a map in a map":       "\x81\xa4item\x81\xa6counts\xdf\x7f\xff\xff\xff",
		"a list":               "\x81\xa4item\x81\xa4tags\xdd\x7f\xff\xff\xff",
		"a list with an item":  "\x81\xa4item\x81\xa4tags\xdd\x7f\xff\xff\xff\xa1a",
		"text":                 "\x81\xa4item\x81\xa4text\xdb\x7f\xff\xff\xff",
		"bytes":                "\x81\xa4item\x81\xa4blob\xc6\x7f\xff\xff\xff",
		"an unknown list":      "\x81\xa1x\xdd\x7f\xff\xff\xff",
		"an unknown extension": "\x81\xa1x\xc9\x7f\xff\xff\xff\x05",
	})
}

// What the library skips, it skips by calling itself.
func TestDeepUnknownFieldsAreRefused(t *testing.T) {
	b, err := msgpack.Codec{}.Bind(conformance.Echo.In)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Parse([]byte("\x81\xa1x" + strings.Repeat("\x91", 20_000_000) + "\xc0")); err == nil {
		t.Error("takes 20 million levels of lists")
	}
}

func TestClinical(t *testing.T) {
	codectest.Carries(t, msgpack.Codec{}, clinical.StatementService, clinical.VisitService)
}
