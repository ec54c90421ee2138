package statements

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// setter puts one field of a request, by its path, in the place of a visit's.
type setter struct {
	path string
	set  func(v *store.Visit, to *clinical.Visit)
}

// changeable are the fields of a visit that a mask may name.
var changeable = []setter{
	{"status", func(v *store.Visit, to *clinical.Visit) { v.Status = settable[to.Status] }},
	{"patient_id", func(v *store.Visit, to *clinical.Visit) { v.Patient = to.PatientID }},
	{"procedure_codes", func(v *store.Visit, to *clinical.Visit) { v.Procedures = to.ProcedureCodes }},
}

// settable are the statuses that a change may give. To sign has a method of its
// own, which says who signs.
var settable = map[clinical.VisitStatus]store.VisitStatus{
	clinical.VisitCreated: store.VisitCreated, clinical.VisitInProgress: store.VisitInProgress,
}

// settersOf reads a request's mask. What is wrong with it, or with a field that
// it names, is a violation.
func settersOf(r *clinical.UpdateVisitRequest) ([]setter, error) {
	paths := r.UpdateMask.Paths
	if len(paths) == 0 {
		return nil, workload.Invalid(rpc.Violation{Field: "update_mask", Description: "must name a field to change: " + changeablePaths(), Reason: "FIELD_MASK"})
	}
	set := make([]setter, len(paths))
	for i, path := range paths {
		at := slices.IndexFunc(changeable, func(c setter) bool { return c.path == path })
		if at < 0 {
			return nil, workload.Invalid(rpc.Violation{
				Field: fmt.Sprintf("update_mask.paths[%d]", i), Description: "must be a field that can change: " + changeablePaths(), Reason: "FIELD_MASK",
			})
		}
		set[i] = changeable[at]
	}
	if slices.Contains(paths, "status") && settable[r.Visit.Status] == 0 {
		return nil, workload.Invalid(rpc.Violation{
			Field:       "visit.status",
			Description: "must be VISIT_STATUS_CREATED or VISIT_STATUS_IN_PROGRESS where update_mask names it; SignVisit signs", Reason: "ENUM_IN",
		})
	}
	if slices.Contains(paths, "patient_id") && r.Visit.PatientID == "" {
		return nil, workload.Invalid(rpc.Violation{
			Field: "visit.patient_id", Description: "must not be empty where update_mask names it", Reason: "STRING_MIN_LEN",
		})
	}
	return set, nil
}

func changeablePaths() string {
	var all []string
	for _, c := range changeable {
		all = append(all, c.path)
	}
	return strings.Join(all, ", ")
}
