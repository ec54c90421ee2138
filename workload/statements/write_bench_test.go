package statements

import (
	"testing"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// A batch is checked, encoded and kept, as a service does between what decodes it
// and its store.
func BenchmarkWrite(b *testing.B) {
	h := service(b, statementTier, writeLeg, memory.New(), nil)
	g := generator{batch: 500}
	b.ReportAllocs()
	for n := uint64(0); b.Loop(); n++ {
		b.StopTimer()
		in := []any{&clinical.BatchWriteRequest{Statements: g.statements(n)}}
		b.StartTimer()
		if err := rpc.Call(b.Context(), h, clinical.BatchWrite, in, func(any) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*g.batch), "ns/record")
}
