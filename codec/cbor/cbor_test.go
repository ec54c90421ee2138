package cbor_test

import (
	"testing"

	"github.com/fxamacker/cbor/v2"

	cborcodec "github.com/tare-bench/tare/codec/cbor"
	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T) { codectest.Run(t, cborcodec.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, cborcodec.Codec{}) }
func TestVerdicts(t *testing.T) { codectest.Values(t, cborcodec.Codec{}, cbor.Marshal) }

// Source of the bytes: RFC 8949, section 3.
func TestBounded(t *testing.T) {
	codectest.Bounded(t, cborcodec.Codec{}, map[string]string{
		"a map":               "\xbb\x00\x00\x00\x00\x7f\xff\xff\xff",
		"a map in a map":      "\xa1\x64item\xa1\x66counts\xba\x7f\xff\xff\xff",
		"a list":              "\xa1\x64item\xa1\x64tags\x9a\x7f\xff\xff\xff",
		"a list with an item": "\xa1\x64item\xa1\x64tags\x9a\x7f\xff\xff\xff\x61a",
		"text":                "\xa1\x64item\xa1\x64text\x7a\x7f\xff\xff\xff",
		"bytes":               "\xa1\x64item\xa1\x64blob\x5a\x7f\xff\xff\xff",
		"an unknown list":     "\xa1\x61x\x9a\x7f\xff\xff\xff",
		"bytes without end":   "\xa1\x64item\xa1\x64blob\x5f\x41a",
	})
}

func TestClinical(t *testing.T) {
	codectest.Carries(t, cborcodec.Codec{}, clinical.StatementService, clinical.VisitService)
}
