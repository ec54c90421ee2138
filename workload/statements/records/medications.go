package records

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

// The systems that codes are of.
const (
	rxNorm     = "http://www.nlm.nih.gov/research/umls/rxnorm"
	icd10      = "http://hl7.org/fhir/sid/icd-10-cm"
	routes     = "http://terminology.hl7.org/CodeSystem/v3-RouteOfAdministration"
	categories = "http://terminology.hl7.org/CodeSystem/medication-statement-category"
	ucum       = "http://unitsofmeasure.org"
)

//go:embed medications.tsv
var medicationList string

//go:embed reasons.tsv
var reasonList string

// medication is one line of the list.
type medication struct {
	code   clinical.Coding
	spoken string           // as a person writes it: without its form
	form   *form            // how it is taken
	reason *clinical.Coding // nil where the list has none
}

// form is what a medication's name ends in, and how such ones are taken.
type form struct {
	name, verb, byWay string
	route             clinical.Coding
	unit, units, ucum string
	amounts           []string
	schedules         []schedule
}

// table is the list, parsed.
type table struct {
	medications []medication
	reasons     []clinical.Coding
	ranks       [1 << rankBits]uint16 // of medications, each as often as it is taken
}

const rankBits = 12

// drawMedication gives one, those at the head of the list far more often: the
// one at place k with weight 1/k, which is how prescriptions are spread.
func (t *table) drawMedication(d *draw) *medication {
	return &t.medications[t.ranks[d.below(len(t.ranks))]]
}

var codes = sync.OnceValue(func() *table {
	t := new(table)
	byCode := make(map[string]int)
	for line := range strings.Lines(reasonList) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		byCode[fields[0]] = len(t.reasons)
		t.reasons = append(t.reasons, clinical.Coding{System: icd10, Code: fields[0], Display: fields[1]})
	}
	for line := range strings.Lines(medicationList) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		m := medication{code: clinical.Coding{System: rxNorm, Code: fields[0], Display: fields[1]}, form: formOf(fields[1])}
		m.spoken, _, _ = strings.Cut(strings.ToLower(fields[1]), " "+strings.ToLower(m.form.name))
		if i, ok := byCode[fields[2]]; ok {
			m.reason = &t.reasons[i]
		}
		t.medications = append(t.medications, m)
	}
	t.spread()
	return t
})

// spread fills ranks by Zipf's law.
func (t *table) spread() {
	var sum, upTo float64
	for k := range t.medications {
		sum += 1 / float64(k+1)
	}
	slot := 0
	for k := range t.medications {
		upTo += 1 / float64(k+1)
		for end := int(math.Round(upTo / sum * float64(len(t.ranks)))); slot < end; slot++ {
			t.ranks[slot] = uint16(k) //nolint:gosec // some hundreds
		}
	}
}

func formOf(name string) *form {
	name, _, _ = strings.Cut(name, " [") // a brand
	for i := range forms {
		if strings.HasSuffix(name, forms[i].name) {
			return &forms[i]
		}
	}
	panic(fmt.Sprintf("records: no form for %q", name)) // the list is checked in
}

var (
	oral       = clinical.Coding{System: routes, Code: "PO", Display: "Swallow, oral"}
	chewed     = clinical.Coding{System: routes, Code: "CHEW", Display: "Chew, oral"}
	sublingual = clinical.Coding{System: routes, Code: "SL", Display: "Dissolve, sublingual"}
	underSkin  = clinical.Coding{System: routes, Code: "SQ", Display: "Injection, subcutaneous"}
	intoVein   = clinical.Coding{System: routes, Code: "IVINJ", Display: "Injection, intravenous"}
	inhaled    = clinical.Coding{System: routes, Code: "IPINHL", Display: "Inhalation, respiratory"}
	nebulized  = clinical.Coding{System: routes, Code: "NEB", Display: "Inhalation, nebulization"}
	onSkin     = clinical.Coding{System: routes, Code: "TOPICAL", Display: "Topical"}
	inEye      = clinical.Coding{System: routes, Code: "OPTHALTA", Display: "Topical application, ophthalmic"}
	throughSkn = clinical.Coding{System: routes, Code: "TRNSDERM", Display: "Transdermal"}
)

