package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tare-bench/tare/stats"
)

// scale is one size of a unit.
type scale struct {
	name string
	of   float64 // base units
}

// scales lists the sizes of each base unit, the smallest first. A unit that is
// not here is shown as it is.
var scales = map[string][]scale{
	"s": {{"ns", 1e-9}, {"µs", 1e-6}, {"ms", 1e-3}, {"s", 1}},
	"B": {{"B", 1}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}},
	"1": {{"", 1}},

	"B/s": {{"B/s", 1}, {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}},
}

// scaleFor picks the size of a unit in which the median of the values is at
// least 1, so that a column of them shares one.
func scaleFor(unit string, values []float64) scale {
	sizes, ok := scales[unit]
	if !ok {
		return scale{unit, 1}
	}
	if len(values) == 0 {
		return sizes[len(sizes)/2] // heads a column of dashes
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := sorted[len(sorted)/2]
	best := sizes[0]
	for _, s := range sizes {
		if middle >= s.of {
			best = s
		}
	}
	return best
}

// number shows three significant digits, all of a larger number's places.
func number(v float64) string {
	if v == 0 {
		return "0"
	}
	places := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	round := math.Pow(10, float64(places))
	v = math.Round(v*round) / round
	s := strconv.FormatFloat(v, 'f', max(0, places), 64)
	return stats.Thousands(s)
}

// count shows a whole number whole, any other like number.
func count(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return stats.Thousands(strconv.FormatFloat(v, 'f', 0, 64))
	}
	return number(v)
}

// ratioPlaces is how many decimals show an interval of ratios.
func ratioPlaces(v Value) int {
	smallest, width := *v.Value, math.Inf(1)
	if v.Low != nil {
		smallest = *v.Low
		if *v.High > *v.Low {
			width = *v.High - *v.Low
		}
	}
	switch {
	case smallest >= 100:
		return 0
	case smallest >= 10:
		return 1
	case smallest < 0.1 || width < 0.02:
		return 3
	}
	return 2
}

// Ratio shows a ratio: "1.45x".
func Ratio(v Value) string {
	if v.Value == nil {
		return "–"
	}
	return places(*v.Value, ratioPlaces(v)) + "x"
}

// RatioInterval shows a ratio's bounds: "1.41 to 1.49", or why there are none.
func RatioInterval(v Value) string {
	switch {
	case v.Value == nil || v.Low == nil:
		return "–"
	case v.Exact:
		return "exact"
	}
	p := ratioPlaces(v)
	return places(*v.Low, p) + " to " + places(*v.High, p)
}

func places(v float64, n int) string {
	return stats.Thousands(strconv.FormatFloat(v, 'f', n, 64))
}

// percent shows a share in two digits: "7 %", "0.35 %".
func percent(share float64) string {
	return strconv.FormatFloat(roundTo(100*share, 2), 'f', -1, 64) + " %"
}

func roundTo(v float64, digits int) float64 {
	s := strconv.FormatFloat(v, 'e', digits-1, 64)
	r, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return v // only of what is no number, which stays so
	}
	return r
}

// duration shows seconds to a person: "90 s", "4 min".
func duration(seconds float64) string {
	for _, u := range []scale{{"years", 365 * 86400}, {"days", 86400}, {"h", 3600}, {"min", 60}} {
		switch n := seconds / u.of; {
		case n >= 1000:
			return "many " + u.name
		case n >= 2:
			return fmt.Sprintf("%.0f %s", n, u.name)
		}
	}
	return strconv.FormatFloat(roundTo(seconds, 2), 'f', -1, 64) + " s"
}

// flagDuration writes seconds as a flag takes them, in whole seconds, and in
// whole minutes from ten on: "95s", "12m". It never writes less.
func flagDuration(seconds float64) string {
	const byMinutes, slack = 600, 1e-6 // of sums of binary fractions
	if seconds > byMinutes {
		return fmt.Sprintf("%.0fm", math.Ceil(seconds/60-slack))
	}
	return fmt.Sprintf("%.0fs", math.Ceil(seconds-slack))
}
