package statements

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// visitService keeps visits.
type visitService struct {
	workload.Answers
	visits store.Visits
}

func newVisitService(env workload.Env) (rpc.Handler, error) {
	visits, ok := env.Store.(store.Visits)
	if !ok {
		return nil, fmt.Errorf("a store of type %T keeps no visits", env.Store)
	}
	s := &visitService{visits: visits}
	s.Answers = workload.Answers{
		clinical.CreateVisit: workload.Unary(s.create),
		clinical.GetVisit:    workload.Unary(s.get),
		clinical.ListVisits:  workload.Unary(s.list),
		clinical.UpdateVisit: workload.Unary(s.update),
		clinical.SignVisit:   workload.Unary(s.sign),
	}
	return s, nil
}

func (s *visitService) create(ctx context.Context, r *clinical.CreateVisitRequest) (*clinical.CreateVisitResponse, error) {
	v, err := s.visits.AddVisit(ctx, store.Visit{ID: r.VisitID, Patient: r.PatientID, Procedures: r.ProcedureCodes, Created: now()})
	switch {
	case errors.Is(err, store.ErrExists):
		return nil, rpc.Errorf(rpc.AlreadyExists, "visit_id %q exists with other content", r.VisitID)
	case err != nil:
		return nil, workload.StoreError("keep visit", err)
	}
	return &clinical.CreateVisitResponse{Visit: keptVisit(v)}, nil
}

func (s *visitService) get(ctx context.Context, r *clinical.GetVisitRequest) (*clinical.GetVisitResponse, error) {
	v, err := s.find(ctx, r.VisitID)
	if err != nil {
		return nil, err
	}
	return &clinical.GetVisitResponse{Visit: keptVisit(v)}, nil
}

func (s *visitService) find(ctx context.Context, id string) (store.Visit, error) {
	v, err := s.visits.VisitByID(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return v, rpc.Errorf(rpc.NotFound, "no visit %q", id)
	case err != nil:
		return v, workload.StoreError("look for visit", err)
	}
	return v, nil
}

// defaultVisits is how many visits a page has where nobody says.
const defaultVisits = 50

func (s *visitService) list(ctx context.Context, r *clinical.ListVisitsRequest) (*clinical.ListVisitsResponse, error) {
	before, err := numberOf(r.PageToken, badVisitPage, r.PatientID, visitTier)
	if err != nil {
		return nil, err
	}
	if before == 0 {
		before = math.MaxInt64
	}
	size := int(r.PageSize)
	if size == 0 {
		size = defaultVisits
	}
	kept, err := s.visits.VisitsBefore(ctx, r.PatientID, before, size+1) // one more tells whether there is another page
	if err != nil {
		return nil, workload.StoreError("list visits", err)
	}
	out := new(clinical.ListVisitsResponse)
	if len(kept) > size {
		kept = kept[:size]
		out.NextPageToken = workload.PageToken(kept[size-1].Number, r.PatientID, visitTier)
	}
	if len(kept) > 0 {
		out.Visits = make([]clinical.Visit, len(kept))
	}
	for i := range kept {
		out.Visits[i] = *keptVisit(kept[i])
	}
	return out, nil
}

func (s *visitService) update(ctx context.Context, r *clinical.UpdateVisitRequest) (*clinical.UpdateVisitResponse, error) {
	set, err := settersOf(r)
	if err != nil {
		return nil, err
	}
	v, err := s.change(ctx, r.Visit.VisitID, func(v *store.Visit) error {
		if v.Status == store.VisitSigned {
			return rpc.Errorf(rpc.FailedPrecondition, "visit %q is signed, and not changed any more", v.ID)
		}
		was := v.Status
		for _, f := range set {
			f.set(v, r.Visit)
		}
		if v.Status < was {
			return rpc.Errorf(rpc.FailedPrecondition, "visit %q has begun: its status does not go back", v.ID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &clinical.UpdateVisitResponse{Visit: keptVisit(v)}, nil
}

func (s *visitService) sign(ctx context.Context, r *clinical.SignVisitRequest) (*clinical.SignVisitResponse, error) {
	v, err := s.change(ctx, r.VisitID, func(v *store.Visit) error {
		if v.Status == store.VisitSigned && v.SignedBy != r.SignedBy {
			return rpc.Errorf(rpc.FailedPrecondition, "visit %q is signed by another", v.ID)
		}
		v.Status, v.SignedBy = store.VisitSigned, r.SignedBy
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &clinical.SignVisitResponse{Visit: keptVisit(v)}, nil
}

// attempts is how often a change is begun anew because the visit has changed
// meanwhile. Few write one visit at a time; whoever meets more is told.
const attempts = 10

// change has alter change a visit as it stands, and gives it as it is kept.
func (s *visitService) change(ctx context.Context, id string, alter func(*store.Visit) error) (store.Visit, error) {
	for range attempts {
		was, err := s.find(ctx, id)
		if err != nil {
			return was, err
		}
		v := was
		if err := alter(&v); err != nil {
			return was, err
		}
		if v.Status == was.Status && v.Patient == was.Patient && v.SignedBy == was.SignedBy && slices.Equal(v.Procedures, was.Procedures) {
			return was, nil
		}
		v.Updated = now()
		v, err = s.visits.ChangeVisit(ctx, v)
		switch {
		case err == nil:
			return v, nil
		case !errors.Is(err, store.ErrChanged):
			return v, workload.StoreError("change visit", err)
		}
	}
	return store.Visit{}, rpc.Errorf(rpc.Aborted, "visit %q was changed by others all the while: try again", id)
}

// statuses says of each status of a store which of the schema it is.
var statuses = map[store.VisitStatus]clinical.VisitStatus{
	store.VisitCreated: clinical.VisitCreated, store.VisitInProgress: clinical.VisitInProgress, store.VisitSigned: clinical.VisitSigned,
}

func keptVisit(v store.Visit) *clinical.Visit {
	return &clinical.Visit{
		VisitID: v.ID, Status: statuses[v.Status], PatientID: v.Patient, ProcedureCodes: v.Procedures, SignedBy: v.SignedBy,
		CreateTime: v.Created, UpdateTime: v.Updated,
	}
}
