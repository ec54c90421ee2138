package fhir_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"buf.build/go/protovalidate"

	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/statements/fhir"
	"github.com/tare-bench/tare/workload/statements/records"
)

var shapes = map[string]fhir.Shape{
	"lines": fhir.Lines, "collection": fhir.Collection, "searchset": fhir.Searchset, "transaction": fhir.Transaction,
}

// What is written in any shape reads as the same statements, with nothing lost.
func TestThereAndBackNothingChanges(t *testing.T) {
	const n = 500
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			var file bytes.Buffer
			w := fhir.NewWriter(&file, shape)
			for i := range n {
				if err := w.Write(records.Statement(5, i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			var losses fhir.Losses
			next := 0
			err := fhir.Read(&file, &losses, func(e fhir.Entry) error {
				want := records.Statement(5, next)
				if e.Err != nil || !reflect.DeepEqual(e.Statement, want) {
					return fmt.Errorf("record %d: %w\n%s\n%s", next, e.Err, text(e.Statement), text(want))
				}
				line := int64(next + 1)
				if name != "lines" {
					line++ // behind the Bundle's own
				}
				if e.Index != int64(next) || e.Line != line || e.ID != want.StatementID {
					return fmt.Errorf("record %d is told as %d, on line %d, of ID %s", next, e.Index, e.Line, e.ID)
				}
				next++
				return nil
			})
			if err != nil || next != n || len(losses.All()) > 0 {
				t.Errorf("%d of %d read, lost %v: %v", next, n, losses.All(), err)
			}
		})
	}
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestAnEmptyFileOfEachShapeReadsAsNothing(t *testing.T) {
	for name, shape := range shapes {
		var file bytes.Buffer
		if err := fhir.NewWriter(&file, shape).Close(); err != nil {
			t.Fatal(err)
		}
		err := fhir.Read(&file, new(fhir.Losses), func(e fhir.Entry) error { return fmt.Errorf("an entry: %v", e) })
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The examples that HL7 publishes become statements that keep the rules, and
// what has no field is named.
func TestPublishedExamples(t *testing.T) {
	validator, err := protovalidate.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		lost, has string
	}{
		"example001": {
			"contained.batch 1; contained.form 1; contained.ingredient 1; derivedFrom 1; dosage.additionalInstruction 1; dosage.asNeededCodeableConcept 1; " +
				"dosage.doseAndRate.doseRange 1; dosage.doseAndRate.type 1; identifier 1; text 1",
			`"display":"Tylenol PM"`,
		},
		"example002": {"contained.batch 1; contained.form 1; contained.ingredient 1; text 1", `"statusReason":[{"coding":[{"system":"http://snomed.info/sct","code":"166643006"`},
		"example003": {"dosage.doseAndRate.type 1; dosage.maxDosePerPeriod 1; reasonReference 1; text 1", `"doseQuantity":{"value":"1","unit":"tab"`},
		"example004": {"dosage.maxDosePerPeriod 1; partOf 1; text 1", `"timing":{"frequency":3,"period":"1","periodUnit":"d"}`},
		"example005": {"basedOn 1; text 1", `"visitId":"f203"`},
		"example006": {"dosage.doseAndRate.type 1; dosage.maxDosePerPeriod 1; text 1", `"reference":"RelatedPerson/peter","display":"Peter Chalmers"`},
		"example007": {"contained.form 1; text 1", `"code":"358793"`},
	} {
		file, err := os.ReadFile(filepath.Join("testdata", "MedicationStatement-"+name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var losses fhir.Losses
		var got []fhir.Entry
		if err := fhir.Read(bytes.NewReader(file), &losses, collect(&got)); err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].Err != nil || got[0].ID != name || got[0].Line != 1 {
			t.Fatalf("%s: %+v", name, got)
		}
		if err := validator.Validate(clinical.StatementType.ToProto(got[0].Statement)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if lost := lossesText(&losses); lost != want.lost {
			t.Errorf("%s lost %s\nand not %s", name, lost, want.lost)
		}
		if s := text(got[0].Statement); !strings.Contains(s, want.has) {
			t.Errorf("%s has no %s: %s", name, want.has, s)
		}
	}
}

func lossesText(l *fhir.Losses) string {
	var all []string
	for _, loss := range l.All() {
		all = append(all, fmt.Sprintf("%s %d", loss.Path, loss.Count))
	}
	return strings.Join(all, "; ")
}

func collect(to *[]fhir.Entry) func(fhir.Entry) error {
	return func(e fhir.Entry) error { *to = append(*to, e); return nil }
}

// resource is the least that is one, with more members.
func resource(more string) string {
	const least = `{"resourceType":"MedicationStatement","id":"a","status":"active","medicationCodeableConcept":{"text":"x"},"subject":{"reference":"Patient/p"}`
	return least + more + "}"
}

func TestDecimalsAndDatesStayAsWritten(t *testing.T) {
	for given, want := range map[string]string{
		"0.50": "0.50", "1": "1", "100": "100", "1.0": "1.0", "0.333333333333333": "0.333333333333333",
		"1.50e1": "15.0", "1e3": "1000", "25E-2": "0.25", "-1e0": "-1", "123456789012345678": "123456789012345678",
	} {
		var losses fhir.Losses
		s, err := fhir.Parse([]byte(resource(`,"dosage":[{"doseAndRate":[{"doseQuantity":{"value":`+given+`}}]}]`)), &losses)
		if err != nil {
			t.Errorf("%s: %v", given, err)
			continue
		}
		if got := s.Dosage[0].DoseQuantity.Value; got != want {
			t.Errorf("%s is %s and not %s", given, got, want)
		}
		again, err := fhir.Append(nil, s)
		if err != nil || !strings.Contains(string(again), `"value":`+want+`}`) {
			t.Errorf("%s is written as %s, %v", given, again, err)
		}
	}
	for _, date := range []string{
		"0001", "2015", "2015-02", "2015-02-07", "2015-02-07T13:28:17-05:00", "2015-02-07T13:28:17Z",
		"2015-02-07T13:28:17.239+14:00", "2016-02-29T23:59:59.001Z", "9999-12-31",
	} {
		s, err := fhir.Parse([]byte(resource(`,"dateAsserted":"`+date+`"`)), new(fhir.Losses))
		if err != nil {
			t.Errorf("%s: %v", date, err)
			continue
		}
		if again, err := fhir.Append(nil, s); err != nil || !strings.Contains(string(again), `"dateAsserted":"`+date+`"`) {
			t.Errorf("%s is written as %s, %v", date, again, err)
		}
	}
}

// Each is refused, and the error names the field.
func TestWhatIsWrongIsNamed(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no status", strings.Replace(resource(""), `"active"`, `"alive"`, 1), `status is "alive"; there is active, completed`},
		{"an impossible day", resource(`,"dateAsserted":"2015-02-30"`), `dateAsserted is "2015-02-30", which is no dateTime: write`},
		{"a time without offset", resource(`,"note":[{"text":"x"},{"time":"2015-02-07T13:28:17","text":"x"}]`), `note[1].time is "2015-02-07T13:28:17"`},
		{"an hour of one digit", resource(`,"dateAsserted":"2015-02-07T3:28:17Z"`), "dateAsserted is"},
		{"an offset of 15 hours", resource(`,"dateAsserted":"2015-02-07T13:28:17+15:00"`), "dateAsserted is"},
		{"before all years", resource(`,"dateAsserted":"0000"`), "dateAsserted is"},
		{"a time out of years", resource(`,"dateAsserted":"9999-12-31T23:59:59-05:00"`), "9999 in UTC"},
		{"text for a number", resource(`,"dosage":[{},{"doseAndRate":[{"doseQuantity":{"value":"5"}}]}]`), "dosage[1].doseAndRate[0].doseQuantity.value has the wrong type"},
		{"a number for text", resource(`,"dosage":[{"text":5}]`), "dosage[0].text has the wrong type: a number"},
		{"half a frequency", resource(`,"dosage":[{"timing":{"repeat":{"frequency":1.5}}}]`), "dosage[0].timing.repeat.frequency"},
		{"a name twice", resource(`,"status":"stopped"`), "status is broken JSON: the name comes twice"},
		{"more or less", resource(`,"dosage":[{"doseAndRate":[{"doseQuantity":{"value":5,"comparator":"<"}}]}]`), `dosage[0].doseAndRate[0].doseQuantity.comparator is "<"`},
		{"beyond all digits", resource(`,"dosage":[{"doseAndRate":[{"doseQuantity":{"value":1e300}}]}]`), "doseQuantity.value is 1e300, which has more than 17 digits"},
		{"a modifier", resource(`,"modifierExtension":[{"url":"http://a/b"}]`), "modifierExtension changes the meaning"},
		{"a modifier within", resource(`,"dosage":[{"modifierExtension":[{"url":"http://a/b"}]}]`), "dosage[0].modifierExtension changes"},
		{"two times", resource(`,"effectiveDateTime":"2015","effectivePeriod":{}`), "effectivePeriod stands beside effectiveDateTime"},
		{"a medication elsewhere", strings.Replace(resource(""), `"medicationCodeableConcept":{"text":"x"}`, `"medicationReference":{"reference":"Medication/m"}`, 1), `medicationReference.reference is "Medication/m", which is neither`},
		{"a medication nowhere", strings.Replace(resource(""), `"medicationCodeableConcept":{"text":"x"}`, `"medicationReference":{"reference":"#m"}`, 1), "no contained Medication"},
		{"nobody", strings.Replace(resource(""), `"subject":{"reference":"Patient/p"}`, `"subject":{"display":"p"}`, 1), "subject.reference is missing"},
		{"no ID", strings.Replace(resource(""), `"id":"a",`, "", 1), "id is missing"},
		{"another resource", `{"resourceType":"Patient"}`, `resourceType is "Patient"`},
		{"no object", `[]`, "has the wrong type"},
		{"bytes that are no UTF-8", resource(`,"text":"` + "\xff" + `"`), "invalid UTF-8"},
	} {
		_, err := fhir.Parse([]byte(c.text), new(fhir.Losses))
		var field *fhir.FieldError
		if err == nil || !errors.As(err, &field) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, and not %s", c.name, err, c.want)
		}
	}
}
