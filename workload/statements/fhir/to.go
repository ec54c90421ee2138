package fhir

import (
	"errors"
	"fmt"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

// statusNames are FHIR's, by the number of a status.
var statusNames = []string{
	clinical.StatementUnspecified:    "",
	clinical.StatementActive:         "active",
	clinical.StatementCompleted:      "completed",
	clinical.StatementEnteredInError: "entered-in-error",
	clinical.StatementIntended:       "intended",
	clinical.StatementStopped:        "stopped",
	clinical.StatementOnHold:         "on-hold",
	clinical.StatementUnknown:        "unknown",
	clinical.StatementNotTaken:       "not-taken",
}

var statuses = func() map[string]clinical.StatementStatus {
	all := make(map[string]clinical.StatementStatus)
	for n, name := range statusNames[1:] {
		all[name] = clinical.StatementStatus(n + 1) //nolint:gosec // a few
	}
	return all
}()

// resourceOf gives a statement as a resource.
func resourceOf(s *clinical.MedicationStatement) (*resource, error) {
	if s.Status < 1 || int(s.Status) >= len(statusNames) {
		return nil, fmt.Errorf("no status %d", s.Status)
	}
	if s.Medication == nil || s.Subject == nil {
		return nil, errors.New("it has no medication or no subject")
	}
	r := &resource{
		ResourceType: resourceType, ID: s.StatementID, Status: statusNames[s.Status],
		StatusReason: toConcepts(s.StatusReason), Category: toConcept(s.Category),
		MedicationCodeableConcept: toConcept(s.Medication),
		Subject:                   toReference(s.Subject), InformationSource: toReference(s.InformationSource),
		ReasonCode: toConcepts(s.ReasonCode),
	}
	if s.VisitID != "" {
		r.Context = &reference{Reference: encounterType + "/" + s.VisitID}
	}
	var failed error
	date := func(d *clinical.DateTime) *string {
		text, err := formatDate(d)
		failed = errors.Join(failed, err)
		return text
	}
	r.EffectiveDateTime, r.DateAsserted = date(s.EffectiveDateTime), date(s.DateAsserted)
	if p := s.EffectivePeriod; p != nil {
		r.EffectivePeriod = &period{Start: date(p.Start), End: date(p.End)}
	}
	for i := range s.Note {
		n := &s.Note[i]
		r.Note = append(r.Note, annotation{AuthorString: n.Author, Time: date(n.Time), Text: n.Text})
	}
	for i := range s.Dosage {
		r.Dosage = append(r.Dosage, toDosage(&s.Dosage[i]))
	}
	return r, failed
}

func toReference(r *clinical.Reference) *reference {
	if r == nil {
		return nil
	}
	return &reference{Reference: r.Reference, Display: r.Display}
}

func toConcepts(all []clinical.CodeableConcept) []concept {
	var out []concept
	for i := range all {
		out = append(out, *toConcept(&all[i]))
	}
	return out
}

func toConcept(c *clinical.CodeableConcept) *concept {
	if c == nil {
		return nil
	}
	out := &concept{Text: c.Text}
	for _, code := range c.Coding {
		out.Coding = append(out.Coding, coding{System: code.System, Code: code.Code, Display: code.Display})
	}
	return out
}

func toDosage(d *clinical.Dosage) dosage {
	out := dosage{
		Sequence: d.Sequence, Text: d.Text, PatientInstruction: d.PatientInstruction, AsNeededBoolean: d.AsNeeded, Route: toConcept(d.Route),
	}
	if t := d.Timing; t != nil {
		out.Timing = &timing{Repeat: &repeat{Frequency: t.Frequency, Period: decimal{t.Period}, PeriodUnit: t.PeriodUnit, When: t.When}}
	}
	if q := d.DoseQuantity; q != nil {
		out.DoseAndRate = []doseAndRate{{DoseQuantity: &quantity{Value: decimal{q.Value}, Unit: q.Unit, System: q.System, Code: q.Code}}}
	}
	return out
}
