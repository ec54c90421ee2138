package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/storetest"
)

func BenchmarkStatements(b *testing.B) {
	storetest.BenchmarkStatements(b, func(*testing.B) store.Store { return New() })
}

func round(n int) []store.Statement {
	all := make([]store.Statement, 1000)
	for i := range all {
		all[i] = store.Statement{ID: fmt.Sprint(i), Subject: fmt.Sprint(i * n % 7), Body: []byte(strings.Repeat(fmt.Sprint(n, ":", i, " "), 50))}
	}
	return all
}

func mustPut(t *testing.T, s *Store, all []store.Statement) {
	t.Helper()
	if _, err := s.PutStatements(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// What is replaced is freed, but for those who read it.
func TestReplacedVersionsAreFreed(t *testing.T) {
	s := New()
	mustPut(t, s, round(0))
	seen := 0
	err := s.EachStatement(t.Context(), "", 0, func(one *store.Statement) error {
		if seen%100 == 0 {
			for n := range 5 {
				mustPut(t, s, round(1+seen+n))
			}
		}
		if want := round(0)[seen]; one.ID != want.ID || one.Subject != want.Subject || string(one.Body) != string(want.Body) {
			t.Fatalf("a reader finds %.50q; want %.50q", one.Body, want.Body)
		}
		seen++
		return nil
	})
	if err != nil || seen != 1000 {
		t.Fatalf("EachStatement: %v after %d", err, seen)
	}
	v := s.statements
	most := v.bytes
	for n := range 40 {
		mustPut(t, s, round(n))
	}
	held := int64(0)
	for _, c := range v.chunks {
		held += int64(len(c.entries))
	}
	if live := v.bytes - v.dead; held != v.bytes || v.dead < 0 || held > 2*live+5*versionChunk || held > most/4 {
		t.Errorf("it holds %d B in chunks, and counts %d B, of which %d live; with a reader there were %d", held, v.bytes, live, most)
	}
	if n := len(v.chunks); n > int(most/versionChunk)+5 {
		t.Errorf("it has %d chunks, and never needed but %d", n, most/versionChunk+1)
	}
	for i, want := range round(39) {
		if got, err := s.StatementByID(t.Context(), want.ID); err != nil || string(got.Body) != string(want.Body) || got.Number != int64(i+1) {
			t.Errorf("statement %d is %+v, %v", i, got, err)
		}
	}
}
