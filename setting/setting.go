// Package setting declares named values that a person may set: those of a
// stack, after "@", and those of a workload, after "--param". A setting is
// declared once, as data; parsing, help, plan and report read the declaration.
package setting

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Setting is one declaration.
type Setting struct {
	Name    string
	Default string
	Takes   string // what it takes, for a person: "1.1 or 2"
	About   string // one line for a person
	Check   func(value string) error
}

// Values holds a value for every declared setting, by name.
type Values map[string]string

// Resolve fills given with the declared defaults. A name that is not declared
// and a value that its declaration refuses are errors that name both.
func Resolve(declared []Setting, given map[string]string) (Values, error) {
	out := make(Values, len(declared))
	for _, s := range declared {
		v, ok := given[s.Name]
		if !ok {
			v = s.Default
		}
		if err := s.Check(v); err != nil {
			return nil, fmt.Errorf("%s=%s: %w (takes %s)", s.Name, v, err, s.Takes)
		}
		out[s.Name] = v
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := out[name]; !ok {
			return nil, fmt.Errorf("no setting %q; there is %s", name, names(declared))
		}
	}
	return out, nil
}

func names(declared []Setting) string {
	if len(declared) == 0 {
		return "none"
	}
	var all []string
	for _, s := range declared {
		all = append(all, s.Name)
	}
	return strings.Join(all, ", ")
}

// Int reads a value that Check has found to be a whole number.
func (v Values) Int(name string) int {
	n, err := strconv.Atoi(v[name])
	if err != nil {
		panic(fmt.Sprintf("setting %s: %v", name, err)) // declared without OneOf or Int
	}
	return n
}

// OneOf declares a setting that takes one of a few words, the first by default.
func OneOf(name, about string, words ...string) Setting {
	takes := strings.Join(words, " or ")
	return Setting{Name: name, Default: words[0], Takes: takes, About: about, Check: func(v string) error {
		if !slices.Contains(words, v) {
			return fmt.Errorf("not one of its words")
		}
		return nil
	}}
}

// Int declares a setting that takes a whole number within bounds.
func Int(name, about string, byDefault, low, high int) Setting {
	return Setting{
		Name: name, Default: strconv.Itoa(byDefault), About: about,
		Takes: fmt.Sprintf("%d to %d", low, high),
		Check: func(v string) error {
			n, err := strconv.Atoi(v)
			if err != nil {
				return fmt.Errorf("not a whole number")
			}
			if n < low || n > high {
				return fmt.Errorf("out of bounds")
			}
			return nil
		},
	}
}
