package records

import (
	"strings"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

// statuses holds each status as often as it is found, out of 32.
var statuses = func() (all [32]clinical.StatementStatus) {
	rest := all[:]
	for _, s := range []struct {
		status clinical.StatementStatus
		times  int
	}{
		{clinical.StatementActive, 17},
		{clinical.StatementCompleted, 7},
		{clinical.StatementStopped, 2},
		{clinical.StatementOnHold, 1},
		{clinical.StatementIntended, 1},
		{clinical.StatementUnknown, 1},
		{clinical.StatementNotTaken, 2},
		{clinical.StatementEnteredInError, 1},
	} {
		for i := range s.times {
			rest[i] = s.status
		}
		rest = rest[s.times:]
	}
	return all
}()

var settings = []clinical.Coding{
	{System: categories, Code: "outpatient", Display: "Outpatient"},
	{System: categories, Code: "community", Display: "Community"},
	{System: categories, Code: "patientspecified", Display: "Patient Specified"},
	{System: categories, Code: "inpatient", Display: "Inpatient"},
}

// medicate says what is taken and how.
func (m *maker) medicate() {
	s, d := &m.statement, &m.draw
	s.Status = *one(d, statuses[:])
	if m.percent(75) {
		m.codings[0] = *one(d, settings)
		m.category.Coding = m.codings[:1:1]
		s.Category = &m.category
	}
	drug := m.table.drawMedication(d)
	switch how := m.below(100); {
	case how < 60:
		m.codings[1] = drug.code
		m.medication.Coding = m.codings[1:2:2]
	case how < 92:
		m.codings[1] = drug.code
		m.medication.Coding = m.codings[1:2:2]
		m.medication.Text = drug.spoken
	default: // who wrote it down had no code for it
		m.medication.Text = drug.spoken
	}
	s.Medication = &m.medication
	if drug.reason != nil && m.percent(60) {
		m.reasonCodes[0] = *drug.reason
		s.ReasonCode = m.reasons[:1:1]
		m.reasons[0].Coding = m.reasonCodes[:1:1]
		if m.percent(10) {
			m.reasonCodes[1] = *one(d, m.table.reasons)
			m.reasons[1].Coding = m.reasonCodes[1:2:2]
			m.reasons[1].Text = m.reasonCodes[1].Display
			s.ReasonCode = m.reasons[:]
		}
	}
	if m.percent(15) { // nothing is known of how
		return
	}
	n := 1
	if m.percent(8) {
		n = maxDosages
	}
	for i := range n {
		m.dose(i, n, drug.form)
	}
	s.Dosage = m.dosages[:n:n]
}

// dose fills dosage i of n.
func (m *maker) dose(i, n int, f *form) {
	to, d := &m.dosages[i], &m.draw
	how := &f.schedules[min(d.below(len(f.schedules)), d.below(len(f.schedules)))]
	amount := f.amounts[min(d.below(len(f.amounts)), d.below(len(f.amounts)))]
	if n > 1 {
		to.Sequence = int32(i) + 1 //nolint:gosec // one or two
	}
	to.AsNeeded = how.asNeeded
	units := f.units
	if amount == "1" {
		units = f.unit
	}
	if m.percent(85) {
		to.Text = m.text(func() { write(&m.words, f.verb, " ", amount, " ", units, f.byWay, " ", how.words) })
	}
	if m.percent(25) {
		to.PatientInstruction = *one(d, instructions)
	}
	if how.frequency > 0 && m.percent(90) {
		m.timings[i] = clinical.Timing{Frequency: how.frequency, Period: how.period, PeriodUnit: how.unit}
		if how.when != "" {
			m.whens[i] = how.when
			m.timings[i].When = m.whens[i : i+1 : i+1]
		}
		to.Timing = &m.timings[i]
	}
	if m.percent(85) {
		m.routeCodes[i] = f.route
		m.routes[i].Coding = m.routeCodes[i : i+1 : i+1]
		to.Route = &m.routes[i]
	}
	if m.percent(90) {
		m.doses[i] = clinical.Quantity{Value: amount, Unit: units, System: ucum, Code: f.ucum}
		to.DoseQuantity = &m.doses[i]
	}
}

// explain says why it stands where it stands.
func (m *maker) explain() {
	switch m.statement.Status {
	case clinical.StatementStopped, clinical.StatementOnHold, clinical.StatementNotTaken:
		m.statusReason[0].Text = *one(&m.draw, stopReasons)
		m.statement.StatusReason = m.statusReason[:]
	}
}

// annotate adds what else there is to say: mostly nothing or little, at times a
// lot.
func (m *maker) annotate() {
	n := min(m.below(100)/55, 1)
	if m.percent(4) {
		n = maxNotes
	}
	for i := range n {
		to := &m.notes[i]
		if m.percent(50) {
			to.Author = m.text(func() { m.name(&m.draw) })
		}
		if m.percent(60) {
			to.Time = m.moment(firstSecond+int64(m.below(manySeconds)), *one(&m.draw, written))
		}
		count := 1 + m.below(3)
		if m.percent(4) {
			count = 10 + m.below(30)
		}
		to.Text = m.text(func() {
			for k := range count {
				if k > 0 {
					m.words.WriteByte(' ')
				}
				m.words.WriteString(*one(&m.draw, sentences))
			}
		})
	}
	if n > 0 {
		m.statement.Note = m.notes[:n:n]
	}
}

func write(to *strings.Builder, words ...string) {
	for _, w := range words {
		to.WriteString(w)
	}
}
