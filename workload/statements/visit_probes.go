package statements

import (
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// timeless stands for whenever a visit came or changed.
var timeless time.Time

// withoutTimes gives a reply without what differs from run to run.
func withoutTimes(out any) any {
	take := func(v *clinical.Visit) *clinical.Visit {
		if v == nil {
			return nil
		}
		same := *v
		same.CreateTime, same.UpdateTime = timeless, timeless
		return &same
	}
	switch r := out.(type) {
	case *clinical.CreateVisitResponse:
		return &clinical.CreateVisitResponse{Visit: take(r.Visit)}
	case *clinical.GetVisitResponse:
		return &clinical.GetVisitResponse{Visit: take(r.Visit)}
	case *clinical.UpdateVisitResponse:
		return &clinical.UpdateVisitResponse{Visit: take(r.Visit)}
	case *clinical.SignVisitResponse:
		return &clinical.SignVisitResponse{Visit: take(r.Visit)}
	case *clinical.ListVisitsResponse:
		same := &clinical.ListVisitsResponse{NextPageToken: r.NextPageToken}
		for i := range r.Visits {
			same.Visits = append(same.Visits, *take(&r.Visits[i]))
		}
		return same
	}
	return out
}

// visitProbes take two visits from their creation to a signature, and try what
// must not be.
func visitProbes() []workload.Call {
	one := clinical.Visit{VisitID: "visit.-1", Status: clinical.VisitCreated, PatientID: "patient.-1", ProcedureCodes: []string{"99213", shortAwkward}}
	two := clinical.Visit{VisitID: "visit.-2", Status: clinical.VisitCreated, PatientID: "patient.-2"}
	begun, moved, signed := one, two, one
	begun.Status = clinical.VisitInProgress
	moved.PatientID, moved.ProcedureCodes = one.PatientID, []string{"36415"}
	signed.Status, signed.SignedBy = clinical.VisitSigned, awkward
	calls := []workload.Call{
		creating(one, one), creating(two, two), creating(one, one), // again: created once
		workload.Failing(clinical.CreateVisit, rpc.AlreadyExists, &clinical.CreateVisitRequest{VisitID: one.VisitID, PatientID: two.PatientID}),
		workload.Failing(clinical.CreateVisit, rpc.InvalidArgument, &clinical.CreateVisitRequest{VisitID: "visit 3", PatientID: "1"}),
		workload.Failing(clinical.CreateVisit, rpc.InvalidArgument, &clinical.CreateVisitRequest{VisitID: "visit-3"}),
		reading(one),
		workload.Failing(clinical.GetVisit, rpc.NotFound, &clinical.GetVisitRequest{VisitID: "visit-3"}),
		updating(begun, clinical.Visit{VisitID: one.VisitID, Status: clinical.VisitInProgress}, "status"),
		creating(one, begun), // as it stands
		failingUpdate(rpc.FailedPrecondition, clinical.Visit{VisitID: one.VisitID, Status: clinical.VisitCreated}, "status"),
		updating(moved, clinical.Visit{VisitID: two.VisitID, Status: clinical.VisitInProgress, PatientID: moved.PatientID, ProcedureCodes: moved.ProcedureCodes}, "procedure_codes", "patient_id"),
	}
	calls = append(calls, refusedUpdates(two)...)
	sign := func(by string) any { return &clinical.SignVisitRequest{VisitID: one.VisitID, SignedBy: by} }
	for range 2 { // again: signed once
		calls = append(calls, workload.Reading(clinical.SignVisit, sign(awkward), &clinical.SignVisitResponse{Visit: &signed}, withoutTimes))
	}
	list := func(r clinical.ListVisitsRequest, next string, all ...clinical.Visit) workload.Call {
		return workload.Reading(clinical.ListVisits, &r, &clinical.ListVisitsResponse{Visits: all, NextPageToken: next}, withoutTimes)
	}
	patient := one.PatientID
	return append(calls,
		workload.Failing(clinical.SignVisit, rpc.FailedPrecondition, sign("another")),
		workload.Failing(clinical.SignVisit, rpc.InvalidArgument, sign("")),
		workload.Failing(clinical.SignVisit, rpc.NotFound, &clinical.SignVisitRequest{VisitID: "visit-3", SignedBy: "1"}),
		failingUpdate(rpc.FailedPrecondition, clinical.Visit{VisitID: one.VisitID, PatientID: "3"}, "patient_id"),
		list(clinical.ListVisitsRequest{PatientID: patient, PageSize: 1}, workload.PageToken(2, patient, visitTier), moved),
		list(clinical.ListVisitsRequest{PatientID: patient, PageToken: workload.PageToken(2, patient, visitTier)}, "", signed),
		list(clinical.ListVisitsRequest{PatientID: "nobody", PageSize: 1000}, ""),
		workload.Failing(clinical.ListVisits, rpc.InvalidArgument, &clinical.ListVisitsRequest{PageSize: 1001}),
		workload.Failing(clinical.ListVisits, rpc.InvalidArgument, &clinical.ListVisitsRequest{PageToken: "next please"}),
		workload.Failing(clinical.ListVisits, rpc.InvalidArgument, &clinical.ListVisitsRequest{PatientID: patient, PageToken: workload.PageToken(2, "", visitTier)}),
		workload.Failing(clinical.ListVisits, rpc.InvalidArgument, &clinical.ListVisitsRequest{PageToken: workload.PageToken(2, "")}), // of statements
	)
}

func creating(v, want clinical.Visit) workload.Call {
	in := &clinical.CreateVisitRequest{VisitID: v.VisitID, PatientID: v.PatientID, ProcedureCodes: v.ProcedureCodes}
	return workload.Reading(clinical.CreateVisit, in, &clinical.CreateVisitResponse{Visit: &want}, withoutTimes)
}

func reading(v clinical.Visit) workload.Call {
	return workload.Reading(clinical.GetVisit, &clinical.GetVisitRequest{VisitID: v.VisitID}, &clinical.GetVisitResponse{Visit: &v}, withoutTimes)
}

func updating(want, v clinical.Visit, mask ...string) workload.Call {
	return workload.Reading(clinical.UpdateVisit, update(v, mask), &clinical.UpdateVisitResponse{Visit: &want}, withoutTimes)
}

func failingUpdate(code rpc.Code, v clinical.Visit, mask ...string) workload.Call {
	return workload.Failing(clinical.UpdateVisit, code, update(v, mask))
}

func update(v clinical.Visit, mask []string) *clinical.UpdateVisitRequest {
	return &clinical.UpdateVisitRequest{Visit: &v, UpdateMask: &clinical.FieldMask{Paths: mask}}
}

// refusedUpdates ask for what no mask, or no change, may.
func refusedUpdates(v clinical.Visit) []workload.Call {
	only := clinical.Visit{VisitID: v.VisitID}
	signed := clinical.Visit{VisitID: v.VisitID, Status: clinical.VisitSigned}
	return []workload.Call{
		failingUpdate(rpc.InvalidArgument, v), // nothing
		failingUpdate(rpc.InvalidArgument, v, "room"),
		failingUpdate(rpc.InvalidArgument, v, "patient_id", "signed_by"),
		failingUpdate(rpc.InvalidArgument, v, "visit_id"),
		failingUpdate(rpc.InvalidArgument, v, "status.name"),
		failingUpdate(rpc.InvalidArgument, only, "status"),
		failingUpdate(rpc.InvalidArgument, signed, "status"),
		failingUpdate(rpc.InvalidArgument, only, "patient_id"),
		workload.Failing(clinical.UpdateVisit, rpc.InvalidArgument, &clinical.UpdateVisitRequest{Visit: &v}),
		workload.Failing(clinical.UpdateVisit, rpc.InvalidArgument, &clinical.UpdateVisitRequest{UpdateMask: &clinical.FieldMask{Paths: []string{"status"}}}),
		failingUpdate(rpc.NotFound, clinical.Visit{VisitID: "visit-3", PatientID: "1"}, "patient_id"),
	}
}
