package capnp_test

import (
	"bytes"
	"testing"

	lib "capnproto.org/go/capnp/v3"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/codec/capnp"
	gen "github.com/tare-bench/tare/gen/capnp/clinical"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// What a user writes by hand over the generated setters and getters, for a page
// of visits.
type twin struct{}

func (twin) write(in *clinical.ListVisitsResponse) ([]byte, error) {
	msg, segment, err := lib.NewMessage(lib.SingleSegment(nil))
	if err != nil {
		return nil, err
	}
	root, err := gen.NewRootListVisitsResponse(segment)
	if err != nil {
		return nil, err
	}
	visits, err := root.NewVisits(int32(len(in.Visits))) //nolint:gosec // a few
	if err != nil {
		return nil, err
	}
	for i := range in.Visits {
		from, to := &in.Visits[i], visits.At(i)
		to.SetStatus(gen.VisitStatus(from.Status)) //nolint:gosec // of the schema
		codes, err := to.NewProcedureCodes(int32(len(from.ProcedureCodes)))
		if err != nil {
			return nil, err
		}
		for j, code := range from.ProcedureCodes {
			if err := codes.Set(j, code); err != nil {
				return nil, err
			}
		}
		for _, set := range []error{to.SetVisitId(from.VisitID), to.SetPatientId(from.PatientID), to.SetSignedBy(from.SignedBy)} {
			if set != nil {
				return nil, set
			}
		}
	}
	return msg.Marshal()
}

func (twin) read(src []byte) (*clinical.ListVisitsResponse, error) {
	msg, err := lib.Unmarshal(src)
	if err != nil {
		return nil, err
	}
	root, err := gen.ReadRootListVisitsResponse(msg)
	if err != nil {
		return nil, err
	}
	visits, err := root.Visits()
	if err != nil {
		return nil, err
	}
	out := &clinical.ListVisitsResponse{Visits: make([]clinical.Visit, visits.Len())}
	for i := range out.Visits {
		from, to := visits.At(i), &out.Visits[i]
		to.Status = clinical.VisitStatus(from.Status())
		if to.VisitID, err = from.VisitId(); err != nil {
			return nil, err
		}
		if to.PatientID, err = from.PatientId(); err != nil {
			return nil, err
		}
		if to.SignedBy, err = from.SignedBy(); err != nil {
			return nil, err
		}
		codes, err := from.ProcedureCodes()
		if err != nil {
			return nil, err
		}
		to.ProcedureCodes = make([]string, codes.Len())
		for j := range to.ProcedureCodes {
			if to.ProcedureCodes[j], err = codes.At(j); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func page(t testing.TB) (codec.Binding, *clinical.ListVisitsResponse) {
	t.Helper()
	b, err := capnp.Codec{}.Bind(clinical.ListVisits.Out)
	if err != nil {
		t.Fatal(err)
	}
	in := new(clinical.ListVisitsResponse)
	for range 50 {
		in.Visits = append(in.Visits, clinical.Visit{
			VisitID: "v-1", Status: clinical.VisitSigned, PatientID: "p-1", SignedBy: "Dr. Who", ProcedureCodes: []string{"99213", "80053"},
		})
	}
	return b, in
}

func TestWritesWhatItsTwinDoes(t *testing.T) {
	b, in := page(t)
	own, err := b.Append(nil, b.Native(in))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (twin{}).read(own); err != nil {
		t.Error(err)
	}
	byHand, err := twin{}.write(in)
	if err != nil {
		t.Fatal(err)
	}
	if len(own) != len(byHand) || !bytes.Equal(own[:16], byHand[:16]) {
		t.Errorf("writes %d bytes, the twin %d", len(own), len(byHand))
	}
}

func TestAllocatesLikeItsTwin(t *testing.T) {
	b, in := page(t)
	encoded, err := twin{}.write(in)
	if err != nil {
		t.Fatal(err)
	}
	room := make([]byte, 0, len(encoded))
	compare := func(step string, twin, codec func() error) {
		want, got := allocs(t, twin), allocs(t, codec)
		if got > want*1.02+1 { // and the native form itself
			t.Errorf("%s allocates %.0f times, the twin %.0f times", step, got, want)
		}
	}
	compare("Append", func() error { _, err := twin{}.write(in); return err },
		func() error { _, err := b.Append(room, b.Native(in)); return err })
	compare("Parse", func() error { _, err := twin{}.read(encoded); return err },
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

func BenchmarkPage(bench *testing.B) {
	b, in := page(bench)
	encoded, err := twin{}.write(in)
	if err != nil {
		bench.Fatal(err)
	}
	var room []byte
	for name, run := range map[string]func() error{
		"write/codec": func() error { room, err = b.Append(room[:0], b.Native(in)); return err },
		"write/twin":  func() error { _, err := twin{}.write(in); return err },
		"read/codec":  func() error { _, err := b.Parse(encoded); return err },
		"read/twin":   func() error { _, err := twin{}.read(encoded); return err },
	} {
		bench.Run(name, func(bench *testing.B) {
			bench.ReportAllocs()
			for bench.Loop() {
				if err := run(); err != nil {
					bench.Fatal(err)
				}
			}
		})
	}
}
