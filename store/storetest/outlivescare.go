package storetest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/store"
)

// toldStatements is a call that an ID tells, as told does: some fifty small
// statements, and a large one at times. One comes twice.
func toldStatements(id string) []store.Statement {
	seed := uint64(0)
	for _, c := range id {
		seed = seed*31 + uint64(c)
	}
	r := rand.New(rand.NewPCG(seed, 1))
	all := make([]store.Statement, 2+r.IntN(60))
	for i := range all {
		size := r.IntN(300)
		if r.IntN(500) == 0 {
			size = 100_000
		}
		all[i] = store.Statement{ID: fmt.Sprint(id, "/", i), Subject: fmt.Sprint("Patient/", r.IntN(childUsers)), Body: make([]byte, size), Updated: noon}
		for j := range all[i].Body {
			all[i].Body[j] = byte(r.Uint32())
		}
	}
	first := all[0]
	first.Body = append([]byte("before"), first.Body...)
	return append([]store.Statement{first}, all...)
}

// acknowledgedCare looks for the statements and visits that were kept.
func acknowledgedCare(t *testing.T, s store.Store, what, id string) {
	t.Helper()
	if what == "put" {
		for _, want := range toldStatements(id)[1:] {
			hasStatement(t, s, want)
		}
		return
	}
	v, err := s.(store.Visits).VisitByID(t.Context(), id)
	if err != nil || what == "signed" && (v.Status != store.VisitSigned || v.SignedBy != id) || len(v.Procedures) != 1 || v.Procedures[0] != id {
		t.Errorf("%s %s, and is %+v, %v", what, id, v, err)
	}
}

// wholeCalls holds each call of which there is a statement to what its ID tells:
// all of it is there, in its order.
func wholeCalls(t *testing.T, s store.Store) {
	t.Helper()
	calls := map[string][]store.Statement{}
	for _, one := range each(t, s, "", 0) {
		id, _, _ := strings.Cut(one.ID, "/")
		calls[id] = append(calls[id], one)
	}
	for id, got := range calls {
		want := toldStatements(id)[1:]
		for i := range min(len(want), len(got)) {
			if want[i].Number = got[i].Number; i > 0 && got[i].Number <= got[i-1].Number {
				t.Errorf("of the call %s number %d comes after %d", id, got[i].Number, got[i-1].Number)
			}
		}
		if d := cmp.Diff(want, got, cmp.Comparer(bytes.Equal)); d != "" {
			t.Errorf("the call %s is torn (-want +got):\n%.2000s", id, d)
		}
	}
	t.Logf("found %d calls that are whole", len(calls))
}
