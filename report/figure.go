package report

import "math"

// Figure shows one value with its unit, in the size that suits it: "5.12 ms".
// Where there is none it is a dash, and without bound it is empty.
func Figure(v float64, unit string) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case math.IsInf(v, 0):
		return ""
	}
	s := scaleFor(unit, []float64{math.Abs(v)})
	text := count(v / s.of)
	if unit == "B" {
		text, s.name = count(v), unit // every byte counts
	}
	if s.name == "" {
		return text
	}
	return text + " " + s.name
}
