package stats

import (
	"maps"
	"slices"

	"github.com/tare-bench/tare/record"
)

// factor is one thing in which two stacks differ: an axis, and the settings
// that go with it.
type factor struct {
	axis, from, to string
	settings       []string // that the protocol has or has not
	said           []string // those of the settings that a reader must know of
	turn           turn
	apart          map[string]string // settings that are factors of their own, as they are when the protocol changes
}

// turn is when a factor can change.
type turn int

const (
	atAnyTime      turn = iota
	beforeProtocol      // a setting of the protocol that is left
	afterProtocol       // a setting of the protocol that is gone to
)

// impossible is the cell of a mixture in which a protocol has another's setting.
const impossible = -1

// feasible says of a mixture whether it can be.
func feasible(cells []int) func(mixture int) bool {
	return func(mixture int) bool { return cells[mixture] != impossible }
}

// factors gives the factors in which two scenarios differ, and the scenario of
// each mixture. A setting that one was given, and that the other's protocol has
// not, is a factor of its own where the run has all cells for that; otherwise it
// goes with the protocol. What is missing is given as factor levels.
func (a *arranged) factors(base, scenario int) (factors []factor, cells []int, missing []map[string]string) {
	bundled := differences(a.run.Header.Scenarios[base], a.run.Header.Scenarios[scenario])
	parted := a.partSettings(bundled, base, scenario)
	if len(parted) > len(bundled) {
		if cells, missing := a.cells(base, scenario, parted); len(missing) == 0 {
			return parted, cells, nil
		}
	}
	cells, missing = a.cells(base, scenario, bundled)
	return bundled, cells, missing
}

// partSettings makes factors of the settings that were given and that only one of
// the two protocols has: each changes to its default before that protocol is left,
// or from it once it is reached.
func (a *arranged) partSettings(factors []factor, base, scenario int) []factor {
	if len(factors) == 0 || factors[0].axis != axisProtocol {
		return factors
	}
	protocol := factors[0]
	protocol.apart = make(map[string]string)
	var apart []factor
	for _, side := range []struct {
		has, lacks int
		turn       turn
	}{{base, scenario, beforeProtocol}, {scenario, base, afterProtocol}} {
		has, lacks := a.run.Header.Scenarios[side.has], a.run.Header.Scenarios[side.lacks]
		for _, name := range has.Given() {
			_, both := lacks.Factors[name]
			usual, known := a.byDefault(has.Factors[axisProtocol], name)
			given := has.Factors[name]
			if both || !known || usual == given {
				continue
			}
			f := factor{axis: name, from: given, to: usual, turn: side.turn}
			if side.turn == afterProtocol {
				f.from, f.to = usual, given
			}
			protocol.apart[name] = usual
			apart = append(apart, f)
		}
	}
	said := func(s string) bool {
		return slices.ContainsFunc(apart, func(f factor) bool { return s == f.axis+"="+f.from || s == f.axis+"="+f.to })
	}
	protocol.said = slices.DeleteFunc(slices.Clone(protocol.said), said)
	return slices.Concat([]factor{protocol}, factors[1:], apart)
}

// byDefault is a setting's level in the stacks of a protocol that were not given
// it; false where none is in the run.
func (a *arranged) byDefault(protocol, setting string) (string, bool) {
	for _, s := range a.run.Header.Scenarios {
		level, has := s.Factors[setting]
		if has && s.Factors[axisProtocol] == protocol && !slices.Contains(s.Given(), setting) {
			return level, true
		}
	}
	return "", false
}

// differences lists the factors in which two stacks differ. Where the protocols
// differ, so do the settings that there are: they go with it.
func differences(one, other record.Scenario) []factor {
	from, to := one.Factors, other.Factors
	var out []factor
	for _, axis := range axes {
		if from[axis] != to[axis] {
			out = append(out, factor{axis: axis, from: from[axis], to: to[axis]})
		}
	}
	all := maps.Clone(from)
	maps.Copy(all, to)
	given := append(one.Given(), other.Given()...)
	bundle := from[axisProtocol] != to[axisProtocol]
	for _, axis := range slices.Sorted(maps.Keys(all)) {
		v, inFrom := from[axis]
		w, inTo := to[axis]
		if slices.Contains(axes, axis) || inFrom == inTo && v == w {
			continue
		}
		if !bundle {
			out = append(out, factor{axis: axis, from: v, to: w})
			continue
		}
		with := &out[0] // the protocol is the first of axes
		with.settings = append(with.settings, axis)
		switch {
		case inFrom && inTo:
			with.said = append(with.said, axis)
		case slices.Contains(given, axis):
			with.said = append(with.said, axis+"="+all[axis])
		}
	}
	return out
}

// cells finds the scenario of each mixture: bit i of a mixture says whether
// factor i is at its "to". The missing mixtures are given as factor levels.
func (a *arranged) cells(base, scenario int, factors []factor) (cells []int, missing []map[string]string) {
	h := a.run.Header
	const most = 6 // factors; 64 cells are more than anyone runs
	if len(factors) > most {
		return nil, []map[string]string{nil}
	}
	for mixture := range 1 << len(factors) {
		if !possible(factors, mixture) {
			cells = append(cells, impossible)
			continue
		}
		want := maps.Clone(h.Scenarios[base].Factors)
		for i, f := range factors {
			if mixture>>i&1 == 1 {
				f.move(want, h.Scenarios[scenario].Factors)
			}
		}
		found := slices.IndexFunc(h.Scenarios, func(s record.Scenario) bool { return maps.Equal(s.Factors, want) })
		switch mixture {
		case 0:
			found = base // of two with equal factors, the one that was named
		case 1<<len(factors) - 1:
			found = scenario
		}
		if found < 0 {
			missing = append(missing, want)
		}
		cells = append(cells, found)
	}
	return cells, missing
}

// possible says whether no factor of the mixture has changed before its turn. The
// protocol is the first of factors, where it changes.
func possible(factors []factor, mixture int) bool {
	protocol := mixture&1 == 1
	for i, f := range factors {
		changed := mixture>>i&1 == 1
		if f.turn == beforeProtocol && protocol && !changed || f.turn == afterProtocol && changed && !protocol {
			return false
		}
	}
	return true
}

// move sets the factor in a stack's levels to what it is in another's.
func (f factor) move(levels, other map[string]string) {
	if f.turn == afterProtocol {
		levels[f.axis] = f.to
		return
	}
	if f.turn == beforeProtocol {
		if _, has := levels[f.axis]; has { // and the protocol has not taken it away
			levels[f.axis] = f.to
		}
		return
	}
	for _, axis := range append([]string{f.axis}, f.settings...) {
		v, ok := other[axis]
		if usual, apart := f.apart[axis]; apart && ok {
			v = usual
		}
		if ok {
			levels[axis] = v
		} else {
			delete(levels, axis)
		}
	}
}
