package thrift

import (
	"time"

	native "github.com/tare-bench/tare/gen/thrift/clinical"
	"github.com/tare-bench/tare/gen/thrift/wellknown"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func timeToThrift(t time.Time) *wellknown.Timestamp {
	if t.IsZero() {
		return nil
	}
	return &wellknown.Timestamp{Seconds: t.Unix(), Nanos: int32(t.Nanosecond())} //nolint:gosec // below 1e9
}

func timeFromThrift(t *wellknown.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return time.Unix(t.Seconds, int64(t.Nanos)).UTC()
}

func maskToThrift(m *clinical.FieldMask) *wellknown.FieldMask {
	return &wellknown.FieldMask{Paths: m.Paths}
}

func maskFromThrift(m *wellknown.FieldMask) *clinical.FieldMask {
	return &clinical.FieldMask{Paths: m.Paths}
}

// some maps what may be absent.
func some[From, To any](from *From, to func(*From) *To) *To {
	if from == nil {
		return nil
	}
	return to(from)
}

// pointers maps a list of values to one of messages.
func pointers[From, To any](from []From, fill func(*To, *From)) []*To {
	if len(from) == 0 {
		return nil
	}
	room, out := make([]To, len(from)), make([]*To, len(from))
	for i := range from {
		fill(&room[i], &from[i])
		out[i] = &room[i]
	}
	return out
}

// values maps a list of messages to one of values.
func values[From, To any](from []*From, fill func(*To, *From)) []To {
	if len(from) == 0 {
		return nil
	}
	out := make([]To, len(from))
	for i := range from {
		fill(&out[i], from[i])
	}
	return out
}

func visitToThrift(v *clinical.Visit) *native.Visit {
	out := new(native.Visit)
	fillVisit(out, v)
	return out
}

func visitFromThrift(m *native.Visit) *clinical.Visit {
	out := new(clinical.Visit)
	takeVisit(out, m)
	return out
}

func fillVisit(to *native.Visit, v *clinical.Visit) {
	to.VisitID, to.Status, to.PatientID = v.VisitID, native.VisitStatus(v.Status), v.PatientID
	to.ProcedureCodes, to.SignedBy = v.ProcedureCodes, v.SignedBy
	to.CreateTime, to.UpdateTime = timeToThrift(v.CreateTime), timeToThrift(v.UpdateTime)
}

func takeVisit(to *clinical.Visit, m *native.Visit) {
	to.VisitID, to.Status, to.PatientID = m.VisitID, clinical.VisitStatus(m.Status), m.PatientID
	to.ProcedureCodes, to.SignedBy = m.ProcedureCodes, m.SignedBy
	to.CreateTime, to.UpdateTime = timeFromThrift(m.CreateTime), timeFromThrift(m.UpdateTime)
}

func fillCoding(to *native.Coding, c *clinical.Coding) {
	to.System, to.Code, to.Display = c.System, c.Code, c.Display
}

func takeCoding(to *clinical.Coding, m *native.Coding) {
	to.System, to.Code, to.Display = m.System, m.Code, m.Display
}

func conceptToThrift(c *clinical.CodeableConcept) *native.CodeableConcept {
	out := new(native.CodeableConcept)
	fillConcept(out, c)
	return out
}

func conceptFromThrift(m *native.CodeableConcept) *clinical.CodeableConcept {
	out := new(clinical.CodeableConcept)
	takeConcept(out, m)
	return out
}

func fillConcept(to *native.CodeableConcept, c *clinical.CodeableConcept) {
	to.Coding, to.Text = pointers(c.Coding, fillCoding), c.Text
}

func takeConcept(to *clinical.CodeableConcept, m *native.CodeableConcept) {
	to.Coding, to.Text = values(m.Coding, takeCoding), m.Text
}

func referenceToThrift(r *clinical.Reference) *native.Reference {
	return &native.Reference{Reference: r.Reference, Display: r.Display}
}

func referenceFromThrift(m *native.Reference) *clinical.Reference {
	return &clinical.Reference{Reference: m.Reference, Display: m.Display}
}

func dateToThrift(d *clinical.DateTime) *native.DateTime {
	return &native.DateTime{
		Time: timeToThrift(d.Time), Precision: native.DatePrecision(d.Precision), UtcOffsetMinutes: d.UTCOffsetMinutes,
	}
}

func dateFromThrift(m *native.DateTime) *clinical.DateTime {
	return &clinical.DateTime{
		Time: timeFromThrift(m.Time), Precision: clinical.DatePrecision(m.Precision), UTCOffsetMinutes: m.UtcOffsetMinutes,
	}
}

func periodToThrift(p *clinical.Period) *native.Period {
	return &native.Period{Start: some(p.Start, dateToThrift), End_: some(p.End, dateToThrift)}
}

func periodFromThrift(m *native.Period) *clinical.Period {
	return &clinical.Period{Start: some(m.Start, dateFromThrift), End: some(m.End_, dateFromThrift)}
}

func quantityToThrift(q *clinical.Quantity) *native.Quantity {
	return &native.Quantity{Value: q.Value, Unit: q.Unit, System: q.System, Code: q.Code}
}

func quantityFromThrift(m *native.Quantity) *clinical.Quantity {
	return &clinical.Quantity{Value: m.Value, Unit: m.Unit, System: m.System, Code: m.Code}
}

func timingToThrift(t *clinical.Timing) *native.Timing {
	return &native.Timing{Frequency: t.Frequency, Period: t.Period, PeriodUnit: t.PeriodUnit, When_: t.When}
}

func timingFromThrift(m *native.Timing) *clinical.Timing {
	return &clinical.Timing{Frequency: m.Frequency, Period: m.Period, PeriodUnit: m.PeriodUnit, When: m.When_}
}

func fillDosage(to *native.Dosage, d *clinical.Dosage) {
	to.Sequence, to.Text, to.PatientInstruction = d.Sequence, d.Text, d.PatientInstruction
	to.Timing, to.AsNeeded = some(d.Timing, timingToThrift), d.AsNeeded
	to.Route, to.DoseQuantity = some(d.Route, conceptToThrift), some(d.DoseQuantity, quantityToThrift)
}

func takeDosage(to *clinical.Dosage, m *native.Dosage) {
	to.Sequence, to.Text, to.PatientInstruction = m.Sequence, m.Text, m.PatientInstruction
	to.Timing, to.AsNeeded = some(m.Timing, timingFromThrift), m.AsNeeded
	to.Route, to.DoseQuantity = some(m.Route, conceptFromThrift), some(m.DoseQuantity, quantityFromThrift)
}

func fillNote(to *native.Annotation, n *clinical.Annotation) {
	to.Author, to.Time, to.Text = n.Author, some(n.Time, dateToThrift), n.Text
}

func takeNote(to *clinical.Annotation, m *native.Annotation) {
	to.Author, to.Time, to.Text = m.Author, some(m.Time, dateFromThrift), m.Text
}

func statementToThrift(s *clinical.MedicationStatement) *native.MedicationStatement {
	out := new(native.MedicationStatement)
	fillStatement(out, s)
	return out
}

func statementFromThrift(m *native.MedicationStatement) *clinical.MedicationStatement {
	out := new(clinical.MedicationStatement)
	takeStatement(out, m)
	return out
}

func fillStatement(to *native.MedicationStatement, s *clinical.MedicationStatement) {
	to.StatementID, to.Status = s.StatementID, native.MedicationStatementStatus(s.Status)
	to.StatusReason, to.Category = pointers(s.StatusReason, fillConcept), some(s.Category, conceptToThrift)
	to.Medication, to.Subject = some(s.Medication, conceptToThrift), some(s.Subject, referenceToThrift)
	to.VisitID = s.VisitID
	to.EffectiveDateTime, to.EffectivePeriod = some(s.EffectiveDateTime, dateToThrift), some(s.EffectivePeriod, periodToThrift)
	to.DateAsserted, to.InformationSource = some(s.DateAsserted, dateToThrift), some(s.InformationSource, referenceToThrift)
	to.ReasonCode, to.Note = pointers(s.ReasonCode, fillConcept), pointers(s.Note, fillNote)
	to.Dosage = pointers(s.Dosage, fillDosage)
}

func takeStatement(to *clinical.MedicationStatement, m *native.MedicationStatement) {
	to.StatementID, to.Status = m.StatementID, clinical.StatementStatus(m.Status)
	to.StatusReason, to.Category = values(m.StatusReason, takeConcept), some(m.Category, conceptFromThrift)
	to.Medication, to.Subject = some(m.Medication, conceptFromThrift), some(m.Subject, referenceFromThrift)
	to.VisitID = m.VisitID
	to.EffectiveDateTime, to.EffectivePeriod = some(m.EffectiveDateTime, dateFromThrift), some(m.EffectivePeriod, periodFromThrift)
	to.DateAsserted, to.InformationSource = some(m.DateAsserted, dateFromThrift), some(m.InformationSource, referenceFromThrift)
	to.ReasonCode, to.Note = values(m.ReasonCode, takeConcept), values(m.Note, takeNote)
	to.Dosage = values(m.Dosage, takeDosage)
}

func fillViolation(to *native.Violation, v *clinical.Violation) {
	to.Field, to.Description, to.Reason = v.Field, v.Description, v.Reason
}

func takeViolation(to *clinical.Violation, m *native.Violation) {
	to.Field, to.Description, to.Reason = m.Field, m.Description, m.Reason
}

func fillReject(to *native.Reject, r *clinical.Reject) {
	to.Index, to.StatementID, to.Message = r.Index, r.StatementID, r.Message
	to.Violations = pointers(r.Violations, fillViolation)
}

func takeReject(to *clinical.Reject, m *native.Reject) {
	to.Index, to.StatementID, to.Message = m.Index, m.StatementID, m.Message
	to.Violations = values(m.Violations, takeViolation)
}
