package clinical

import (
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/fieldmaskpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	clinicalv1 "github.com/tare-bench/tare/gen/tare/clinical/v1"
)

// Lists are mapped into one allocation of messages and one of pointers, as
// hand-written code that minds its garbage would.

func timeToProto(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

func timeFromProto(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

func maskToProto(m *FieldMask) *fieldmaskpb.FieldMask {
	if m == nil {
		return nil
	}
	return &fieldmaskpb.FieldMask{Paths: m.Paths}
}

func maskFromProto(m *fieldmaskpb.FieldMask) *FieldMask {
	if m == nil {
		return nil
	}
	return &FieldMask{Paths: m.Paths}
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

// outline is a list of as many statements as there are, which the rules of a batch
// count: each is held to its own by itself.
func outline(from []MedicationStatement) []*clinicalv1.MedicationStatement {
	return slices.Repeat([]*clinicalv1.MedicationStatement{empty}, len(from))
}

var empty = new(clinicalv1.MedicationStatement)

func visitToProto(v *Visit) *clinicalv1.Visit {
	out := new(clinicalv1.Visit)
	fillVisit(out, v)
	return out
}

func visitFromProto(m *clinicalv1.Visit) *Visit {
	out := new(Visit)
	takeVisit(out, m)
	return out
}

func fillVisit(to *clinicalv1.Visit, v *Visit) {
	to.VisitId, to.Status, to.PatientId = v.VisitID, clinicalv1.VisitStatus(v.Status), v.PatientID
	to.ProcedureCodes, to.SignedBy = v.ProcedureCodes, v.SignedBy
	to.CreateTime, to.UpdateTime = timeToProto(v.CreateTime), timeToProto(v.UpdateTime)
}

func takeVisit(to *Visit, m *clinicalv1.Visit) {
	to.VisitID, to.Status, to.PatientID = m.GetVisitId(), VisitStatus(m.GetStatus()), m.GetPatientId()
	to.ProcedureCodes, to.SignedBy = m.GetProcedureCodes(), m.GetSignedBy()
	to.CreateTime, to.UpdateTime = timeFromProto(m.GetCreateTime()), timeFromProto(m.GetUpdateTime())
}

func fillCoding(to *clinicalv1.Coding, c *Coding) {
	to.System, to.Code, to.Display = c.System, c.Code, c.Display
}

func takeCoding(to *Coding, m *clinicalv1.Coding) {
	to.System, to.Code, to.Display = m.GetSystem(), m.GetCode(), m.GetDisplay()
}

func conceptToProto(c *CodeableConcept) *clinicalv1.CodeableConcept {
	out := new(clinicalv1.CodeableConcept)
	fillConcept(out, c)
	return out
}

func conceptFromProto(m *clinicalv1.CodeableConcept) *CodeableConcept {
	out := new(CodeableConcept)
	takeConcept(out, m)
	return out
}

func fillConcept(to *clinicalv1.CodeableConcept, c *CodeableConcept) {
	to.Coding, to.Text = pointers(c.Coding, fillCoding), c.Text
}

func takeConcept(to *CodeableConcept, m *clinicalv1.CodeableConcept) {
	to.Coding, to.Text = values(m.GetCoding(), takeCoding), m.GetText()
}

func referenceToProto(r *Reference) *clinicalv1.Reference {
	return &clinicalv1.Reference{Reference: r.Reference, Display: r.Display}
}

func referenceFromProto(m *clinicalv1.Reference) *Reference {
	return &Reference{Reference: m.GetReference(), Display: m.GetDisplay()}
}

func dateToProto(d *DateTime) *clinicalv1.DateTime {
	return &clinicalv1.DateTime{
		Time: timeToProto(d.Time), Precision: clinicalv1.DatePrecision(d.Precision), UtcOffsetMinutes: d.UTCOffsetMinutes,
	}
}

func dateFromProto(m *clinicalv1.DateTime) *DateTime {
	return &DateTime{
		Time: timeFromProto(m.GetTime()), Precision: DatePrecision(m.GetPrecision()), UTCOffsetMinutes: m.GetUtcOffsetMinutes(),
	}
}

func periodToProto(p *Period) *clinicalv1.Period {
	return &clinicalv1.Period{Start: some(p.Start, dateToProto), End: some(p.End, dateToProto)}
}

func periodFromProto(m *clinicalv1.Period) *Period {
	return &Period{Start: some(m.GetStart(), dateFromProto), End: some(m.GetEnd(), dateFromProto)}
}

func quantityToProto(q *Quantity) *clinicalv1.Quantity {
	return &clinicalv1.Quantity{Value: q.Value, Unit: q.Unit, System: q.System, Code: q.Code}
}

func quantityFromProto(m *clinicalv1.Quantity) *Quantity {
	return &Quantity{Value: m.GetValue(), Unit: m.GetUnit(), System: m.GetSystem(), Code: m.GetCode()}
}

func timingToProto(t *Timing) *clinicalv1.Timing {
	return &clinicalv1.Timing{Frequency: t.Frequency, Period: t.Period, PeriodUnit: t.PeriodUnit, When: t.When}
}

func timingFromProto(m *clinicalv1.Timing) *Timing {
	return &Timing{Frequency: m.GetFrequency(), Period: m.GetPeriod(), PeriodUnit: m.GetPeriodUnit(), When: m.GetWhen()}
}

func fillDosage(to *clinicalv1.Dosage, d *Dosage) {
	to.Sequence, to.Text, to.PatientInstruction = d.Sequence, d.Text, d.PatientInstruction
	to.Timing, to.AsNeeded = some(d.Timing, timingToProto), d.AsNeeded
	to.Route, to.DoseQuantity = some(d.Route, conceptToProto), some(d.DoseQuantity, quantityToProto)
}

func takeDosage(to *Dosage, m *clinicalv1.Dosage) {
	to.Sequence, to.Text, to.PatientInstruction = m.GetSequence(), m.GetText(), m.GetPatientInstruction()
	to.Timing, to.AsNeeded = some(m.GetTiming(), timingFromProto), m.GetAsNeeded()
	to.Route, to.DoseQuantity = some(m.GetRoute(), conceptFromProto), some(m.GetDoseQuantity(), quantityFromProto)
}

func fillNote(to *clinicalv1.Annotation, n *Annotation) {
	to.Author, to.Time, to.Text = n.Author, some(n.Time, dateToProto), n.Text
}

func takeNote(to *Annotation, m *clinicalv1.Annotation) {
	to.Author, to.Time, to.Text = m.GetAuthor(), some(m.GetTime(), dateFromProto), m.GetText()
}

func statementToProto(s *MedicationStatement) *clinicalv1.MedicationStatement {
	out := new(clinicalv1.MedicationStatement)
	fillStatement(out, s)
	return out
}

func statementFromProto(m *clinicalv1.MedicationStatement) *MedicationStatement {
	out := new(MedicationStatement)
	takeStatement(out, m)
	return out
}

func fillStatement(to *clinicalv1.MedicationStatement, s *MedicationStatement) {
	to.StatementId, to.Status = s.StatementID, clinicalv1.MedicationStatementStatus(s.Status)
	to.StatusReason, to.Category = pointers(s.StatusReason, fillConcept), some(s.Category, conceptToProto)
	to.Medication, to.Subject = some(s.Medication, conceptToProto), some(s.Subject, referenceToProto)
	to.VisitId = s.VisitID
	to.EffectiveDateTime, to.EffectivePeriod = some(s.EffectiveDateTime, dateToProto), some(s.EffectivePeriod, periodToProto)
	to.DateAsserted, to.InformationSource = some(s.DateAsserted, dateToProto), some(s.InformationSource, referenceToProto)
	to.ReasonCode, to.Note = pointers(s.ReasonCode, fillConcept), pointers(s.Note, fillNote)
	to.Dosage = pointers(s.Dosage, fillDosage)
}

func takeStatement(to *MedicationStatement, m *clinicalv1.MedicationStatement) {
	to.StatementID, to.Status = m.GetStatementId(), StatementStatus(m.GetStatus())
	to.StatusReason, to.Category = values(m.GetStatusReason(), takeConcept), some(m.GetCategory(), conceptFromProto)
	to.Medication, to.Subject = some(m.GetMedication(), conceptFromProto), some(m.GetSubject(), referenceFromProto)
	to.VisitID = m.GetVisitId()
	to.EffectiveDateTime, to.EffectivePeriod = some(m.GetEffectiveDateTime(), dateFromProto), some(m.GetEffectivePeriod(), periodFromProto)
	to.DateAsserted, to.InformationSource = some(m.GetDateAsserted(), dateFromProto), some(m.GetInformationSource(), referenceFromProto)
	to.ReasonCode, to.Note = values(m.GetReasonCode(), takeConcept), values(m.GetNote(), takeNote)
	to.Dosage = values(m.GetDosage(), takeDosage)
}

func fillViolation(to *clinicalv1.Violation, v *Violation) {
	to.Field, to.Description, to.Reason = v.Field, v.Description, v.Reason
}

func takeViolation(to *Violation, m *clinicalv1.Violation) {
	to.Field, to.Description, to.Reason = m.GetField(), m.GetDescription(), m.GetReason()
}

func fillReject(to *clinicalv1.Reject, r *Reject) {
	to.Index, to.StatementId, to.Message = r.Index, r.StatementID, r.Message
	to.Violations = pointers(r.Violations, fillViolation)
}

func takeReject(to *Reject, m *clinicalv1.Reject) {
	to.Index, to.StatementID, to.Message = m.GetIndex(), m.GetStatementId(), m.GetMessage()
	to.Violations = values(m.GetViolations(), takeViolation)
}
