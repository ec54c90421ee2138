package records_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	clinicalv1 "github.com/tare-bench/tare/gen/tare/clinical/v1"
	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/statements/records"
)

const (
	many = 20_000
	some = 5000 // where that many tell enough
)

// Every record keeps the rules, and is the same after each way there and back.
func TestEveryRecordKeepsTheRules(t *testing.T) {
	validator, err := protovalidate.New()
	if err != nil {
		t.Fatal(err)
	}
	for i := range many {
		s := records.Statement(1, i)
		m := clinical.StatementType.ToProto(s)
		if err := validator.Validate(m); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
		if back := clinical.StatementType.FromProto(m); !reflect.DeepEqual(back, s) {
			t.Fatalf("record %d is another after mapping:\n%+v\n%+v", i, s, back)
		}
		if i%20 != 0 { // the rest is slow
			continue
		}
		wire, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var parsed clinicalv1.MedicationStatement
		if err := proto.Unmarshal(wire, &parsed); err != nil || !proto.Equal(m, &parsed) {
			t.Fatalf("record %d is another after protobuf: %v", i, err)
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var plain clinical.MedicationStatement
		if err := json.Unmarshal(text, &plain); err != nil || !reflect.DeepEqual(&plain, s) {
			t.Fatalf("record %d is another after JSON: %v", i, err)
		}
		if err := protojson.Unmarshal(text, &parsed); err != nil || !proto.Equal(m, &parsed) {
			t.Fatalf("record %d in JSON is another as ProtoJSON: %v", i, err)
		}
	}
}

// A record is the same whatever was made before it, and shares nothing.
func TestRecordsStandAlone(t *testing.T) {
	var all []*clinical.MedicationStatement
	for i, s := range records.Each(7, 100) {
		if i == 300 {
			break
		}
		all = append(all, s)
	}
	for i := len(all) - 1; i >= 0; i-- {
		again := records.Statement(7, 100+i)
		if !reflect.DeepEqual(all[i], again) {
			t.Fatalf("record %d differs when made again", 100+i)
		}
		if len(again.Medication.Coding) > 0 {
			again.Medication.Coding[0].Display = "changed"
		}
		for j := range again.Dosage {
			if route := again.Dosage[j].Route; route != nil {
				route.Coding[0].Display = "changed"
			}
		}
	}
	if text, _ := json.Marshal(all); strings.Contains(string(text), "changed") {
		t.Error("what is written into one record is seen in another")
	}
}

func TestNoIDComesTwice(t *testing.T) {
	seen := make(map[string]uint64)
	subjects := make(map[string]uint64)
	for _, seed := range []uint64{0, 1, 2, 1 << 20, 1 << 63, ^uint64(0)} {
		for _, from := range []int{0, 1 << 30, 1<<56 - 2000} {
			for i := range 500 {
				s := records.Statement(seed, from+i)
				if _, again := seen[s.StatementID]; again {
					t.Fatalf("ID %s of seed %d comes twice", s.StatementID, seed)
				}
				seen[s.StatementID] = seed
				if of, again := subjects[s.Subject.Reference]; again && of != seed {
					t.Fatalf("subject %s is of seeds %d and %d", s.Subject.Reference, of, seed)
				}
				subjects[s.Subject.Reference] = seed
			}
		}
	}
}

// What readers of a benchmark take for granted of its data.
func TestRecordsAreWhatIsFoundInPractice(t *testing.T) {
	var sizes []int
	drugs, patients, has := make(map[string]int), make(map[string]int), make(map[string]int)
	count := func(what string, holds bool) {
		if holds {
			has[what]++
		}
	}
	for i := range some {
		s := records.Statement(3, i)
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, len(text))
		patients[s.Subject.Reference]++
		if len(s.Medication.Coding) > 0 {
			drugs[s.Medication.Coding[0].Code]++
		}
		count("a note", len(s.Note) > 0)
		count("a partial date", s.EffectiveDateTime != nil && s.EffectiveDateTime.Precision < clinical.PrecisionDay)
		count("an offset", s.DateAsserted != nil && s.DateAsserted.UTCOffsetMinutes != 0)
		count("another script", utf8.RuneCount(text) < len(text)-10)
		count("a visit", s.VisitID != "")
		count("no dosage", len(s.Dosage) == 0)
		count("an end", s.EffectivePeriod != nil && s.EffectivePeriod.End != nil)
	}
	slices.Sort(sizes)
	t.Logf("JSON: %d B in half of them, %d in 99 %%, %d at most; %d medications, %d patients; %v",
		sizes[some/2], sizes[some*99/100], sizes[some-1], len(drugs), len(patients), has)
	if median := sizes[some/2]; median < 600 || median > 1500 {
		t.Errorf("half of the records have up to %d B of JSON", median)
	}
	if sizes[some*99/100] < 2*sizes[some/2] {
		t.Error("there are no large ones")
	}
	common := slices.Max(slices.Collect(mapValues(drugs)))
	if len(drugs) < 300 || common < some/20 {
		t.Errorf("%d medications, the most common %d times of %d", len(drugs), common, some)
	}
	if mean := float64(some) / float64(len(patients)); mean < 2 || mean > 8 {
		t.Errorf("%g records for each patient", mean)
	}
	for what, n := range has {
		if n < some/100 || n > some*9/10 {
			t.Errorf("%d of %d have %s", n, some, what)
		}
	}
	if len(has) != 7 {
		t.Errorf("some are never found: %v", has)
	}
}

func mapValues(m map[string]int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for _, n := range m {
			if !yield(n) {
				return
			}
		}
	}
}

// To make records must cost no more than to carry them.
func TestRecordsTakeFewAllocations(t *testing.T) {
	i := 0
	if n := testing.AllocsPerRun(2000, func() { records.Statement(1, i); i++ }); n > 3 {
		t.Errorf("a record takes %g allocations", n)
	}
}

func BenchmarkStatement(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		records.Statement(1, i)
	}
}
