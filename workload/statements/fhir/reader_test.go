package fhir_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"buf.build/go/protovalidate"

	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/statements/fhir"
	"github.com/tare-bench/tare/workload/statements/ndjson"
	"github.com/tare-bench/tare/workload/statements/records"
)

// told puts what a file gave into one line for each entry.
func told(t *testing.T, file string, losses *fhir.Losses) string {
	t.Helper()
	var all []string
	err := fhir.Read(strings.NewReader(file), losses, func(e fhir.Entry) error {
		line := fmt.Sprintf("line %d, %d: %s", e.Line, e.Index, e.ID)
		if e.Err != nil {
			line += ": " + e.Err.Error()
		} else if e.ID != e.Statement.StatementID {
			line += " is " + e.Statement.StatementID
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		all = append(all, "end: "+err.Error())
	}
	return strings.Join(all, "\n")
}

func TestABrokenLineHidesNoOther(t *testing.T) {
	file := "\ufeff" + resource("") + "\n\n" + `{"resourceType":"MedicationStatement","id":"b"` + "\r\n" + resource(`,"x":1`) + "\n" +
		`{"resourceType":"Patient","id":"p"}` + "\n7\n" + `{"id":"c"}` + "\n" + resource("")
	var losses fhir.Losses
	got := told(t, file, &losses)
	want := `line 1, 0: a
line 3, 1: b: is broken JSON: unexpected EOF
line 4, 2: a
line 6, 3: : has the wrong type: a number stands there
line 7, 4: c: resourceType is missing: this is no resource
line 8, 5: a`
	if got != want {
		t.Errorf("got\n%s\nand not\n%s", got, want)
	}
	if lost := lossesText(&losses); lost != "(Patient) 1; x 1" {
		t.Errorf("lost %s", lost)
	}
}

func TestBundles(t *testing.T) {
	for _, c := range []struct{ name, file, want, lost string }{
		{
			"of what servers send", `{
  "resourceType": "Bundle", "type": "searchset", "total": 7,
  "link": [{"relation": "next", "url": "http://s/2"}],
  "entry": [
    {"fullUrl": "http://s/Medication/m", "resource": {"resourceType": "Medication", "id": "m", "code": {"text": "Known"}}},
    {"fullUrl": "http://s/MedicationStatement/a", "search": {"mode": "match"},
     "resource": ` + resource("") + `},
    {
      "resource": ` + strings.Replace(resource(""), `"medicationCodeableConcept":{"text":"x"}`, `"medicationReference":{"reference":"Medication/m"}`, 1) + `
    }
  ]
}`, "line 6, 0: a\nline 8, 1: a", "(Medication) 1; Bundle.link 1; Bundle.total 1; medicationReference.reference 1",
		},
		{
			"that are to be written", `{"entry":[
{"fullUrl":"urn:uuid:7f","resource":` + strings.Replace(resource(""), `"id":"a",`, "", 1) + `,"request":{"method":"POST","url":"MedicationStatement"}},
{"request":{"method":"DELETE","url":"MedicationStatement/9"}},
{"resource":` + strings.Replace(resource(""), "Patient/p", "urn:uuid:55", 1) + `}
],"type":"transaction","resourceType":"Bundle"}`,
			"line 2, 0: 7f\nline 3, 1: : request.method is \"DELETE\" of \"MedicationStatement/9\": only resources that are written can be taken\nline 4, 2: a", "",
		},
		{
			"cut off", "{\"resourceType\":\"Bundle\",\"type\":\"collection\",\"entry\":[\n{\"resource\":" + resource("") + "},\n{\"resource\":{\"resourceType",
			"line 2, 0: a\nline 3, 1: : ends in the middle: the file is cut off", "",
		},
		{"entries of no Bundle", "{\n\"resourceType\":\"List\",\"entry\":[]}", "line 1, 0: : entry stands in a List, and belongs into a Bundle", ""},
		{"several", "{\"resourceType\":\"Bundle\",\n\"entry\":[{\"resource\":" + resource("") + "}]}\n" + resource(""), "line 2, 0: a\nline 3, 1: a", ""},
		{"no JSON at all", "id,status\n1,active\n", "line 1, 0: : is broken JSON: invalid character 'i' at start of value\nline 2, 1: : has the wrong type: a number stands there", ""},
		{"nothing", " \n", "", ""},
	} {
		var losses fhir.Losses
		if got := told(t, c.file, &losses); got != c.want {
			t.Errorf("%s: got\n%s\nand not\n%s", c.name, got, c.want)
		}
		if lost := lossesText(&losses); lost != c.lost {
			t.Errorf("%s: lost %s, and not %s", c.name, lost, c.lost)
		}
	}
}

func TestReferencesTakeTheFormOfTheSchema(t *testing.T) {
	for _, c := range []struct{ given, want, lost string }{
		{`{"reference":"Patient/1"}`, "Patient/1", ""},
		{`{"reference":"https://s.org/fhir/Patient/1"}`, "Patient/1", "subject.reference(server) 1"},
		{`{"reference":"Patient/1/_history/4"}`, "Patient/1", "subject.reference(version) 1"},
		{`{"reference":"urn:uuid:4a"}`, "Patient/4a", ""},
		{`{"reference":"urn:uuid:4a","type":"Group"}`, "Group/4a", ""},
		{`{"reference":"Patient/1","type":"Patient","identifier":{}}`, "Patient/1", "subject.identifier 1"},
	} {
		var losses fhir.Losses
		s, err := fhir.Parse([]byte(strings.Replace(resource(""), `{"reference":"Patient/p"}`, c.given, 1)), &losses)
		if err != nil || s.Subject.Reference != c.want || lossesText(&losses) != c.lost {
			t.Errorf("%s: %+v, lost %s, %v", c.given, s, lossesText(&losses), err)
		}
	}
	var losses fhir.Losses
	_, err := fhir.Parse([]byte(resource(`,"extension":[{"url":"http://a/b"},{"url":"http://a/b"}],"_status":{}`)), &losses)
	if lost := lossesText(&losses); err != nil || lost != "_status 1; extension(http://a/b) 2" {
		t.Errorf("lost %s: %v", lost, err)
	}
}

// endless is a Bundle of so many resources, made as it is read.
type endless struct {
	left int
	text []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.text) == 0 {
		if e.left == 0 {
			return 0, io.EOF
		}
		e.left--
		e.text = []byte(`{"resource":` + resource("") + "},\n")
	}
	n := copy(p, e.text)
	e.text = e.text[n:]
	return n, nil
}

// A Bundle is read in the memory of a few resources, and a resource beyond all
// reason ends it.
func TestMemoryIsBounded(t *testing.T) {
	const many = 110_000 // 19 MB: more than one resource may have
	file := io.MultiReader(strings.NewReader(`{"resourceType":"Bundle","entry":[`), &endless{left: many}, strings.NewReader(`{"resource":`+resource("")+`}]}`))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, peak := 0, uint64(0)
	err := fhir.Read(file, new(fhir.Losses), func(fhir.Entry) error {
		if n++; n%30_000 == 0 {
			runtime.GC()
			runtime.ReadMemStats(&after)
			peak = max(peak, after.HeapAlloc)
		}
		return nil
	})
	if err != nil || n != many+1 {
		t.Fatalf("%d entries: %v", n, err)
	}
	if peak > before.HeapAlloc+3<<20 {
		t.Errorf("%d MiB are held beside the %d before", (peak-before.HeapAlloc)>>20, before.HeapAlloc>>20)
	}
	for name, start := range map[string]string{"in a Bundle": `{"resourceType":"Bundle","entry":[{"x":"`, "alone": `{"x":"`, "by line": resource("") + "\n{\"x\":\""} {
		err := fhir.Read(io.MultiReader(strings.NewReader(start), zeros{}), new(fhir.Losses), func(e fhir.Entry) error { return e.Err })
		if !errors.Is(err, fhir.ErrTooLarge) && !errors.Is(err, ndjson.ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '0'
	}
	return len(p), nil
}

var errDisk = errors.New("disk")

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errDisk }

// An error of the file is no fault of a resource.
func TestErrorsOfTheFile(t *testing.T) {
	for name, start := range map[string]string{"at once": "", "by line": resource("") + "\n{", "in a document": "{\n\"resourceType\":"} {
		n := 0
		err := fhir.Read(io.MultiReader(strings.NewReader(start), failing{}), new(fhir.Losses), func(e fhir.Entry) error { n++; return e.Err })
		if !errors.Is(err, errDisk) || n > 1 {
			t.Errorf("%s: %d entries, %v", name, n, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(resource(`,"dosage":[{"doseAndRate":[{"doseQuantity":{"value":1.50e1}}]}],"dateAsserted":"2015-02"`)))
	f.Add([]byte("{\"resourceType\":\"Bundle\",\n\"entry\":[{\"resource\":" + resource("") + "}]}"))
	some, err := fhir.Append(nil, records.Statement(1, 1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(some)
	validator, err := protovalidate.New()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		err := fhir.Read(bytes.NewReader(file), new(fhir.Losses), func(e fhir.Entry) error {
			if e.Err != nil || validator.Validate(clinical.StatementType.ToProto(e.Statement)) != nil {
				return nil
			}
			// What was read can be written, and reads as the same from then on.
			first, err := fhir.Append(nil, e.Statement)
			if err != nil {
				return err
			}
			again, err := fhir.Parse(first, new(fhir.Losses))
			if err != nil {
				return fmt.Errorf("%s: %w", first, err)
			}
			if second, err := fhir.Append(nil, again); err != nil || !bytes.Equal(first, second) {
				return fmt.Errorf("%s is written as %s: %w", first, second, err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
