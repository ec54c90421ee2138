package statements

import (
	"strings"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

// plainlyRight says that a statement keeps every rule of the schema; false says
// nothing, and the rules themselves tell. They are read for any message by
// reflection, which takes some twenty times as long and is most of what it costs to
// take a statement in; nearly all that come are right. It may only be stricter than
// the schema: TestPlainlyRightKeepsTheRules holds it to that, in every field that
// there is.
func plainlyRight(s *clinical.MedicationStatement) bool {
	return isID(s.StatementID, 1) && isID(s.VisitID, 0) &&
		s.Status > clinical.StatementUnspecified && s.Status <= clinical.StatementNotTaken &&
		s.Medication != nil && (len(s.Medication.Coding) > 0 || s.Medication.Text != "") && isConcept(s.Medication) &&
		s.Subject != nil && isReference(s.Subject) && absentOr(s.InformationSource, isReference) &&
		absentOr(s.Category, isConcept) && allAre(s.StatusReason, 16, isConcept) && allAre(s.ReasonCode, 16, isConcept) &&
		(s.EffectiveDateTime == nil || s.EffectivePeriod == nil) &&
		absentOr(s.EffectiveDateTime, isDate) && absentOr(s.EffectivePeriod, isPeriod) && absentOr(s.DateAsserted, isDate) &&
		allAre(s.Note, 64, isNote) && allAre(s.Dosage, 64, isDosage)
}

func absentOr[T any](v *T, right func(*T) bool) bool { return v == nil || right(v) }

func allAre[T any](list []T, most int, right func(*T) bool) bool {
	if len(list) > most {
		return false
	}
	for i := range list {
		if !right(&list[i]) {
			return false
		}
	}
	return true
}

func isText(s string, most int) bool { return len(s) <= most && strings.IndexByte(s, 0) < 0 }

func isConcept(c *clinical.CodeableConcept) bool {
	return allAre(c.Coding, 16, isCoding) && isText(c.Text, 4096)
}

func isCoding(c *clinical.Coding) bool {
	return isText(c.System, 256) && c.Code != "" && isText(c.Code, 64) && isText(c.Display, 1024)
}

func isReference(r *clinical.Reference) bool {
	kind, id, _ := strings.Cut(r.Reference, "/")
	return of(kind, 1, 64, letters) && isID(id, 1) && isText(r.Display, 1024)
}

// Seconds since 1970 at the ends of the times that a Timestamp may hold.
const (
	firstSecond = -62_135_596_800
	lastSecond  = 253_402_300_799
)

func isDate(d *clinical.DateTime) bool {
	at := d.Time.Unix()
	return !d.Time.IsZero() && at >= firstSecond && at <= lastSecond &&
		d.Precision > clinical.PrecisionUnspecified && d.Precision <= clinical.PrecisionMillisecond &&
		d.UTCOffsetMinutes >= -840 && d.UTCOffsetMinutes <= 840
}

func isPeriod(p *clinical.Period) bool {
	return absentOr(p.Start, isDate) && absentOr(p.End, isDate) &&
		(p.Start == nil || p.End == nil || !p.Start.Time.After(p.End.Time))
}

func isNote(n *clinical.Annotation) bool {
	return isText(n.Author, 256) && absentOr(n.Time, isDate) && n.Text != "" && isText(n.Text, 16384)
}

func isDosage(d *clinical.Dosage) bool {
	return d.Sequence >= 0 && isText(d.Text, 4096) && isText(d.PatientInstruction, 4096) &&
		absentOr(d.Timing, isTiming) && absentOr(d.Route, isConcept) && absentOr(d.DoseQuantity, isQuantity)
}

func isTiming(t *clinical.Timing) bool {
	if t.Frequency < 0 || t.Frequency > 1000 || t.Period != "" && !isDecimal(t.Period, 9, 9) {
		return false
	}
	switch t.PeriodUnit {
	case "", "s", "min", "h", "d", "wk", "mo", "a":
		return allAre(t.When, 16, isEvent)
	}
	return false
}

func isEvent(s *string) bool {
	event, modifier, there := strings.Cut(*s, ".")
	return of(event, 1, 8, capitals) && (!there || of(modifier, 1, 8, smalls))
}

func isQuantity(q *clinical.Quantity) bool {
	return isDecimal(strings.TrimPrefix(q.Value, "-"), 18, 17) &&
		isText(q.Unit, 64) && isText(q.System, 256) && isText(q.Code, 64)
}

// isDecimal is of numbers without a sign, with so many digits before the point and
// after it at most.
func isDecimal(s string, before, after int) bool {
	whole, rest, point := strings.Cut(s, ".")
	return of(whole, 1, before, digits) && (whole == "0" || whole[0] != '0') && (!point || of(rest, 1, after, digits))
}

func isID(s string, least int) bool { return of(s, least, 64, letters|digits|marks) }

// Kinds of bytes.
const (
	capitals = 1 << iota
	smalls
	digits
	marks
	letters = capitals | smalls
)

var kinds = func() (of [256]byte) {
	for c := range of {
		switch c := byte(c); { //nolint:gosec // the index of a list of 256
		case 'A' <= c && c <= 'Z':
			of[c] = capitals
		case 'a' <= c && c <= 'z':
			of[c] = smalls
		case '0' <= c && c <= '9':
			of[c] = digits
		case c == '.' || c == '-':
			of[c] = marks
		}
	}
	return of
}()

// of says that s has so many bytes, all of some kinds.
func of(s string, least, most int, kind byte) bool {
	if len(s) < least || len(s) > most {
		return false
	}
	for i := range len(s) {
		if kinds[s[i]]&kind == 0 {
			return false
		}
	}
	return true
}
