package storetest

import (
	"fmt"
	"testing"

	"github.com/tare-bench/tare/store"
)

// BenchmarkStatements is what a statement costs that is put in bulk, new or
// unchanged, and one of 100,000 that a cursor reads. An operation is a call.
func BenchmarkStatements(b *testing.B, open func(b *testing.B) store.Store) {
	for _, size := range []int{500, 5000} {
		b.Run(fmt.Sprint("put=", size), func(b *testing.B) { benchmarkPut(b, open(b), size, true) })
	}
	b.Run("unchanged=500", func(b *testing.B) { benchmarkPut(b, open(b), 500, false) })
	const rows = 100_000
	b.Run("each", func(b *testing.B) {
		s := open(b)
		for from := 0; from < rows; from += 5000 {
			benchmarkCall(b, s, benchStatements(from, 5000))
		}
		perRecord(b, rows, func() {
			n := 0
			err := s.(store.Statements).EachStatement(b.Context(), "", 0, func(*store.Statement) error { n++; return nil })
			if err != nil || n != rows {
				b.Fatalf("EachStatement: %v after %d", err, n)
			}
		})
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
}

func benchmarkPut(b *testing.B, s store.Store, size int, fresh bool) {
	from := 0
	all := benchStatements(0, size)
	perRecord(b, size, func() {
		if fresh {
			b.StopTimer()
			all = benchStatements(from, size)
			from += size
			b.StartTimer()
		}
		benchmarkCall(b, s, all)
	})
	if err := s.Close(); err != nil {
		b.Error(err)
	}
}

func benchmarkCall(b *testing.B, s store.Store, all []store.Statement) {
	if _, err := s.(store.Statements).PutStatements(b.Context(), all); err != nil {
		b.Fatal(err)
	}
}

// perRecord runs f b.N times, each of which is of so many records.
func perRecord(b *testing.B, records int, f func()) {
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		f()
	}
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(records), "ns/record")
}

// benchStatements have bodies of some 300 B, as protobuf has them, and IDs as
// clients make them, which come in no order.
func benchStatements(from, n int) []store.Statement {
	all := make([]store.Statement, n)
	for i := range all {
		at := uint64(from + i)
		all[i] = store.Statement{
			ID: fmt.Sprintf("%016x-8d2a-b4aa-%012x", at*0x9e3779b97f4a7c15, at), Subject: fmt.Sprint("Patient/", at%5000), Updated: noon,
			Body: make([]byte, 300),
		}
		for j := range all[i].Body {
			all[i].Body[j] = byte(at>>(j%5*8)) ^ byte(j*31)
		}
	}
	return all
}
