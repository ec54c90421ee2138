package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// axis is one thing that a sweep can vary. An error of split and set says what is
// wrong with the text, and not where it stands.
type axis struct {
	name  string // as it is typed; one that ends with a dot has a name after it
	shown string // in help
	split func(text string) (values []string, ordered bool, err error)
	taken func(r plan.Request, name string) bool // whether a flag has set it already
	set   func(r *plan.Request, name, value string) error
}

// axes are all of them.
var axes = []axis{
	{
		name: "param.", shown: "param.NAME", split: splitNumbers,
		taken: func(r plan.Request, name string) bool { _, given := r.Params[name]; return given },
		set: func(r *plan.Request, name, value string) error {
			r.Params = maps.Clone(r.Params) // which the other points share
			if r.Params == nil {
				r.Params = make(map[string]string)
			}
			r.Params[name] = value
			return nil
		},
	},
	{
		name: "in-flight", shown: "in-flight", split: splitNumbers,
		taken: func(r plan.Request, _ string) bool { return r.InFlight != 0 },
		set: func(r *plan.Request, _, value string) error {
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return errors.New("takes whole numbers from 1 on")
			}
			r.InFlight = n
			return nil
		},
	},
	{
		name: "rate", shown: "rate (calls/s, shares, max for the closed loop)", split: splitNumbers,
		taken: func(r plan.Request, _ string) bool { return r.Rate != 0 || r.RateShare != 0 },
		set: func(r *plan.Request, _, value string) error {
			if value == saturation {
				*r = plan.Saturating(*r)
				return nil
			}
			return setRate(r, value)
		},
	},
	{
		name: "store", shown: "store", split: splitNumbers,
		taken: func(r plan.Request, _ string) bool { return r.Store != "" },
		set: func(r *plan.Request, _, value string) error {
			r.Store = value
			return nil
		},
	},
	{
		name: "link", shown: "link", split: splitLinks,
		taken: func(r plan.Request, _ string) bool { return r.Link != "" },
		set: func(r *plan.Request, _, value string) error {
			r.Link = value
			return nil
		},
	},
	{
		name: "workers", shown: "workers", split: splitNumbers,
		taken: func(r plan.Request, _ string) bool { return r.Workers != 0 },
		set: func(r *plan.Request, _, value string) error {
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return errors.New("takes whole numbers from 1 on")
			}
			r.Workers = n
			return nil
		},
	},
	{
		name: "leg", shown: "leg", split: splitWords,
		taken: func(r plan.Request, _ string) bool { return r.Leg != "" },
		set: func(r *plan.Request, _, value string) error {
			r.Leg = value
			return nil
		},
	},
}

// saturation is the rate of a closed loop: as many calls as are answered.
const saturation = "max"

// setRate reads what --rate takes: calls per second, or a share of what the
// slowest stack carries.
func setRate(r *plan.Request, text string) (err error) {
	if strings.HasSuffix(strings.TrimSpace(text), "%") {
		r.RateShare, err = percent("share", text)
		return err
	}
	r.Rate, err = strconv.ParseFloat(text, 64)
	if err != nil || !(r.Rate > 0) {
		return errors.New("takes calls per second, more than 0, or a share such as 50%")
	}
	return nil
}

func axisNames() string {
	var names []string
	for _, a := range axes {
		names = append(names, a.shown)
	}
	return strings.Join(names, ", ")
}

// findAxis gives the axis that is spelled so, and the name that it may take.
func findAxis(spelled string) (axis, string, error) {
	for _, a := range axes {
		name, found := strings.CutPrefix(spelled, a.name)
		if takesName := strings.HasSuffix(a.name, "."); found && takesName == (name != "") {
			return a, name, nil
		}
	}
	return axis{}, "", fmt.Errorf("--sweep %s: takes %s", spelled, axisNames())
}

// mostAxes of a sweep: a table has a column for each.
const mostAxes = 2

