package avro_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	twmb "github.com/twmb/avro"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/codec/avro"
	clinicalv1 "github.com/tare-bench/tare/gen/tare/clinical/v1"
	conformancev1 "github.com/tare-bench/tare/gen/tare/conformance/v1"
	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

var update = flag.Bool("update", false, "write schema/avro anew")

// What is kept for others is what the codec writes, so that neither drifts
// from protobuf's schema.
func TestSchemasAreCurrent(t *testing.T) {
	folder := filepath.Join("..", "..", "schema", "avro")
	packages := map[string][]protoreflect.MessageDescriptor{}
	for _, file := range []protoreflect.FileDescriptor{
		clinicalv1.File_tare_clinical_v1_statement_proto, clinicalv1.File_tare_clinical_v1_visit_proto,
		conformancev1.File_tare_conformance_v1_conformance_proto,
		ordersv1.File_tare_orders_v1_orders_proto, paymentsv1.File_tare_payments_v1_payments_proto,
	} {
		name := string(file.Package()) + ".avsc"
		for i := range file.Messages().Len() {
			packages[name] = append(packages[name], file.Messages().Get(i))
		}
	}
	for name, messages := range packages {
		want, err := avro.Schemas(messages...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := twmb.Parse(want); err != nil {
			t.Errorf("%s is no schema of Avro: %v", name, err)
		}
		path := filepath.Join(folder, name)
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil { //nolint:gosec // a file of the tree
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(path) //nolint:gosec // a file of the tree
		if err != nil {
			t.Fatal(err)
		}
		if string(kept) != want {
			t.Errorf("%s is not what proto/ makes: run make generate", path)
		}
	}
}

// The schema that is kept reads what Append writes, field by field: the names
// that plain structs have are not on the wire.
func TestWhoHasTheSchemaAloneReadsIt(t *testing.T) {
	text, err := avro.Schema((&clinicalv1.Visit{}).ProtoReflect().Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 12, 1, 8, 0, 0, 1000, time.UTC)
	encoded := encode(t, clinical.GetVisit.Out, &clinical.GetVisitResponse{Visit: &clinical.Visit{
		VisitID: "v1", Status: clinical.VisitSigned, ProcedureCodes: []string{"P1"}, CreateTime: at,
	}})
	var got map[string]any
	if _, err := twmb.MustParse(text).Decode(encoded[1:], &got); err != nil { // behind the union's branch
		t.Fatal(err)
	}
	want := map[string]any{
		"visit_id": "v1", "status": "VISIT_STATUS_SIGNED", "patient_id": "", "procedure_codes": []any{"P1"},
		"signed_by": "", "create_time": at, "update_time": nil,
	}
	if diff := conformance.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// Both ways of evolution: what a reader does not know is left out, and what a
// writer did not know has its default.
func TestReadsWhatAnotherSchemaWrote(t *testing.T) {
	const older = `{"type": "record", "name": "GetVisitRequest", "namespace": "tare.clinical.v1", "fields": [
		{"name": "since", "type": {"type": "array", "items": "long"}}, {"name": "visit_id", "type": "string"}]}`
	type request struct {
		Since   []int64 `avro:"since"`
		VisitID string  `avro:"visit_id"`
	}
	src, err := twmb.MustParse(older).Encode(request{[]int64{1, 2}, "v1"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := conformance.Diff(&clinical.GetVisitRequest{VisitID: "v1"}, readAs(t, older, src)); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	const empty = `{"type": "record", "name": "GetVisitRequest", "namespace": "tare.clinical.v1", "fields": []}`
	if diff := conformance.Diff(&clinical.GetVisitRequest{}, readAs(t, empty, nil)); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// Who is given the schema that is written by reads by it, and it names nothing as
// this codec's plain structs do.
func TestTellsWhatItWrites(t *testing.T) {
	written, err := avro.Codec{}.Written(clinical.GetVisit.In)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(written, `"visit_id"`) || strings.Contains(written, "VisitID") {
		t.Errorf("the schema is %s", written)
	}
	want := &clinical.GetVisitRequest{VisitID: "v1"}
	if diff := conformance.Diff(want, readAs(t, written, encode(t, clinical.GetVisit.In, want))); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	if _, err := (avro.Codec{}).Written(&rpc.Type{Name: "none"}); !errors.Is(err, codec.ErrUnbound) {
		t.Errorf("a type without a schema gives %v", err)
	}
}

// A symbol that the reader does not know is the first of those that it does.
func TestReadsASymbolThatIsNew(t *testing.T) {
	const newer = `{"type": "record", "name": "Visit", "namespace": "tare.clinical.v1", "fields": [{"name": "status", "type":
		{"type": "enum", "name": "VisitStatus", "symbols": ["VISIT_STATUS_SIGNED", "VISIT_STATUS_BILLED"]}}]}`
	const response = `{"type": "record", "name": "GetVisitResponse", "namespace": "tare.clinical.v1", "fields": [{"name": "visit", "type": ` + newer + `}]}`
	b, err := avro.Codec{}.BindWritten(clinical.GetVisit.Out, response)
	if err != nil {
		t.Fatal(err)
	}
	for src, want := range map[string]clinical.VisitStatus{"\x00": clinical.VisitSigned, "\x02": clinical.VisitInvalid} {
		if got := parse(t, b, []byte(src)).(*clinical.GetVisitResponse).Visit.Status; got != want {
			t.Errorf("symbol %x reads as %v, want %v", src, got, want)
		}
	}
}

func TestRefusesASchemaThatIsAnother(t *testing.T) {
	for _, writer := range []string{
		``, `{`, `"string"`,
		`{"type": "record", "name": "GetVisitRequest", "namespace": "tare.clinical.v1", "fields": [{"name": "visit_id", "type": "int"}]}`,
	} {
		if _, err := (avro.Codec{}).BindWritten(clinical.GetVisit.In, writer); err == nil || !strings.Contains(err.Error(), "GetVisitRequest") {
			t.Errorf("%s: binds with %v, want an error that names the type", writer, err)
		}
	}
}

func readAs(t *testing.T, writer string, src []byte) any {
	t.Helper()
	b, err := avro.Codec{}.BindWritten(clinical.GetVisit.In, writer)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, b, src)
}

func parse(t *testing.T, b codec.Binding, src []byte) any {
	t.Helper()
	native, err := b.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	return b.Plain(native)
}
