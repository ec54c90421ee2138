package clinical

import "time"

// Visit is a visit as it is kept.
type Visit struct {
	VisitID        string      `json:"visitId"`
	Status         VisitStatus `json:"status"`
	PatientID      string      `json:"patientId"`
	ProcedureCodes []string    `json:"procedureCodes,omitempty"`
	SignedBy       string      `json:"signedBy,omitempty"`
	CreateTime     time.Time   `json:"createTime,omitzero" avro:",omitzero"`
	UpdateTime     time.Time   `json:"updateTime,omitzero" avro:",omitzero"`
}

// CreateVisitRequest is a visit to keep.
type CreateVisitRequest struct {
	VisitID        string   `json:"visitId"`
	PatientID      string   `json:"patientId"`
	ProcedureCodes []string `json:"procedureCodes,omitempty"`
}

// CreateVisitResponse brings the visit.
type CreateVisitResponse struct {
	Visit *Visit `json:"visit,omitempty"`
}

// GetVisitRequest names a visit.
type GetVisitRequest struct {
	VisitID string `json:"visitId"`
}

// GetVisitResponse brings a visit.
type GetVisitResponse struct {
	Visit *Visit `json:"visit,omitempty"`
}

// ListVisitsRequest asks for a page of visits.
type ListVisitsRequest struct {
	PageSize  int32  `json:"pageSize"`
	PageToken string `json:"pageToken"`
	PatientID string `json:"patientId"`
}

// ListVisitsResponse is a page of visits.
type ListVisitsResponse struct {
	Visits        []Visit `json:"visits,omitempty"`
	NextPageToken string  `json:"nextPageToken"`
}

// UpdateVisitRequest changes the fields of a visit that the mask names.
type UpdateVisitRequest struct {
	Visit      *Visit     `json:"visit,omitempty"`
	UpdateMask *FieldMask `json:"updateMask,omitempty"`
}

// UpdateVisitResponse brings the visit.
type UpdateVisitResponse struct {
	Visit *Visit `json:"visit,omitempty"`
}

// SignVisitRequest ends a visit.
type SignVisitRequest struct {
	VisitID  string `json:"visitId"`
	SignedBy string `json:"signedBy"`
}

// SignVisitResponse brings the visit.
type SignVisitResponse struct {
	Visit *Visit `json:"visit,omitempty"`
}
