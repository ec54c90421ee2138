package statements

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/service/validate"
	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/statements/records"
)

// Every field of many statements is given what rules may forbid, one at a time:
// none that is then plainly right breaks a rule of the schema.
func TestPlainlyRightKeepsTheRules(t *testing.T) {
	rules, err := validate.New(clinical.StatementService)
	if err != nil {
		t.Fatal(err)
	}
	bases := []*clinical.MedicationStatement{awkwardStatement(), fullStatement(), newStatementOfBothTimes()}
	for i := range 12 {
		bases = append(bases, normal(records.Statement(modelSeed, i)))
	}
	right, altered := 0, make(map[string]bool)
	for _, s := range bases {
		judge := func(path string) {
			altered[path] = true
			plain := plainlyRight(s)
			if err := rules.Check(clinical.StatementType, s); err != nil && plain {
				t.Errorf("%s altered: plainly right, and %v", path, err)
			}
			if plain {
				right++
			}
		}
		judge("nothing")
		spoil(reflect.ValueOf(s).Elem(), "", judge)
	}
	if right < 1000 || len(altered) < 80 {
		t.Errorf("%d were plainly right, of %d fields: too few to say", right, len(altered))
	}
}

// Statements as they are in practice do not need the schema's own rules.
func TestUsualStatementsArePlainlyRight(t *testing.T) {
	for i := range 5000 {
		if s := records.Statement(modelSeed, i); !plainlyRight(s) {
			t.Fatalf("statement %d is not: %+v", i, clinical.StatementType.ToProto(s))
		}
	}
}

// newStatementOfBothTimes breaks a rule between fields, but for one of which each is right.
func newStatementOfBothTimes() *clinical.MedicationStatement {
	s := fullStatement()
	s.EffectiveDateTime = s.EffectivePeriod.Start
	return s
}

// fullStatement has every field, and one element in each list.
func fullStatement() *clinical.MedicationStatement {
	concept := func() *clinical.CodeableConcept {
		return &clinical.CodeableConcept{Coding: []clinical.Coding{{System: "s", Code: "c", Display: "d"}}}
	}
	date := func(year int) *clinical.DateTime {
		return &clinical.DateTime{Time: time.Date(year, 2, 3, 4, 5, 6, 7, time.UTC), Precision: clinical.PrecisionSecond}
	}
	return &clinical.MedicationStatement{
		StatementID: "a-1.B", Status: clinical.StatementActive, StatusReason: []clinical.CodeableConcept{*concept()},
		Category: concept(), Medication: concept(), Subject: &clinical.Reference{Reference: "Patient/1"}, VisitID: "v",
		EffectivePeriod: &clinical.Period{Start: date(2020), End: date(2021)}, DateAsserted: date(2022),
		InformationSource: &clinical.Reference{Reference: "Patient/1"}, ReasonCode: []clinical.CodeableConcept{*concept()},
		Note: []clinical.Annotation{{Author: "a", Time: date(2023), Text: "t"}},
		Dosage: []clinical.Dosage{{
			Sequence: 1, Text: "t", PatientInstruction: "i", Route: concept(),
			Timing:       &clinical.Timing{Frequency: 1, Period: "1.5", PeriodUnit: "d", When: []string{"PC.x"}},
			DoseQuantity: &clinical.Quantity{Value: "-0.5", Unit: "mg", System: "s", Code: "c"},
		}},
	}
}

// texts are what rules for texts may forbid, but for their length.
var texts = []string{
	"\x00", "a\x00", "é", "a b", "/", "a/", "/a", "a/b", "Patient/1", "a/b/c", "Patient/é", "1/a", "a\n", "a/b\n", "-", ".", "a.b", "A.b", "A.", ".b", "A.b.c", "AbC",
	"0", "00", "01", "-0", "-1", "--1", "1.", ".1", "1.5", "1..5", "1.5.1", "-1.05", "+1", "1e3", "1,5", "٣", "a", "A", "D", "d", "wk", "min", "year",
	"999999999", "9999999999", "1.999999999", "1.9999999999", "999999999999999999", "1000000000000000000", "1.99999999999999999", "1.999999999999999999",
	"ABCDEFGH", "ABCDEFGHI", "A.abcdefgh", "A.abcdefghi",
}

var lengths = []int{0, 1, 2, 7, 8, 9, 16, 17, 32, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2048, 2049, 4095, 4096, 4097, 8192, 16383, 16384, 16385}

func spoilText(try func(any)) {
	for _, text := range texts {
		try(text)
	}
	for _, n := range lengths {
		for _, of := range []string{"a", "A", "1", "é"} {
			try(strings.Repeat(of, n))
			try((of + strings.Repeat(of, n))[:n])
		}
		try("a/" + strings.Repeat("a", n))
		try(strings.Repeat("a", n) + "/a")
	}
}

// spoil changes one thing at a time in v, has it judged, and undoes it.
func spoil(v reflect.Value, path string, judge func(path string)) {
	try := func(to any) {
		was := reflect.ValueOf(v.Interface())
		v.Set(reflect.ValueOf(to).Convert(v.Type()))
		judge(path)
		v.Set(was)
	}
	switch v.Kind() {
	case reflect.Struct:
		if _, ok := v.Interface().(time.Time); ok {
			for _, second := range []int64{firstSecond - 1, firstSecond, firstSecond + 1, 0, lastSecond, lastSecond + 1, 1 << 55} {
				try(time.Unix(second, 0))
				try(time.Unix(second, 999_999_999).UTC())
			}
			try(time.Time{})
			return
		}
		for i := range v.NumField() {
			spoil(v.Field(i), path+"."+v.Type().Field(i).Name, judge)
		}
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
			judge(path)
			v.SetZero()
			return
		}
		spoil(v.Elem(), path, judge)
		try(reflect.Zero(v.Type()).Interface())
	case reflect.Slice:
		was := reflect.ValueOf(v.Interface())
		for _, n := range []int{0, 1, 15, 16, 17, 63, 64, 65, 128, 129} {
			grown := reflect.MakeSlice(v.Type(), n, n)
			for i := range n {
				if was.Len() > 0 {
					grown.Index(i).Set(was.Index(i % was.Len()))
				}
			}
			try(grown.Interface())
		}
		for i := range v.Len() {
			spoil(v.Index(i), fmt.Sprintf("%s[%d]", path, i), judge)
		}
	case reflect.String:
		spoilText(try)
	case reflect.Int32:
		for _, n := range []int32{-1 << 31, -841, -840, -1, 0, 1, 5, 6, 8, 9, 840, 841, 1000, 1001, 1<<31 - 1} {
			try(n)
		}
	case reflect.Bool:
		try(!v.Bool())
	default:
		panic("a statement has a " + v.Kind().String())
	}
}
