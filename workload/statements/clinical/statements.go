package clinical

import "time"

// Coding is a code of some system.
type Coding struct {
	System  string `json:"system,omitempty"`
	Code    string `json:"code"`
	Display string `json:"display,omitempty"`
}

// CodeableConcept is a notion, as codes or in words.
type CodeableConcept struct {
	Coding []Coding `json:"coding,omitempty"`
	Text   string   `json:"text,omitempty"`
}

// Reference names another record, "Patient/123".
type Reference struct {
	Reference string `json:"reference"`
	Display   string `json:"display,omitempty"`
}

// DateTime is a time of which only the year, the month or the day may be known.
type DateTime struct {
	Time             time.Time     `json:"time"` // its first moment, in UTC
	Precision        DatePrecision `json:"precision"`
	UTCOffsetMinutes int32         `json:"utcOffsetMinutes,omitempty"` // of the clock that it was read from
}

// Period is a stretch of time; either end may be absent.
type Period struct {
	Start *DateTime `json:"start,omitempty"`
	End   *DateTime `json:"end,omitempty"`
}

// Quantity is so much of something; the value is a decimal as it was written.
type Quantity struct {
	Value  string `json:"value"`
	Unit   string `json:"unit,omitempty"`
	System string `json:"system,omitempty"`
	Code   string `json:"code,omitempty"`
}

// Timing is how often: Frequency times in Period of PeriodUnit.
type Timing struct {
	Frequency  int32    `json:"frequency,omitempty"`
	Period     string   `json:"period,omitempty"`
	PeriodUnit string   `json:"periodUnit,omitempty"`
	When       []string `json:"when,omitempty"`
}

// Dosage is how a medication is taken.
type Dosage struct {
	Sequence           int32            `json:"sequence,omitempty"`
	Text               string           `json:"text,omitempty"`
	PatientInstruction string           `json:"patientInstruction,omitempty"`
	Timing             *Timing          `json:"timing,omitempty"`
	AsNeeded           bool             `json:"asNeeded,omitempty"`
	Route              *CodeableConcept `json:"route,omitempty"`
	DoseQuantity       *Quantity        `json:"doseQuantity,omitempty"`
}

// Annotation is a note.
type Annotation struct {
	Author string    `json:"author,omitempty"`
	Time   *DateTime `json:"time,omitempty"`
	Text   string    `json:"text"`
}

// MedicationStatement is one record, with the fields of FHIR R4's resource.
type MedicationStatement struct {
	StatementID       string            `json:"statementId"`
	Status            StatementStatus   `json:"status"`
	StatusReason      []CodeableConcept `json:"statusReason,omitempty"`
	Category          *CodeableConcept  `json:"category,omitempty"`
	Medication        *CodeableConcept  `json:"medication,omitempty"` // never nil in a statement that keeps the rules
	Subject           *Reference        `json:"subject,omitempty"`    // the same
	VisitID           string            `json:"visitId,omitempty"`
	EffectiveDateTime *DateTime         `json:"effectiveDateTime,omitempty"`
	EffectivePeriod   *Period           `json:"effectivePeriod,omitempty"`
	DateAsserted      *DateTime         `json:"dateAsserted,omitempty"`
	InformationSource *Reference        `json:"informationSource,omitempty"`
	ReasonCode        []CodeableConcept `json:"reasonCode,omitempty"`
	Note              []Annotation      `json:"note,omitempty"`
	Dosage            []Dosage          `json:"dosage,omitempty"`
}

// Violation is a rule that a statement breaks.
type Violation struct {
	Field       string `json:"field,omitempty"`
	Description string `json:"description,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

// Reject is a statement that was not kept.
type Reject struct {
	Index       int64       `json:"index,string"`
	StatementID string      `json:"statementId"`
	Message     string      `json:"message"`
	Violations  []Violation `json:"violations,omitempty"`
}

// GetStatementRequest names a statement.
type GetStatementRequest struct {
	StatementID string `json:"statementId"`
}

// GetStatementResponse brings a statement.
type GetStatementResponse struct {
	Statement *MedicationStatement `json:"statement,omitempty"`
}

// ListStatementsRequest asks for a page of statements.
type ListStatementsRequest struct {
	PageSize  int32  `json:"pageSize"`
	PageToken string `json:"pageToken"`
	Subject   string `json:"subject"`
}

// ListStatementsResponse is a page of statements.
type ListStatementsResponse struct {
	Statements    []MedicationStatement `json:"statements,omitempty"`
	NextPageToken string                `json:"nextPageToken"`
}

// BatchWriteRequest brings statements.
type BatchWriteRequest struct {
	Statements []MedicationStatement `json:"statements,omitempty"`
}

// BatchWriteResponse says what became of them.
type BatchWriteResponse struct {
	Written   int32    `json:"written"`
	Unchanged int32    `json:"unchanged"`
	Rejected  []Reject `json:"rejected,omitempty"`
}

// ExportRequest says what to give.
type ExportRequest struct {
	BatchSize   int32  `json:"batchSize"`
	Subject     string `json:"subject"`
	ResumeToken string `json:"resumeToken"`
}

// ExportResponse brings statements.
type ExportResponse struct {
	Statements  []MedicationStatement `json:"statements,omitempty"`
	ResumeToken string                `json:"resumeToken"`
}

// ImportRequest brings statements.
type ImportRequest struct {
	Statements []MedicationStatement `json:"statements,omitempty"`
}

// ImportResponse says what became of all of them.
type ImportResponse struct {
	Written   int64    `json:"written,string"`
	Unchanged int64    `json:"unchanged,string"`
	Rejected  []Reject `json:"rejected,omitempty"`
}

// SyncRequest brings statements.
type SyncRequest struct {
	Sequence   int64                 `json:"sequence,string"`
	Statements []MedicationStatement `json:"statements,omitempty"`
}

// SyncResponse says what became of those of one message.
type SyncResponse struct {
	Sequence  int64    `json:"sequence,string"`
	Written   int32    `json:"written"`
	Unchanged int32    `json:"unchanged"`
	Rejected  []Reject `json:"rejected,omitempty"`
}
