package fhir

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// The types below are FHIR's, as far as a statement has fields for them. The
// rest of each object is kept as it came, to be counted.

type resource struct {
	ResourceType              string         `json:"resourceType"`
	ID                        string         `json:"id,omitempty"`
	Contained                 []contained    `json:"contained,omitempty"`
	Status                    string         `json:"status,omitempty"`
	StatusReason              []concept      `json:"statusReason,omitempty"`
	Category                  *concept       `json:"category,omitempty"`
	MedicationCodeableConcept *concept       `json:"medicationCodeableConcept,omitempty"`
	MedicationReference       *reference     `json:"medicationReference,omitempty"`
	Subject                   *reference     `json:"subject,omitempty"`
	Context                   *reference     `json:"context,omitempty"`
	EffectiveDateTime         *string        `json:"effectiveDateTime,omitempty"`
	EffectivePeriod           *period        `json:"effectivePeriod,omitempty"`
	DateAsserted              *string        `json:"dateAsserted,omitempty"`
	InformationSource         *reference     `json:"informationSource,omitempty"`
	ReasonCode                []concept      `json:"reasonCode,omitempty"`
	Note                      []annotation   `json:"note,omitempty"`
	Dosage                    []dosage       `json:"dosage,omitempty"`
	ImplicitRules             jsontext.Value `json:"implicitRules,omitempty"`
	ModifierExtension         jsontext.Value `json:"modifierExtension,omitempty"`
	Rest                      jsontext.Value `json:",embed"`
}

// contained is a resource within another. Only a medication's code is taken.
type contained struct {
	ResourceType string         `json:"resourceType"`
	ID           string         `json:"id,omitempty"`
	Code         jsontext.Value `json:"code,omitempty"` // a concept, in a Medication
	Rest         jsontext.Value `json:",embed"`
}

type coding struct {
	System  string         `json:"system,omitempty"`
	Code    string         `json:"code,omitempty"`
	Display string         `json:"display,omitempty"`
	Rest    jsontext.Value `json:",embed"`
}

type concept struct {
	Coding []coding       `json:"coding,omitempty"`
	Text   string         `json:"text,omitempty"`
	Rest   jsontext.Value `json:",embed"`
}

type reference struct {
	Reference string         `json:"reference,omitempty"`
	Type      string         `json:"type,omitempty"`
	Display   string         `json:"display,omitempty"`
	Rest      jsontext.Value `json:",embed"`
}

type period struct {
	Start *string        `json:"start,omitempty"`
	End   *string        `json:"end,omitempty"`
	Rest  jsontext.Value `json:",embed"`
}

type annotation struct {
	AuthorString    string         `json:"authorString,omitempty"`
	AuthorReference *reference     `json:"authorReference,omitempty"`
	Time            *string        `json:"time,omitempty"`
	Text            string         `json:"text,omitempty"`
	Rest            jsontext.Value `json:",embed"`
}

type dosage struct {
	Sequence           int32          `json:"sequence,omitzero"`
	Text               string         `json:"text,omitempty"`
	PatientInstruction string         `json:"patientInstruction,omitempty"`
	Timing             *timing        `json:"timing,omitempty"`
	AsNeededBoolean    bool           `json:"asNeededBoolean,omitzero"`
	AsNeededConcept    jsontext.Value `json:"asNeededCodeableConcept,omitempty"`
	Route              *concept       `json:"route,omitempty"`
	DoseAndRate        []doseAndRate  `json:"doseAndRate,omitempty"`
	ModifierExtension  jsontext.Value `json:"modifierExtension,omitempty"`
	Rest               jsontext.Value `json:",embed"`
}

type timing struct {
	Repeat            *repeat        `json:"repeat,omitempty"`
	ModifierExtension jsontext.Value `json:"modifierExtension,omitempty"`
	Rest              jsontext.Value `json:",embed"`
}

type repeat struct {
	Frequency  int32          `json:"frequency,omitzero"`
	Period     decimal        `json:"period,omitzero"`
	PeriodUnit string         `json:"periodUnit,omitempty"`
	When       []string       `json:"when,omitempty"`
	Rest       jsontext.Value `json:",embed"`
}

type doseAndRate struct {
	DoseQuantity *quantity      `json:"doseQuantity,omitempty"`
	Rest         jsontext.Value `json:",embed"`
}

type quantity struct {
	Value      decimal        `json:"value,omitzero"`
	Comparator string         `json:"comparator,omitempty"`
	Unit       string         `json:"unit,omitempty"`
	System     string         `json:"system,omitempty"`
	Code       string         `json:"code,omitempty"`
	Rest       jsontext.Value `json:",embed"`
}

// decimal is a number as it was written.
type decimal struct{ text string }

func (d decimal) MarshalJSONTo(e *jsontext.Encoder) error {
	return e.WriteValue(jsontext.Value(d.text))
}

func (d *decimal) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	v, err := from.ReadValue()
	if err != nil {
		return err
	}
	if v.Kind() != '0' {
		return fmt.Errorf("a %s stands where a number belongs", kindName(v.Kind()))
	}
	d.text = string(v)
	return nil
}
