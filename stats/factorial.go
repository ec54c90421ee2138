package stats

import (
	"math"
	"math/bits"
	"slices"
)

// Axes of a stack that are factors by themselves. All other axes are settings.
const (
	axisProtocol   = "protocol"
	axisCodec      = "codec"
	axisCompressor = "compressor"
)

var axes = []string{axisProtocol, axisCodec, axisCompressor}

// Factorial parts one ratio among the factors in which two scenarios differ. It
// takes every mixture of the two in the run: all 2^k cells, less those in which a
// protocol would have another's setting.
type Factorial struct {
	Metric          *Metric
	Stack, Baseline string   // scenarios' names
	Whole           Interval // over the rounds in which every cell has a trial
	// Effects multiply to Whole exactly. Each is the factor's Shapley value on
	// the log scale: its effect averaged over the orders in which the factors
	// can be changed one after the other (L. Shapley, A value for n-person
	// games, 1953; where some must come before others: U. Faigle and W. Kern,
	// The Shapley value for cooperative games under precedence constraints,
	// 1992).
	Effects []Effect
	// Interaction is, of two factors in any order, how much more the second
	// changes once the first has changed; 1 where they do not meddle. Unknown for
	// others.
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
		factors, cells, missing := a.factors(base, s)
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
	return slices.ContainsFunc(cells, func(s int) bool { return s != impossible && a.tally(s).share() > mostErrors })
}

func (a *arranged) anySpoilt(m *Metric, cells []int) bool {
	return slices.ContainsFunc(cells, func(s int) bool { return s != impossible && a.spoilt(m, s) != "" })
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
		for f, part := range shapley(v, feasible(cells)) {
			parts[f] = append(parts[f], part)
		}
		if len(factors) == 2 && feasible(cells)(1) && feasible(cells)(2) {
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
// which all have a trial; 0 for those that cannot be.
func (b *block) mixtures(m *Metric, cells []int) ([]float64, bool) {
	sums := make([]float64, len(cells))
	n := 0
next:
	for _, r := range b.rounds {
		logs := make([]float64, len(cells))
		for i, s := range cells {
			if s == impossible {
				continue
			}
			v, ok := b.rate(r, m, s)
			if !ok {
				continue next
			}
			logs[i] = math.Log(v) - logs[0]
		}
		for i := 1; i < len(logs); i++ {
			sums[i] += logs[i]
		}
		n++
	}
	for i := range sums {
		sums[i] /= float64(n)
	}
	return sums, n > 0
}

// shapley gives each factor's part of the last of the mixtures' values: what the
// factor adds where it is changed, averaged over all orders that come upon
// mixtures that can be and no other.
func shapley(v []float64, can func(mixture int) bool) []float64 {
	k := bits.Len(uint(len(v))) - 1
	parts := make([]float64, k)
	orders := 0
	var walk func(from int, order []int)
	walk = func(from int, order []int) {
		if len(order) == k {
			orders++
			for at, f := range order {
				before := mixtureOf(order[:at])
				parts[f] += v[before|1<<f] - v[before]
			}
			return
		}
		for f := range k {
			if from>>f&1 == 0 && can(from|1<<f) {
				walk(from|1<<f, append(order, f))
			}
		}
	}
	walk(0, make([]int, 0, k))
	for f := range parts {
		parts[f] /= float64(orders)
	}
	return parts
}

func mixtureOf(factors []int) (mixture int) {
	for _, f := range factors {
		mixture |= 1 << f
	}
	return mixture
}
