// Package fhir writes medication statements as resources of FHIR R4, and reads
// them: resources line by line as in FHIR Bulk Data, one by itself, and Bundles of
// any size. Decimals stay as they were written, dates as precise as they were.
// What a resource says and a statement has no field for is counted by its path,
// so that nothing is lost unseen. Source: hl7.org/fhir/R4/medicationstatement.html.
package fhir

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

const (
	resourceType   = "MedicationStatement"
	medicationType = "Medication"
	bundleType     = "Bundle"
	patientType    = "Patient"
	encounterType  = "Encounter"
)

// Append adds a statement as a resource on one line, without the line's end.
func Append(dst []byte, s *clinical.MedicationStatement) ([]byte, error) {
	r, err := resourceOf(s)
	if err != nil {
		return dst, fmt.Errorf("write %s/%s: %w", resourceType, s.StatementID, err)
	}
	text, err := json.Marshal(r, json.Deterministic(true))
	if err != nil {
		return dst, fmt.Errorf("write %s/%s: %w", resourceType, s.StatementID, err)
	}
	return append(dst, text...), nil
}

// Parse reads one resource, and counts in losses what it has beyond a statement.
// The error of a resource that cannot be read is a *FieldError where it lies in
// one field.
func Parse(text []byte, losses *Losses) (*clinical.MedicationStatement, error) {
	return parse(text, "", nil, losses)
}

// parse is Parse of a resource that is called id where it has none of its own,
// with the medications that others of its file have brought.
func parse(text []byte, id string, known medications, losses *Losses) (*clinical.MedicationStatement, error) {
	var r resource
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fieldError(err)
	}
	if r.ResourceType != resourceType {
		return nil, &FieldError{"resourceType", fmt.Sprintf("is %q, and a %s is wanted", r.ResourceType, resourceType)}
	}
	if r.ID == "" {
		r.ID = id
	}
	c := converter{losses: new(Losses), known: known}
	s := c.statement(&r)
	if c.err != nil {
		return nil, c.err // what a resource that is rejected has beyond is lost with it
	}
	losses.merge(c.losses)
	return s, nil
}

// Losses counts what resources say and statements have no field for, by path:
// "dosage.maxDosePerPeriod". The zero value is ready.
type Losses struct{ count map[string]int64 }

// Loss is one path, and how many times something was found there.
type Loss struct {
	Path  string
	Count int64
}

// All gives them in the order of their paths.
func (l *Losses) All() []Loss {
	all := make([]Loss, 0, len(l.count))
	for path, n := range l.count {
		all = append(all, Loss{path, n})
	}
	slices.SortFunc(all, func(a, b Loss) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	return all
}

// manyPaths bounds what a hostile file can have remembered; the rest is counted
// together.
const (
	manyPaths  = 10_000
	otherPaths = "(others)"
)

func (l *Losses) add(path string, n int64) {
	if l.count == nil {
		l.count = make(map[string]int64)
	}
	if _, known := l.count[path]; !known && len(l.count) >= manyPaths {
		path = otherPaths
	}
	l.count[path] += n
}

func (l *Losses) merge(other *Losses) {
	for path, n := range other.count {
		l.add(path, n)
	}
}

// rest counts the members of an object that a statement has no field for, and
// names extensions by what they are.
func (l *Losses) rest(path string, members jsontext.Value) {
	if len(members) == 0 {
		return
	}
	var all map[string]jsontext.Value
	if json.Unmarshal(members, &all) != nil { // they have been parsed once
		return
	}
	for name, value := range all {
		at := join(path, name)
		if name != "extension" {
			l.add(at, 1)
			continue
		}
		var extensions []struct {
			URL string `json:"url"`
		}
		if json.Unmarshal(value, &extensions) != nil {
			l.add(at, 1)
		}
		for _, e := range extensions {
			l.add(at+"("+e.URL+")", 1)
		}
	}
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