// swept gives a request for each value of a sweep, spelled AXIS=V1,V2,…, and of
// two that are crossed for each pair, the first the slowest to change; or r alone
// where there is none.
func swept(r plan.Request, words []string) ([]plan.Request, error) {
	if len(words) > mostAxes {
		return nil, fmt.Errorf("--sweep %s: takes %d axes at most; sweep the third in a run of its own", words[mostAxes], mostAxes)
	}
	all := []plan.Request{r}
	for _, word := range words {
		var next []plan.Request
		for _, before := range all {
			points, err := along(before, word)
			if err != nil {
				return nil, err
			}
			for i := range points {
				if before.Sweep != nil {
					points[i].Sweep = crossed(*before.Sweep, *points[i].Sweep)
				}
			}
			next = append(next, points...)
		}
		all = next
	}
	for i := range all {
		if s := all[i].Sweep; s != nil {
			s.Index, s.Of = i, len(all)
		}
	}
	return all, nil
}

// crossed is a point of two axes. There is no order in which all points ascend.
func crossed(outer, inner record.Sweep) *record.Sweep {
	return &record.Sweep{
		Axis: outer.Axis + record.Crossed + inner.Axis, Value: outer.Value + record.Crossed + inner.Value,
		Parts: []record.Part{{Axis: outer.Axis, Value: outer.Value}, {Axis: inner.Axis, Value: inner.Value}},
	}
}

// along gives a request for each value of one axis.
func along(r plan.Request, word string) ([]plan.Request, error) {
	spelled, text, found := strings.Cut(word, "=")
	if !found {
		return nil, fmt.Errorf("--sweep %s is not AXIS=VALUE,VALUE", word)
	}
	a, name, err := findAxis(spelled)
	if err != nil {
		return nil, err
	}
	if a.taken(r, name) {
		return nil, fmt.Errorf("--sweep %s: another flag sets it too; leave that out", spelled)
	}
	values, ordered, err := a.split(text)
	if err != nil {
		return nil, fmt.Errorf("--sweep %s: %w", word, err)
	}
	if len(values) < 2 {
		return nil, fmt.Errorf("--sweep %s: takes two values or more", word)
	}
	var out []plan.Request
	for i, value := range values {
		if slices.ContainsFunc(values[:i], func(other string) bool { return alike(other, value) }) {
			return nil, fmt.Errorf("--sweep %s: has %s twice", spelled, value)
		}
		one := r
		if err := a.set(&one, name, value); err != nil {
			return nil, fmt.Errorf("--sweep %s=%s: %w", spelled, value, err)
		}
		one.Sweep = &record.Sweep{Axis: spelled, Value: value, Ordered: ordered}
		out = append(out, one)
	}
	return out, nil
}

// splitLinks reads links with commas between and in them, and spells each alike.
// They differ in more than one thing, and have no order.
func splitLinks(text string) (values []string, ordered bool, err error) {
	all, err := link.ParseList(text)
	for _, l := range all {
		values = append(values, l.String())
	}
	return values, false, err
}

// splitWords reads names with commas between them, in the order in which they were
// typed.
func splitWords(text string) (values []string, ordered bool, err error) {
	values, _, err = splitNumbers(text)
	return values, false, err
}

// splitNumbers reads values with commas between them, and puts them in ascending
// order where all are numbers, all are shares, or the greatest that there is. Words
// keep the order in which they were typed, and so do shares among numbers.
func splitNumbers(text string) (values []string, ordered bool, err error) {
	values = strings.Split(text, ",")
	sizes := make(map[string]float64, len(values))
	words, shares, numbers := 0, 0, 0
	for i, v := range values {
		v = strings.TrimSpace(v)
		if v == "" {
			return nil, false, errors.New("a value is empty")
		}
		size, share, ok := readNumber(v)
		switch {
		case !ok:
			words++
		case share:
			shares++
		case v != saturation:
			numbers++
		}
		values[i], sizes[v] = v, size
	}
	if ordered = words == 0 && (shares == 0 || numbers == 0); ordered {
		slices.SortStableFunc(values, func(a, b string) int { return cmp.Compare(sizes[a], sizes[b]) })
	}
	return values, ordered, nil
}

// readNumber reads a number, a share, or the greatest that there is.
func readNumber(v string) (size float64, share, ok bool) {
	if v == saturation {
		return math.Inf(1), false, true
	}
	digits, share := strings.CutSuffix(v, "%")
	size, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	return size, share, err == nil && !math.IsNaN(size)
}

// alike says whether two values are one, however they are spelled: 1 and 01.
func alike(a, b string) bool {
	one, share, ok := readNumber(a)
	other, shareToo, okToo := readNumber(b)
	return a == b || ok && okToo && share == shareToo && one == other
}
