package statements

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/statements/dataset"
	"github.com/tare-bench/tare/workload/statements/records"
)

// keptStatement is statement i of those that are kept beforehand.
func keptStatement(i int) *clinical.MedicationStatement {
	return normal(records.Statement(keptSeed, i))
}

// ids are those of statements kept beforehand, as many as were asked for yet.
var ids struct {
	sync.Mutex
	all []string
}

func keptIDs(n int) []string {
	ids.Lock()
	defer ids.Unlock()
	for i := len(ids.all); i < n; i++ {
		ids.all = append(ids.all, records.Statement(keptSeed, i).StatementID)
	}
	return ids.all[:n]
}

// fill keeps n statements in a store that has none, so that there is something
// to give. Whoever asks for them knows their numbers beforehand: they count from 1.
func (s *statementService) fill(ctx context.Context, n int) error {
	there, err := s.kept.CountStatements(ctx)
	if err != nil {
		return fmt.Errorf("count statements: %w", err)
	}
	if there > 0 {
		return nil
	}
	var b dataset.Batch
	for i := range n {
		plain := records.Statement(keptSeed, i)
		if err := b.Add(plain, clinical.StatementType.ToProto(plain)); err != nil {
			return err
		}
		if b.Len() < maxBatch && i+1 < n {
			continue
		}
		if _, err := s.kept.PutStatements(ctx, b.Rows(time.Now())); err != nil {
			return fmt.Errorf("keep %d statements beforehand: %w", n, err)
		}
		b.Clear()
	}
	last, err := s.kept.StatementsAfter(ctx, "", int64(n)-1, 1)
	if err != nil {
		return fmt.Errorf("look for the last of %d statements: %w", n, err)
	}
	if len(last) != 1 || last[0].Number != int64(n) {
		return fmt.Errorf("the store does not count the statements that it keeps from 1 to %d: calls of %s and %s cannot be told beforehand", n, listLeg, exportLeg)
	}
	return nil
}

// checkKept holds statements to those kept beforehand from the first on. Of each
// it reads the ID; the first, the last and one between it reads whole: to make up
// all would take the driver longer than the call.
func checkKept(got []clinical.MedicationStatement, want []string, first int, field, token, wantToken string) error {
	if len(got) != len(want) {
		return workload.Wrong("%d statements, not %d", len(got), len(want))
	}
	for i := range got {
		if got[i].StatementID != want[i] {
			return workload.Wrong("statement %d is %q, not %q", i, got[i].StatementID, want[i])
		}
	}
	for _, i := range [...]int{0, first * 31 % len(want), len(want) - 1} {
		if whole := keptStatement(first + i); !reflect.DeepEqual(&got[i], whole) {
			t := clinical.StatementType
			return workload.Wrong("statement %d is %+v, not %+v", i, t.ToProto(&got[i]), t.ToProto(whole))
		}
	}
	if token != wantToken {
		return workload.Wrong("%s is %q, not %q", field, token, wantToken)
	}
	return nil
}

func checkCreated(want *clinical.CreateVisitRequest, i int, out any) error {
	r, ok := out.(*clinical.CreateVisitResponse)
	if !ok || r == nil || r.Visit == nil {
		return workload.Wrong("reply %d is %T without a visit", i, out)
	}
	v := *r.Visit
	if v.CreateTime.IsZero() || v.UpdateTime.IsZero() {
		return workload.Wrong("visit %q has no time", v.VisitID)
	}
	v.CreateTime, v.UpdateTime = timeless, timeless
	right := clinical.Visit{VisitID: want.VisitID, Status: clinical.VisitCreated, PatientID: want.PatientID, ProcedureCodes: want.ProcedureCodes}
	if !reflect.DeepEqual(v, right) {
		return workload.Wrong("visit is %+v, not %+v", v, right)
	}
	return nil
}
