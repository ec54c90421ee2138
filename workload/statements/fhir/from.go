package fhir

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

// converter makes a statement of a resource. Its first error stays; what comes
// after it is worth nothing.
type converter struct {
	losses *Losses
	known  medications
	err    error
}

func (c *converter) fail(path, problem string, args ...any) {
	if c.err == nil {
		c.err = &FieldError{path, fmt.Sprintf(problem, args...)}
	}
}

// refuse fails on what changes the meaning of all around it: FHIR has readers
// that do not know it leave the resource alone.
func (c *converter) refuse(path string, v jsontext.Value) {
	if len(v) > 0 {
		c.fail(path, "changes the meaning of what it stands in, and is not known here: remove it if it may be ignored")
	}
}

func (c *converter) statement(r *resource) *clinical.MedicationStatement {
	c.refuse("modifierExtension", r.ModifierExtension)
	c.refuse("implicitRules", r.ImplicitRules)
	c.losses.rest("", r.Rest)
	s := &clinical.MedicationStatement{
		StatementID:       r.ID,
		StatusReason:      c.concepts("statusReason", r.StatusReason),
		Category:          c.concept("category", r.Category),
		Medication:        c.medication(r),
		Subject:           c.subject(r.Subject),
		VisitID:           c.visit(r.Context),
		EffectiveDateTime: c.date("effectiveDateTime", r.EffectiveDateTime),
		EffectivePeriod:   c.period(r.EffectivePeriod),
		DateAsserted:      c.date("dateAsserted", r.DateAsserted),
		ReasonCode:        c.concepts("reasonCode", r.ReasonCode),
	}
	if r.ID == "" {
		c.fail("id", "is missing: every statement needs one")
	}
	var known bool
	if s.Status, known = statuses[r.Status]; !known {
		c.fail("status", "is %q; there is %s", r.Status, strings.Join(statusNames[1:], ", "))
	}
	if r.EffectiveDateTime != nil && r.EffectivePeriod != nil {
		c.fail("effectivePeriod", "stands beside effectiveDateTime: only one of them may")
	}
	if from := r.InformationSource; from != nil {
		if from.Reference == "" { // who it is cannot be told from a name
			c.losses.add("informationSource", 1)
		} else {
			s.InformationSource = c.reference("informationSource", from, "")
		}
	}
	for i := range r.Note {
		s.Note = append(s.Note, c.note(item("note", i), &r.Note[i]))
	}
	for i := range r.Dosage {
		s.Dosage = append(s.Dosage, c.dosage(item("dosage", i), &r.Dosage[i]))
	}
	return s
}

// medications are the codes of Medication resources, by "Medication/ID" and by
// full URL.
type medications map[string]*concept

func (c *converter) medication(r *resource) *clinical.CodeableConcept {
	const coded, referred = "medicationCodeableConcept", "medicationReference"
	switch {
	case r.MedicationCodeableConcept != nil && r.MedicationReference != nil:
		c.fail(referred, "stands beside %s: only one of them may", coded)
		return nil
	case r.MedicationCodeableConcept != nil:
		c.contained(r.Contained, "")
		return c.concept(coded, r.MedicationCodeableConcept)
	case r.MedicationReference == nil:
		c.contained(r.Contained, "")
		c.fail(coded, "is missing, and so is %s", referred)
		return nil
	}
	ref := r.MedicationReference
	c.losses.rest(referred, ref.Rest)
	if id, local := strings.CutPrefix(ref.Reference, "#"); local {
		found := c.contained(r.Contained, id)
		if found == nil {
			c.fail(referred+".reference", "is %q, and there is no contained %s of that ID with a code", ref.Reference, medicationType)
			return nil
		}
		return c.concept("contained.code", found)
	}
	c.contained(r.Contained, "")
	if found := c.known[ref.Reference]; found != nil {
		c.losses.add(referred+".reference", 1) // its code is kept, and not which resource it was
		return c.concept(referred, found)
	}
	if ref.Display == "" {
		c.fail(referred+".reference", "is %q, which is neither contained nor stands before it in the file, and has no display to take instead", ref.Reference)
		return nil
	}
	c.losses.add(referred+".reference", 1)
	return &clinical.CodeableConcept{Text: ref.Display}
}

