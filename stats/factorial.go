package stats

import (
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/tare-bench/tare/record"
)

// Axes of a stack that are factors by themselves. All other axes are settings.
const (
	axisProtocol   = "protocol"
	axisCodec      = "codec"
	axisCompressor = "compressor"
)

var axes = []string{axisProtocol, axisCodec, axisCompressor}

// Factorial parts one ratio among the factors in which two scenarios differ. It
// takes every mixture of the two in the run: all 2^k cells.
type Factorial struct {
	Metric          *Metric
	Stack, Baseline string   // scenarios' names
	Whole           Interval // over the rounds in which every cell has a trial
	// Effects multiply to Whole exactly. Each is the factor's Shapley value on
	// the log scale: its effect averaged over the orders in which the factors
	// can be changed one after the other (L. Shapley, A value for n-person
	// games, 1953).
	Effects []Effect
	// Interaction is, of two factors, how much more the second changes once
	// the first has changed; 1 where they do not meddle. Unknown for more.
	Interaction Interval
}

// Effect is one factor's part.
type Effect struct {
	Factor, From, To string
	// With names the settings that go with the protocol and are more than its
	// defaults: those that both stacks have and that differ, and those that one
	// was given and the other has not, with their value.
	With  []string
	Ratio Interval
}

// factorials parts the headline ratios of each scenario that has all its cells.
func (a *arranged) factorials(confidence float64) []Factorial {
	h := a.run.Header
	base := a.baseline()
	var out []Factorial
	for s := range h.Scenarios {
		factors := differences(h.Scenarios[base], h.Scenarios[s])
		cells, missing := a.cells(base, s, factors)
		const two = 2
		if s == base || len(factors) < two || len(missing) > 0 {
			continue
		}
		for i := range Metrics {
			m := &Metrics[i]
			if m.Kind != Rate || !m.Headline(h) || a.tooManyErrors(cells) || a.anySpoilt(m, cells) {
				continue
			}
			if f, ok := a.factorial(m, cells, factors, confidence); ok {
				f.Stack, f.Baseline = h.Scenarios[s].Name, h.Scenarios[base].Name
				out = append(out, f)
			}
		}
	}
	return out
}

func (a *arranged) tooManyErrors(cells []int) bool {
	return slices.ContainsFunc(cells, func(s int) bool { return a.tally(s).share() > mostErrors })
}

func (a *arranged) anySpoilt(m *Metric, cells []int) bool {
	return slices.ContainsFunc(cells, func(s int) bool { return a.spoilt(m, s) != "" })
}

// factor is one thing in which two stacks differ: an axis, and the settings
// that go with it.
type factor struct {
	axis, from, to string
	settings       []string
	said           []string // those of the settings that a reader must know of
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

// move sets the factor in a stack's levels to what it is in another's.
func (f factor) move(levels, other map[string]string) {
	for _, axis := range append([]string{f.axis}, f.settings...) {
		if v, ok := other[axis]; ok {
			levels[axis] = v
		} else {
			delete(levels, axis)
		}
	}
}

// factorial parts one metric's ratio, block by block, so that the parts have
// intervals as every other ratio has.
func (a *arranged) factorial(m *Metric, cells []int, factors []factor, confidence float64) (Factorial, bool) {
	var whole, interaction sample
	parts := make([]sample, len(factors))
	for i := range a.blocks {
		v, ok := a.blocks[i].mixtures(m, cells)
		if !ok {
			continue
		}
		whole = append(whole, v[len(v)-1])
		for f := range factors {
			parts[f] = append(parts[f], shapley(v, f))
		}
		if len(factors) == 2 {
			interaction = append(interaction, v[3]-v[1]-v[2])
		}
	}
	if len(whole) < MinBlocks {
		return Factorial{}, false
	}
	out := Factorial{Metric: m, Whole: whole.interval(confidence), Interaction: interaction.interval(confidence)}
	for i, f := range factors {
		out.Effects = append(out.Effects, Effect{
			Factor: f.axis, From: f.from, To: f.to, With: f.said, Ratio: parts[i].interval(confidence),
		})
	}
	return out, true
}

// mixtures is each mixture's mean log ratio to the first, over the rounds in
// which all have a trial.
func (b *block) mixtures(m *Metric, cells []int) ([]float64, bool) {
	sums := make([]float64, len(cells))
	n := 0
next:
	for _, r := range b.rounds {
		logs := make([]float64, len(cells))
		for i, s := range cells {
			v, ok := b.rate(r, m, s)
			if !ok {
				continue next
			}
			logs[i] = math.Log(v)
		}
		for i := range logs {
			sums[i] += logs[i] - logs[0]
		}
		n++
	}
	for i := range sums {
		sums[i] /= float64(n)
	}
	return sums, n > 0
}

// shapley averages what factor f adds to each mixture without it, weighted by
// how many orders of the k factors come upon that mixture: |U|!(k-|U|-1)!/k!.
func shapley(v []float64, f int) float64 {
	k := bits.Len(uint(len(v))) - 1
	var sum float64
	for u := range v {
		if u>>f&1 == 0 {
			size := bits.OnesCount(uint(u))
			weight := math.Gamma(float64(size+1)) * math.Gamma(float64(k-size)) / math.Gamma(float64(k+1))
			sum += weight * (v[u|1<<f] - v[u])
		}
	}
	return sum
}
