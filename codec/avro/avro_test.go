package avro_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	twmb "github.com/twmb/avro"

	"github.com/tare-bench/tare/codec/avro"
	"github.com/tare-bench/tare/codec/codectest"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func TestContract(t *testing.T) { codectest.Run(t, avro.Codec{}) }
func FuzzParse(f *testing.F)    { codectest.Fuzz(f, avro.Codec{}) }

func TestStatements(t *testing.T) {
	codectest.Service(t, avro.Codec{}, clinical.StatementService, clinical.StatementType)
}

func TestVisits(t *testing.T) { codectest.Service(t, avro.Codec{}, clinical.VisitService) }

// What a time has below a microsecond is lost, as the package says; one that is
// absent is null, and not the year 1.
func TestTimes(t *testing.T) {
	at := time.Date(2026, 12, 1, 8, 0, 0, 1999, time.UTC)
	b, err := avro.Codec{}.Bind(clinical.GetVisit.Out)
	if err != nil {
		t.Fatal(err)
	}
	encoded := encode(t, clinical.GetVisit.Out, &clinical.GetVisitResponse{Visit: &clinical.Visit{CreateTime: at}})
	got := parse(t, b, encoded).(*clinical.GetVisitResponse).Visit
	if want := at.Truncate(time.Microsecond); !got.CreateTime.Equal(want) || !got.UpdateTime.IsZero() {
		t.Errorf("reads as %v and %v, want %v and none", got.CreateTime, got.UpdateTime, want)
	}
	none := encode(t, clinical.GetVisit.Out, &clinical.GetVisitResponse{Visit: &clinical.Visit{}})
	if want := []byte{2, 0, 0, 0, 0, 0, 0, 0}; !bytes.Equal(none, want) {
		t.Errorf("a visit without times is %v, want %v", none, want)
	}
}

// An index that is no symbol's is refused both ways.
func TestEnumsAreClosed(t *testing.T) {
	b, err := avro.Codec{}.Bind(clinical.GetVisit.Out)
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []clinical.VisitStatus{-1, 4} {
		if out, err := b.Append(nil, &clinical.GetVisitResponse{Visit: &clinical.Visit{Status: status}}); err == nil {
			t.Errorf("writes status %d as %v", status, out)
		}
	}
	if native, err := b.Parse([]byte{2, 0, 8, 0, 0, 0, 0, 0}); err == nil {
		t.Errorf("reads symbol 4 of 4 as %v", native)
	}
}

// Avro's text is UTF-8, which the library leaves to others to see to.
func TestTextIsUTF8(t *testing.T) {
	b, err := avro.Codec{}.Bind(clinical.GetVisit.Out)
	if err != nil {
		t.Fatal(err)
	}
	for name, src := range map[string][]byte{
		"a text":           {2, 2, 0xff, 0, 0, 0, 0, 0, 0},
		"a text in a list": {2, 0, 0, 0, 2, 2, 0xff, 0, 0, 0, 0},
	} {
		if native, err := b.Parse(src); err == nil || !strings.Contains(err.Error(), "UTF-8") {
			t.Errorf("%s: reads as %v, error %v", name, native, err)
		}
	}
}

// A list that says that it is long gets no room for that alone.
func TestAListIsAsLongAsItsBytes(t *testing.T) {
	b, err := avro.Codec{}.Bind(clinical.Import.In)
	if err != nil {
		t.Fatal(err)
	}
	long := []byte{0xfe, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0} // 2^31 - 1 statements
	if _, err := b.Parse(long); err == nil {
		t.Error("takes a list that is cut short")
	}
	size := testing.Benchmark(func(loop *testing.B) {
		for loop.Loop() {
			_, _ = b.Parse(long)
		}
	}).AllocedBytesPerOp()
	if size > 4096 {
		t.Errorf("takes %d bytes for %d bytes of input", size, len(long))
	}
}

// Whoever uses the library by hand tags structs with the schema's names: the
// codec, which takes structs without, allocates no more.
func TestAllocatesLikeItsTwin(t *testing.T) {
	type visit struct {
		VisitID        string               `avro:"visit_id"`
		Status         clinical.VisitStatus `avro:"status"`
		PatientID      string               `avro:"patient_id"`
		ProcedureCodes []string             `avro:"procedure_codes"`
		SignedBy       string               `avro:"signed_by"`
		CreateTime     time.Time            `avro:"create_time,omitzero"`
		UpdateTime     time.Time            `avro:"update_time,omitzero"`
	}
	type response struct {
		Visit *visit `avro:"visit"`
	}
	text, err := avro.Schema(clinical.GetVisit.Out.NewProto().ProtoReflect().Descriptor())
	if err != nil {
		t.Fatal(err)
	}
	schema := twmb.MustParse(text)
	b, err := avro.Codec{}.Bind(clinical.GetVisit.Out)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	v := clinical.Visit{VisitID: "v1", Status: clinical.VisitSigned, PatientID: "p1", ProcedureCodes: []string{"a", "b"}, CreateTime: at}
	hand := visit{v.VisitID, v.Status, v.PatientID, v.ProcedureCodes, v.SignedBy, v.CreateTime, v.UpdateTime}
	in, byHand := &clinical.GetVisitResponse{Visit: &v}, &response{&hand}
	encoded, err := schema.Encode(byHand)
	if err != nil {
		t.Fatal(err)
	}
	if own := encode(t, clinical.GetVisit.Out, in); !bytes.Equal(own, encoded) {
		t.Fatalf("writes %x, the twin %x", own, encoded)
	}
	var room []byte
	compare := func(step string, twin, codec func() error) {
		want, got := allocs(t, twin), allocs(t, codec)
		if got > want*1.02 {
			t.Errorf("%s allocates %.0f times, the twin %.0f times", step, got, want)
		}
	}
	compare("Append",
		func() error { room, err = schema.AppendEncode(room[:0], byHand); return err },
		func() error { room, err = b.Append(room[:0], b.Native(in)); return err })
	compare("Parse",
		func() error { _, err := schema.Decode(encoded, new(response)); return err },
		func() error { _, err := b.Parse(encoded); return err })
}

func allocs(t *testing.T, run func() error) float64 {
	t.Helper()
	return testing.AllocsPerRun(100, func() {
		if err := run(); err != nil {
			t.Fatal(err)
		}
	})
}

func encode(t *testing.T, typ *rpc.Type, plain any) []byte {
	t.Helper()
	b, err := avro.Codec{}.Bind(typ)
	if err != nil {
		t.Fatal(err)
	}
	out, err := b.Append(nil, b.Native(plain))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A list of nothing is read as the other codecs read it, in whatever it stands:
// workloads compare answers with what they expect.
func TestListsOfNothingAreNil(t *testing.T) {
	b, err := avro.Codec{}.Bind(clinical.BatchWrite.In)
	if err != nil {
		t.Fatal(err)
	}
	for name, sent := range map[string]*clinical.BatchWriteRequest{
		"none":  new(clinical.BatchWriteRequest),
		"empty": {Statements: []clinical.MedicationStatement{}},
		"inside": {Statements: []clinical.MedicationStatement{{
			StatementID: "a", Medication: &clinical.CodeableConcept{Text: "b"}, Dosage: []clinical.Dosage{{Sequence: 1}},
		}}},
	} {
		src, err := b.Append(nil, b.Native(sent))
		if err != nil {
			t.Fatal(err)
		}
		native, err := b.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		want := sent
		if name == "empty" {
			want = new(clinical.BatchWriteRequest)
		}
		if got := b.Plain(native); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %#v is read as %#v", name, sent, got)
		}
	}
}