// contained gives the code of the contained medication of an ID, and counts the
// rest as lost.
func (c *converter) contained(all []contained, id string) (found *concept) {
	for i := range all {
		r := &all[i]
		if r.ResourceType != medicationType || r.ID != id || len(r.Code) == 0 || id == "" {
			c.losses.add("contained("+r.ResourceType+")", 1)
			continue
		}
		found = new(concept)
		if err := json.Unmarshal(r.Code, found); err != nil {
			c.fail(item("contained", i)+".code", "is not a CodeableConcept")
		}
		c.losses.rest("contained", r.Rest)
	}
	return found
}

func (c *converter) subject(r *reference) *clinical.Reference {
	if r == nil || r.Reference == "" {
		c.fail("subject.reference", "is missing: it must name who takes the medication")
		return nil
	}
	return c.reference("subject", r, patientType)
}

// visit gives the ID of the encounter that a resource was made in.
func (c *converter) visit(r *reference) string {
	if r == nil {
		return ""
	}
	ref := c.reference("context", r, encounterType)
	id, is := strings.CutPrefix(ref.Reference, encounterType+"/")
	if !is {
		c.losses.add("context", 1)
		return ""
	}
	if ref.Display != "" {
		c.losses.add("context.display", 1)
	}
	return id
}

// reference gives "Patient/123" of that, of an absolute URL or of a UUID, whose
// type is known from its member or else from its place.
func (c *converter) reference(path string, r *reference, usual string) *clinical.Reference {
	c.losses.rest(path, r.Rest)
	out := &clinical.Reference{Reference: r.Reference, Display: r.Display}
	kind := r.Type
	if kind == "" {
		kind = usual
	}
	if uuid, is := strings.CutPrefix(r.Reference, "urn:uuid:"); is && kind != "" {
		out.Reference = kind + "/" + uuid
		return out
	}
	if before, _, versioned := strings.Cut(r.Reference, "/_history/"); versioned {
		out.Reference = before
		c.losses.add(path+".reference(version)", 1)
	}
	if strings.Contains(out.Reference, "://") {
		parts := strings.Split(out.Reference, "/")
		out.Reference = strings.Join(parts[len(parts)-2:], "/")
		c.losses.add(path+".reference(server)", 1)
	}
	if r.Type != "" && !strings.HasPrefix(out.Reference, r.Type+"/") {
		c.losses.add(path+".type", 1)
	}
	return out
}

func (c *converter) concepts(path string, all []concept) []clinical.CodeableConcept {
	var out []clinical.CodeableConcept
	for i := range all {
		out = append(out, *c.concept(path, &all[i]))
	}
	return out
}

func (c *converter) concept(path string, from *concept) *clinical.CodeableConcept {
	if from == nil {
		return nil
	}
	c.losses.rest(path, from.Rest)
	out := &clinical.CodeableConcept{Text: from.Text}
	for i := range from.Coding {
		code := &from.Coding[i]
		c.losses.rest(path+".coding", code.Rest)
		out.Coding = append(out.Coding, clinical.Coding{System: code.System, Code: code.Code, Display: code.Display})
	}
	return out
}

func (c *converter) period(p *period) *clinical.Period {
	if p == nil {
		return nil
	}
	c.losses.rest("effectivePeriod", p.Rest)
	return &clinical.Period{Start: c.date("effectivePeriod.start", p.Start), End: c.date("effectivePeriod.end", p.End)}
}

func (c *converter) date(path string, text *string) *clinical.DateTime {
	if text == nil {
		return nil
	}
	d, lost, err := parseDate(*text)
	if err != nil {
		c.fail(path, "%v", err)
		return nil
	}
	if lost {
		c.losses.add(unnumbered(path)+"(below the millisecond)", 1)
	}
	return d
}

func (c *converter) note(path string, a *annotation) clinical.Annotation {
	c.losses.rest("note", a.Rest)
	out := clinical.Annotation{Author: a.AuthorString, Time: c.date(path+".time", a.Time), Text: a.Text}
	if who := a.AuthorReference; who != nil {
		c.losses.rest("note.authorReference", who.Rest)
		if a.AuthorString != "" {
			c.fail(path+".authorReference", "stands beside authorString: only one of them may")
		}
		out.Author = who.Display
		if out.Author == "" {
			out.Author = who.Reference
		} else if who.Reference != "" {
			c.losses.add("note.authorReference.reference", 1)
		}
	}
	return out
}

// unnumbered is a path without places in lists, as losses are counted.
func unnumbered(path string) string {
	var b strings.Builder
	inside := false
	for _, r := range path {
		switch {
		case r == '[':
			inside = true
		case r == ']':
			inside = false
		case !inside:
			b.WriteRune(r)
		}
	}
	return b.String()
}
