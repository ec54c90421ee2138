package statements_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/service/validate"
	"github.com/tare-bench/tare/workload/statements"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// Samples are what services take: each statement keeps the rules, is another, and
// is the same whenever it is asked for.
func TestSamples(t *testing.T) {
	const batch, seed = 7, 3
	all, again := statements.Workload{}.Samples(batch, seed), statements.Workload{}.Samples(batch, seed)
	rules, err := validate.New(clinical.StatementService)
	if err != nil {
		t.Fatal(err)
	}
	ids := make(map[string]bool)
	for n, s := range all {
		for i, m := range s.Messages {
			if !proto.Equal(s.Type.ToProto(m), s.Type.ToProto(again[n].Messages[i])) {
				t.Errorf("%s %d is another the second time", s.Name, i)
			}
			held := []clinical.MedicationStatement{}
			switch m := m.(type) {
			case *clinical.MedicationStatement:
				held = append(held, *m)
			case *clinical.BatchWriteRequest:
				held = m.Statements
			}
			if len(held) != s.Items {
				t.Errorf("%s %d holds %d items, and is said to hold %d", s.Name, i, len(held), s.Items)
			}
			for _, one := range held {
				ids[one.StatementID] = true
				if err := rules.Check(clinical.StatementType, &one); err != nil {
					t.Errorf("%s breaks a rule: %v", one.StatementID, err)
				}
			}
		}
	}
	if want := len(all[0].Messages) + batch*len(all[1].Messages); len(ids) != want {
		t.Errorf("%d different statements, want %d", len(ids), want)
	}
}
