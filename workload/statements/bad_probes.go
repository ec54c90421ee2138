package statements

import (
	"strings"
	"time"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

// The first and the last moment that the schema's timestamps have and JSON can
// tell, but for the zero of Go's time, which is none.
var (
	firstMoment = time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC)
	lastMoment  = time.Date(9999, 12, 31, 23, 59, 59, 999_000_000, time.UTC)
)

// badWays are thirteen ways in which a statement is not one to keep, and what a
// caller is told of each.
var badWays = []struct {
	spoil                      func(*clinical.MedicationStatement)
	field, description, reason string
}{
	{func(s *clinical.MedicationStatement) { s.StatementID += " " }, "statement_id", "does not match regex pattern `^[A-Za-z0-9.-]{1,64}$`", "STRING_PATTERN"},
	{func(s *clinical.MedicationStatement) { s.Status = clinical.StatementUnspecified }, "status", "must not be in list [0]", "ENUM_NOT_IN"},
	{func(s *clinical.MedicationStatement) { s.Medication = nil }, "medication", "value is required", "REQUIRED"},
	{func(s *clinical.MedicationStatement) { s.Medication = new(clinical.CodeableConcept) }, "medication", "must have a coding or a text", "MEDICATION_NAMED"},
	{func(s *clinical.MedicationStatement) { s.Subject = nil }, "subject", "value is required", "REQUIRED"},
	{func(s *clinical.MedicationStatement) { s.Subject = &clinical.Reference{Reference: "Zoë"} }, "subject.reference", "does not match regex pattern `^[A-Za-z]{1,64}/[A-Za-z0-9.-]{1,64}$`", "STRING_PATTERN"},
	{func(s *clinical.MedicationStatement) { s.VisitID = strings.Repeat("v", 65) }, "visit_id", "does not match regex pattern `^[A-Za-z0-9.-]{0,64}$`", "STRING_PATTERN"},
	{func(s *clinical.MedicationStatement) {
		s.EffectiveDateTime, s.EffectivePeriod = &clinical.DateTime{Time: lastMoment, Precision: clinical.PrecisionDay}, new(clinical.Period)
	}, "", "has either effective_date_time or effective_period, or neither", "EFFECTIVE_ONE"},
	{func(s *clinical.MedicationStatement) {
		s.EffectiveDateTime, s.EffectivePeriod = nil, &clinical.Period{
			Start: &clinical.DateTime{Time: lastMoment, Precision: clinical.PrecisionDay}, End: &clinical.DateTime{Time: firstMoment, Precision: clinical.PrecisionDay},
		}
	}, "effective_period", "must not end before it begins", "PERIOD_ORDER"},
	{func(s *clinical.MedicationStatement) { s.DateAsserted = &clinical.DateTime{Time: lastMoment} }, "date_asserted.precision", "must not be in list [0]", "ENUM_NOT_IN"},
	{func(s *clinical.MedicationStatement) { s.Note = []clinical.Annotation{{Author: "Zoë"}} }, "note[0].text", "must be at least 1 characters", "STRING_MIN_LEN"},
	{func(s *clinical.MedicationStatement) {
		s.Dosage = []clinical.Dosage{{}, {DoseQuantity: &clinical.Quantity{Value: "1,5"}}}
	}, "dosage[1].dose_quantity.value", "does not match regex pattern `^-?(0|[1-9][0-9]{0,17})([.][0-9]{1,17})?$`", "STRING_PATTERN"},
	{func(s *clinical.MedicationStatement) {
		s.Dosage = []clinical.Dosage{{Timing: &clinical.Timing{PeriodUnit: "fortnight"}}}
	}, "dosage[0].timing.period_unit", "must be in list [, s, min, h, d, wk, mo, a]", "STRING_IN"},
}

// badFrom is where the first bad statement of thirteenBad stands. The others
// follow two by two.
const badFrom = 7

// thirteenBad gives n statements of which thirteen are bad, each in another way,
// and what an answer tells of these.
func thirteenBad(prefix string, n int) ([]clinical.MedicationStatement, []clinical.Reject) {
	all, rejected := probed(prefix, n), make([]clinical.Reject, len(badWays))
	for i, way := range badWays {
		at := badFrom + 2*i
		way.spoil(&all[at])
		rejected[i] = clinical.Reject{
			Index: int64(at), StatementID: all[at].StatementID, Message: strings.TrimSpace(way.field + " " + way.description),
			Violations: []clinical.Violation{{Field: way.field, Description: way.description, Reason: way.reason}},
		}
	}
	return all, rejected
}
