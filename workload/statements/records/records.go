// Package records makes up medication statements: as many as one likes, equal
// for an equal seed, each by itself. They are what such records are in practice:
// few medications in most of them, fields that are missing, dates of which only
// the year is known, free text in many scripts. It computes and knows nobody who
// uses them. The sources of its codes are in SOURCES.md.
package records

import (
	"iter"
	"math/rand/v2"
	"strings"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

// Statement gives record i, from 0, of those that a seed makes; i is below 1<<56.
// It keeps the rules of the schema and shares nothing with others that may be
// written to. Equal arguments give equal records. No two of a seed have the same
// ID, and those of different seeds share no ID of anything.
func Statement(seed uint64, i int) *clinical.MedicationStatement {
	r := new(room)
	m := maker{room: r, seed: seed, draw: newDraw(seed, uint64(i)), table: codes()} //nolint:gosec // i is not negative
	m.words.Grow(usualText)
	m.identify(i)
	m.medicate()
	m.date()
	m.explain()
	m.annotate()
	return &r.statement
}

// Each gives the records from one on, without end.
func Each(seed uint64, from int) iter.Seq2[int, *clinical.MedicationStatement] {
	return func(yield func(int, *clinical.MedicationStatement) bool) {
		for i := from; yield(i, Statement(seed, i)); i++ {
		}
	}
}

// usualText is room for the text of most records.
const usualText = 768

// The most that a record has of each.
const (
	maxDates   = 6
	maxReasons = 2
	maxNotes   = 2
	maxDosages = 2
)

// room is one record with all that it points to, so that it takes one
// allocation. Its text takes another.
type room struct {
	statement    clinical.MedicationStatement
	medication   clinical.CodeableConcept
	category     clinical.CodeableConcept
	codings      [2]clinical.Coding
	subject      clinical.Reference
	source       clinical.Reference
	period       clinical.Period
	dates        [maxDates]clinical.DateTime
	reasons      [maxReasons]clinical.CodeableConcept
	statusReason [1]clinical.CodeableConcept
	notes        [maxNotes]clinical.Annotation
	reasonCodes  [maxReasons]clinical.Coding
	dosages      [maxDosages]clinical.Dosage
	timings      [maxDosages]clinical.Timing
	whens        [maxDosages]string
	routes       [maxDosages]clinical.CodeableConcept
	routeCodes   [maxDosages]clinical.Coding
	doses        [maxDosages]clinical.Quantity
}

// maker fills a room.
type maker struct {
	*room
	draw
	seed      uint64
	patient   uint64
	table     *table
	words     strings.Builder
	usedDates int
}

// text gives what write adds to the words. What was given before stays as it is
// even where the words have to move.
func (m *maker) text(write func()) string {
	from := m.words.Len()
	write()
	return m.words.String()[from:]
}

// draw is a sequence of numbers by chance.
type draw struct{ rand.PCG }

func newDraw(seed, n uint64) draw {
	var d draw
	d.Seed(mix(seed), mix(n^streamOfRecords)) // neighbours must have nothing in common
	return d
}

const streamOfRecords = 0x6d65647374617465

// below gives a number from 0 to n-1.
func (d *draw) below(n int) int {
	return int(d.Uint64() >> 33 * uint64(n) >> 31) //nolint:gosec // n is small
}

// percent is true in so many of 100 cases.
func (d *draw) percent(n int) bool { return d.below(100) < n }

func one[T any](d *draw, list []T) *T { return &list[d.below(len(list))] }
