package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tare-bench/tare/record"
)

// leastBeyond is how many calls must lie beyond a quantile in each block: with
// fewer it is the luck of a few calls.
const leastBeyond = 10

// arranged is a run's trials by block, round and scenario.
type arranged struct {
	run    *record.Run
	trials []*record.Trial // all that gave a Load
	blocks []block         // that are whole enough for estimates
	short  []block         // the others
}

type block struct {
	header  *record.Header
	rounds  []round
	latency []record.Histogram // by scenario: all its trials of the block
}

// round holds a trial for each scenario, nil where it failed or is missing.
type round []*record.Trial

// arrange sorts the trials that gave a Load into place.
func arrange(run *record.Run) (*arranged, error) {
	trials := make([]*record.Trial, 0, len(run.Trials))
	why := "there is none"
	for i := range run.Trials {
		t := &run.Trials[i]
		if t.Failed == "" && t.Load != nil {
			trials = append(trials, t)
		} else if t.Failed != "" {
			why = t.Failed
		}
	}
	if len(trials) == 0 {
		return nil, fmt.Errorf("analyse run: no trial gave a result: %s", why)
	}
	slices.SortStableFunc(trials, func(a, b *record.Trial) int {
		return cmp.Or(cmp.Compare(a.Block, b.Block), cmp.Compare(a.Round, b.Round))
	})
	a := &arranged{run: run, trials: trials}
	for i, t := range trials {
		newBlock := i == 0 || t.Block != trials[i-1].Block
		if newBlock {
			a.blocks = append(a.blocks, block{header: &run.Header, latency: make([]record.Histogram, len(run.Header.Scenarios))})
		}
		b := &a.blocks[len(a.blocks)-1]
		if newBlock || t.Round != trials[i-1].Round {
			b.rounds = append(b.rounds, make(round, len(run.Header.Scenarios)))
		}
		b.rounds[len(b.rounds)-1][t.Scenario] = t
	}
	for i := range a.blocks {
		a.blocks[i].merge()
	}
	a.part()
	return a, nil
}

// part takes out the blocks with fewer than half of their rounds: each block
// weighs the same in an estimate, and the rounds of one that was cut short would
// weigh more than others. Where no block is whole, the first of the fullest
// stands alone.
func (a *arranged) part() {
	short := func(b block) bool { return 2*len(b.rounds) < a.run.Header.Rounds }
	fullest := slices.MaxFunc(a.blocks, func(x, y block) int { return cmp.Compare(len(x.rounds), len(y.rounds)) })
	alone := short(fullest)
	var whole []block
	for _, b := range a.blocks {
		if !short(b) || alone && len(whole) == 0 && len(b.rounds) == len(fullest.rounds) {
			whole = append(whole, b)
		} else {
			a.short = append(a.short, b)
		}
	}
	a.blocks = whole
}

// index is the block's number in the run; a block has a trial at least.
func (b *block) index() int {
	for _, t := range b.rounds[0] {
		if t != nil {
			return t.Block
		}
	}
	return -1
}

func (b *block) merge() {
	for s := range b.latency {
		for _, r := range b.rounds {
			if r[s] == nil || r[s].Load.Latency.Count() == 0 {
				continue
			}
			if b.latency[s].Count() == 0 {
				b.latency[s] = record.NewHistogram()
			}
			b.latency[s].Merge(r[s].Load.Latency)
		}
	}
}

// each visits the trials of a scenario that gave a result, those of short blocks
// too: what is counted is counted whole.
func (a *arranged) each(scenario int, visit func(*record.Trial)) {
	for _, t := range a.trials {
		if t.Scenario == scenario {
			visit(t)
		}
	}
}

// level is what one block says of a metric of a scenario; false where it says
// nothing.
func (b *block) level(m *Metric, scenario int) (float64, bool) {
	var num, den, most float64
	switch m.Kind {
	case Quantile:
		h := b.latency[scenario]
		if !enough(h, m.Q) {
			return 0, false
		}
		v := h.Quantile(m.Q).Seconds()
		return v, v > 0
	default:
		for _, r := range b.rounds {
			if t := r[scenario]; t != nil {
				n, d := m.Of(b.header, t)
				num, den, most = num+n, den+d, max(most, n)
			}
		}
	}
	if m.Kind == Peak {
		return most, positive(most)
	}
	return num / den, positive(num) && positive(den)
}

// enough says whether a quantile of h is more than the luck of a few calls. The
// tolerance is for quantiles that binary fractions do not hold.
func enough(h record.Histogram, q float64) bool {
	return float64(h.Count())*(1-q) >= leastBeyond-1e-6
}

// levels is a metric of a scenario, by block, as logarithms.
func (a *arranged) levels(m *Metric, scenario int) sample {
	var out sample
	for i := range a.blocks {
		if v, ok := a.blocks[i].level(m, scenario); ok {
			out = append(out, math.Log(v))
		}
	}
	return out
}

// ratios is the logarithm of a scenario's metric over the baseline's, by block.
// A Rate is paired round by round, so that what drifts slower than a round
// cancels; a round where either trial is missing is left out.
func (a *arranged) ratios(m *Metric, scenario, baseline int) sample {
	var out sample
	for i := range a.blocks {
		b := &a.blocks[i]
		if m.Kind == Rate {
			if v, ok := b.paired(m, scenario, baseline); ok {
				out = append(out, v)
			}
			continue
		}
		v, ok := b.level(m, scenario)
		w, also := b.level(m, baseline)
		if ok && also {
			out = append(out, math.Log(v/w))
		}
	}
	return out
}

// paired is the mean of the rounds' log ratios.
func (b *block) paired(m *Metric, scenario, baseline int) (float64, bool) {
	var sum float64
	n := 0
	for _, r := range b.rounds {
		v, ok := b.rate(r, m, scenario)
		w, also := b.rate(r, m, baseline)
		if ok && also {
			sum += math.Log(v / w)
			n++
		}
	}
	return sum / float64(n), n > 0
}

// rate is a Rate of one trial; false where there is none to take a log of.
func (b *block) rate(r round, m *Metric, scenario int) (float64, bool) {
	if r[scenario] == nil {
		return 0, false
	}
	num, den := m.Of(b.header, r[scenario])
	return num / den, positive(num) && positive(den)
}

// leftOut counts the rounds that a scenario is not compared in, be it in
// throughput alone.
func (a *arranged) leftOut(scenario, baseline int) int {
	gone := func(t *record.Trial) bool { return t == nil || thin(&a.run.Header, t) }
	n := 0
	for _, b := range a.blocks {
		for _, r := range b.rounds {
			if gone(r[scenario]) || gone(r[baseline]) {
				n++
			}
		}
	}
	return n
}

// fewest is the least number of latencies of a block.
func (a *arranged) fewest(scenario int) int64 {
	least := int64(math.MaxInt64)
	for _, b := range a.blocks {
		least = min(least, b.latency[scenario].Count())
	}
	return least
}

func positive(v float64) bool { return v > 0 && !math.IsInf(v, 1) }