// forms, the more special before what they end in.
var forms = []form{
	{name: "Chewable Tablet", verb: "Chew", route: chewed, unit: "tablet", units: "tablets", ucum: "{tbl}", amounts: pieces, schedules: daily},
	{name: "Sublingual Tablet", verb: "Dissolve", byWay: " under the tongue", route: sublingual, unit: "tablet", units: "tablets", ucum: "{tbl}", amounts: pieces, schedules: asNeeded},
	{name: "Tablet", verb: "Take", byWay: " by mouth", route: oral, unit: "tablet", units: "tablets", ucum: "{tbl}", amounts: pieces, schedules: daily},
	{name: "Capsule", verb: "Take", byWay: " by mouth", route: oral, unit: "capsule", units: "capsules", ucum: "{capsule}", amounts: pieces[:3], schedules: daily},
	{name: "28 Day Pack", verb: "Take", byWay: " by mouth", route: oral, unit: "tablet", units: "tablets", ucum: "{tbl}", amounts: pieces[:1], schedules: daily[:1]},
	{name: "Oral Solution", verb: "Take", byWay: " by mouth", route: oral, unit: "mL", units: "mL", ucum: "mL", amounts: volumes, schedules: daily},
	{name: "Oral Suspension", verb: "Shake well and take", byWay: " by mouth", route: oral, unit: "mL", units: "mL", ucum: "mL", amounts: volumes, schedules: daily},
	{name: "Inhaler", verb: "Inhale", route: inhaled, unit: "puff", units: "puffs", ucum: "{puff}", amounts: pieces[:2], schedules: asNeeded},
	{name: "Inhalation Solution", verb: "Inhale", byWay: " by nebulizer", route: nebulized, unit: "mL", units: "mL", ucum: "mL", amounts: volumes, schedules: asNeeded},
	{name: "Inhalation Suspension", verb: "Inhale", byWay: " by nebulizer", route: nebulized, unit: "mL", units: "mL", ucum: "mL", amounts: volumes, schedules: daily},
	{name: "Topical Cream", verb: "Apply", byWay: " to the affected area", route: onSkin, unit: "g", units: "g", ucum: "g", amounts: volumes, schedules: daily},
	{name: "Ophthalmic Solution", verb: "Instil", byWay: " into each eye", route: inEye, unit: "drop", units: "drops", ucum: "[drp]", amounts: pieces[:2], schedules: daily},
	{name: "Mucosal Spray", verb: "Spray", byWay: " under the tongue", route: sublingual, unit: "spray", units: "sprays", ucum: "{spray}", amounts: pieces[:2], schedules: asNeeded},
	{name: "Transdermal System", verb: "Apply", byWay: " to clean, dry skin", route: throughSkn, unit: "patch", units: "patches", ucum: "{patch}", amounts: pieces[:1], schedules: rare},
	{name: "Prefilled Syringe", verb: "Inject", byWay: " under the skin", route: underSkin, unit: "mL", units: "mL", ucum: "mL", amounts: shots, schedules: rare},
	{name: "Injector", verb: "Inject", byWay: " under the skin", route: underSkin, unit: "mL", units: "mL", ucum: "mL", amounts: shots, schedules: daily[:2]},
	{name: "Injectable Solution", verb: "Inject", byWay: " under the skin", route: underSkin, unit: "mL", units: "mL", ucum: "mL", amounts: shots, schedules: daily},
	{name: "Injectable Suspension", verb: "Inject", byWay: " under the skin", route: underSkin, unit: "mL", units: "mL", ucum: "mL", amounts: shots, schedules: daily},
	{name: "Injection", verb: "Give", byWay: " into a vein", route: intoVein, unit: "mL", units: "mL", ucum: "mL", amounts: volumes, schedules: rare},
}

// Amounts are as people write them: one and a half may be 1.5 or 1.50.
var (
	pieces  = []string{"1", "2", "1", "0.5", "1.5", "1.0", "3", "0.25"}
	volumes = []string{"5", "10", "2.5", "15", "7.50", "20", "0.5", "30.0"}
	shots   = []string{"0.5", "1", "0.30", "0.4", "0.67", "1.80"}
)

// schedule is how often, in code and in words.
type schedule struct {
	frequency    int32
	period, unit string
	when         string
	asNeeded     bool
	words        string
}

var (
	daily = []schedule{
		{frequency: 1, period: "1", unit: "d", words: "once daily"},
		{frequency: 2, period: "1", unit: "d", words: "twice daily"},
		{frequency: 1, period: "1", unit: "d", when: "HS", words: "at bedtime"},
		{frequency: 1, period: "1", unit: "d", when: "MORN", words: "every morning"},
		{frequency: 3, period: "1", unit: "d", when: "AC", words: "before each meal"},
		{frequency: 3, period: "1", unit: "d", words: "three times a day"},
		{frequency: 1, period: "12", unit: "h", words: "every 12 hours"},
		{frequency: 1, period: "2", unit: "d", words: "every other day"},
		{frequency: 1, period: "6", unit: "h", asNeeded: true, words: "every 6 hours as needed for pain"},
		{frequency: 1, period: "1.0", unit: "wk", words: "once a week"},
	}
	asNeeded = []schedule{
		{frequency: 1, period: "4", unit: "h", asNeeded: true, words: "every 4 hours as needed"},
		{frequency: 2, period: "1", unit: "d", words: "twice daily"},
		{frequency: 1, period: "5", unit: "min", asNeeded: true, words: "every 5 minutes as needed, up to 3 times"},
		{asNeeded: true, words: "as needed"},
	}
	rare = []schedule{
		{frequency: 1, period: "1", unit: "wk", words: "once a week"},
		{frequency: 1, period: "72", unit: "h", words: "every 72 hours"},
		{frequency: 1, period: "2", unit: "wk", words: "every 2 weeks"},
		{frequency: 1, period: "1", unit: "mo", words: "once a month"},
		{frequency: 1, period: "0.5", unit: "a", words: "every 6 months"},
	}
)
