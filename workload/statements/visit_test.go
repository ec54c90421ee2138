package statements

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// restless is a store whose visits change under whoever changes them, so often.
type restless struct {
	*memory.Store
	left int
}

func (r *restless) ChangeVisit(ctx context.Context, v store.Visit) (store.Visit, error) {
	if r.left == 0 {
		return r.Store.ChangeVisit(ctx, v)
	}
	r.left--
	other, err := r.VisitByID(ctx, v.ID)
	if err != nil {
		return v, err
	}
	other.Procedures = append(slices.Clone(other.Procedures), strconv.Itoa(r.left))
	if _, err := r.Store.ChangeVisit(ctx, other); err != nil {
		return v, err
	}
	return v, store.ErrChanged
}

// A change that meets others is made on what they left, and gives up at some time.
func TestChangesOfAVisitThatOthersChange(t *testing.T) {
	for left, want := range map[int]rpc.Code{0: rpc.OK, attempts - 1: rpc.OK, attempts: rpc.Aborted} {
		s := &restless{memory.New(), left}
		h := service(t, visitTier, visitLeg, s, nil)
		if _, err := rpc.Invoke(t.Context(), h, clinical.CreateVisit, &clinical.CreateVisitRequest{VisitID: "1", PatientID: "1"}); err != nil {
			t.Fatal(err)
		}
		in := update(clinical.Visit{VisitID: "1", Status: clinical.VisitInProgress}, []string{"status"})
		out, err := rpc.Invoke(t.Context(), h, clinical.UpdateVisit, in)
		code := rpc.OK
		if err != nil {
			code = rpc.ErrorOf(err).Code
		}
		if code != want {
			t.Errorf("after %d changes of others: %v; want %v", left, err, want)
		}
		if err == nil {
			if v := out.(*clinical.UpdateVisitResponse).Visit; len(v.ProcedureCodes) != left || v.Status != clinical.VisitInProgress {
				t.Errorf("visit is %+v after %d changes of others", v, left)
			}
		}
	}
}

// Of many who sign one visit one has signed it.
func TestOneSigns(t *testing.T) {
	h := service(t, visitTier, visitLeg, memory.New(), nil)
	if _, err := rpc.Invoke(t.Context(), h, clinical.CreateVisit, &clinical.CreateVisitRequest{VisitID: "1", PatientID: "1"}); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	signed := map[string]bool{}
	for n := range 8 {
		wg.Go(func() {
			by := strconv.Itoa(n)
			_, err := rpc.Invoke(t.Context(), h, clinical.SignVisit, &clinical.SignVisitRequest{VisitID: "1", SignedBy: by})
			if e := rpc.ErrorOf(err); e != nil && e.Code != rpc.FailedPrecondition {
				t.Error(err)
			}
			if err == nil {
				mu.Lock()
				signed[by] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	out, err := rpc.Invoke(t.Context(), h, clinical.GetVisit, &clinical.GetVisitRequest{VisitID: "1"})
	if err != nil || len(signed) != 1 || !signed[out.(*clinical.GetVisitResponse).Visit.SignedBy] {
		t.Errorf("%v have signed %+v, %v", signed, out, err)
	}
}

// What is wrong with a mask is told by its path.
func TestMaskViolations(t *testing.T) {
	h := service(t, visitTier, visitLeg, memory.New(), nil)
	for field, in := range map[string]*clinical.UpdateVisitRequest{
		"update_mask":          update(clinical.Visit{VisitID: "1"}, nil),
		"update_mask.paths[0]": update(clinical.Visit{VisitID: "1"}, []string{"room"}),
		"update_mask.paths[1]": update(clinical.Visit{VisitID: "1", PatientID: "1"}, []string{"patient_id", "visit_id"}),
		"visit.status":         update(clinical.Visit{VisitID: "1", Status: clinical.VisitSigned}, []string{"status"}),
		"visit.patient_id":     update(clinical.Visit{VisitID: "1"}, []string{"patient_id"}),
	} {
		_, err := rpc.Invoke(t.Context(), h, clinical.UpdateVisit, in)
		e := rpc.ErrorOf(err)
		if e == nil || e.Code != rpc.InvalidArgument || len(e.Violations) != 1 || e.Violations[0].Field != field {
			t.Errorf("gave %v %+v; want one of %s", err, e, field)
		}
	}
}
