package capnp_test

import (
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
