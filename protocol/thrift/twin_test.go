package thrift_test

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/tare-bench/tare/codec"
	native "github.com/tare-bench/tare/gen/thrift/clinical"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// The twin is GetStatement as Apache's compiler and library have it, both ends,
// on plain structs that are mapped as the codec maps them. The adapter may cost
// no more.

// statement is one of ordinary size, and one whose copies would show.
func statements() map[string]*clinical.MedicationStatement {
	ordinary := &clinical.MedicationStatement{
		StatementID: "s1", Status: clinical.StatementActive, Subject: &clinical.Reference{Reference: "Patient/1"},
		Medication:   &clinical.CodeableConcept{Coding: []clinical.Coding{{System: "urn:rx", Code: "7980", Display: "Penicillin G"}}},
		DateAsserted: &clinical.DateTime{Time: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), Precision: 3},
		Dosage:       []clinical.Dosage{{Sequence: 1, Text: "one tablet", Timing: &clinical.Timing{Frequency: 2, Period: "1", PeriodUnit: "d"}}},
	}
	long := *ordinary
	long.Note = []clinical.Annotation{{Text: strings.Repeat("a", 1e6)}}
	return map[string]*clinical.MedicationStatement{"ordinary": ordinary, "of 1 MB": &long}
}

func twinBinding(t testing.TB, c codec.Codec, typ *rpc.Type) codec.Binding {
	t.Helper()
	b, err := c.Bind(typ)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// twinHandler is the service as Thrift's users write it.
type twinHandler struct {
	in, out   codec.Binding
	statement *clinical.MedicationStatement
}

func (h twinHandler) GetStatement(_ context.Context, in *native.GetStatementRequest) (*native.GetStatementResponse, error) {
	_ = h.in.Plain(in)
	return h.out.Native(&clinical.GetStatementResponse{Statement: h.statement}).(*native.GetStatementResponse), nil
}

func (twinHandler) ListStatements(context.Context, *native.ListStatementsRequest) (*native.ListStatementsResponse, error) {
	return nil, nil //nolint:nilnil // never called
}

func (twinHandler) BatchWrite(context.Context, *native.BatchWriteRequest) (*native.BatchWriteResponse, error) {
	return nil, nil //nolint:nilnil // never called
}

// startTwin gives a function that makes one call of the twin.
func startTwin(t testing.TB, c codec.Codec, factory apache.TProtocolFactory, s *clinical.MedicationStatement) func() {
	h := twinHandler{twinBinding(t, c, clinical.GetStatement.In), twinBinding(t, c, clinical.GetStatement.Out), s}
	addr := serveProcessor(t, native.NewStatementServiceProcessor(h), factory)
	client := native.NewStatementServiceClientFactory(foreignTransport(t, addr), factory)
	ctx := t.Context()
	return func() {
		in := h.in.Native(&clinical.GetStatementRequest{StatementID: "s1"}).(*native.GetStatementRequest)
		out, err := client.GetStatement(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		_ = h.out.Plain(out)
	}
}

// startAdapter gives a function that makes one call of the protocol.
func startAdapter(t testing.TB, c codec.Codec, s *clinical.MedicationStatement) func() {
	h := rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, st rpc.Stream) error {
		if _, err := st.Recv(); err != nil {
			return err
		}
		return st.Send(&clinical.GetStatementResponse{Statement: s})
	})
	o := options(t, c)
	conn := dial(t, serve(t, clinical.StatementService, h, o), clinical.StatementService, o)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	t.Cleanup(cancel)
	return func() {
		if _, err := rpc.Invoke(ctx, conn, clinical.GetStatement, &clinical.GetStatementRequest{StatementID: "s1"}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAllocatesNoMoreThanItsTwin allows 2 %. Without garbage collection pools lose
// nothing.
func TestAllocatesNoMoreThanItsTwin(t *testing.T) {
	const warm, runs, bar = 10, 40, 1.02
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, form := range forms {
		for size, s := range statements() {
			t.Run(form.codec.Spec().Name+", "+size, func(t *testing.T) {
				measure := func(call func()) (allocs, bytes float64) {
					for range 2 { // which empties the pools of other tests' buffers
						runtime.GC()
					}
					for range warm {
						call()
					}
					var before, after runtime.MemStats
					runtime.ReadMemStats(&before)
					for range runs {
						call()
					}
					runtime.ReadMemStats(&after)
					return float64(after.Mallocs-before.Mallocs) / runs, float64(after.TotalAlloc-before.TotalAlloc) / runs
				}
				adapter, room := measure(startAdapter(t, form.codec, s))
				twin, twinRoom := measure(startTwin(t, form.codec, form.factory, s))
				t.Logf("adapter %v allocations of %.0f bytes, twin %v of %.0f", adapter, room, twin, twinRoom)
				if adapter > bar*twin || room > bar*twinRoom {
					t.Error("the adapter allocates more than its twin")
				}
			})
		}
	}
}

func BenchmarkGetStatement(b *testing.B) {
	for _, form := range forms {
		for side, call := range map[string]func(){
			"adapter": startAdapter(b, form.codec, statements()["ordinary"]),
			"twin":    startTwin(b, form.codec, form.factory, statements()["ordinary"]),
		} {
			b.Run(form.codec.Spec().Name+"/"+side, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					call()
				}
			})
		}
	}
}
