package stats

import (
	"math"

	"github.com/tare-bench/tare/record"
)

// Analysis is what a run means.
type Analysis struct {
	Run         *record.Run
	Confidence  float64 // of all verdicts together, and of each level
	Blocks      int     // that the estimates come from
	ShortBlocks int     // left out of them, with fewer than half of their rounds
	Rounds      int     // of Blocks, as is UnderLoadS
	UnderLoadS  float64
	Scenarios   []Scenario // in the order of the header
	Comparisons []Comparison
	Factorials  []Factorial
	Warnings    []Finding // of something wrong with the run or a stack
	Notes       []Finding // of what every such run leaves unsaid
}

// Scenario is what was seen of one contender.
type Scenario struct {
	record.Scenario
	Levels  []Level    // for each metric that it tells, in the order of Metrics
	Tiers   []Part     // of the server CPU per call, where there is more than one tier
	Phases  *Breakdown // nil where no process tells where its CPU goes
	Tally   Tally
	LeftOut int // rounds that it is not compared in, be it in throughput alone
}

// Level is a metric of a scenario, never to be compared between machines or
// days.
type Level struct {
	Metric *Metric
	// Interval is that of the blocks; of an Exact metric it is the range of
	// the blocks' values, of a Count or an Extreme the value alone.
	Interval
	Reason string // why it is unknown
}

// Part is a tier's share of the server CPU per call.
type Part struct {
	Name string
	Interval
	Varied bool // it answers the calls that the compared stacks carry
	// Ratio is to the baseline's same tier. Its interval is a plain one, and it
	// is not judged. Unknown of the baseline itself.
	Ratio Interval
}

// Tally counts calls and trials.
type Tally struct {
	Calls      int
	OK         int
	Items      int // that right calls moved
	Fed        int // messages made on the clock
	NotStarted int
	Unprepared int
	Errors     map[string]int // by class
	FirstError string
	Trials     int // that gave a result
	Failed     int // that gave none
}

// PerCall is how many items a right call moved, in the mean; 0 where it moved none.
func (t Tally) PerCall() float64 {
	if t.OK == 0 {
		return 0
	}
	return float64(t.Items) / float64(t.OK)
}

// share is the share of calls that failed.
func (t Tally) share() float64 {
	if t.Calls == 0 {
		return 0
	}
	return float64(t.failed()) / float64(t.Calls)
}

func (t Tally) failed() int {
	n := 0
	for _, c := range t.Errors {
		n += c
	}
	return n
}

// Analyze says what a run means. A run in which no trial gave a result is an
// error.
func Analyze(run *record.Run) (*Analysis, error) {
	a, err := arrange(run)
	if err != nil {
		return nil, err
	}
	out := &Analysis{
		Run: run, Confidence: confidence(run.Header), Blocks: len(a.blocks), ShortBlocks: len(a.short),
		UnderLoadS: a.underLoad(),
	}
	for _, b := range a.blocks {
		out.Rounds += len(b.rounds)
	}
	for s, named := range run.Header.Scenarios {
		out.Scenarios = append(out.Scenarios, Scenario{
			Scenario: named, Levels: a.allLevels(s, out.Confidence), Tiers: a.tiers(s, out.Confidence),
			Phases: a.breakdown(s, out.Confidence), Tally: a.tally(s), LeftOut: a.leftOut(s, a.baseline()),
		})
	}
	out.Comparisons = a.compare(out.Confidence)
	out.Factorials = a.factorials(out.Confidence)
	out.Warnings, out.Notes = audit(a, out)
	return out, nil
}

func (a *arranged) allLevels(scenario int, confidence float64) []Level {
	var out []Level
	for i := range Metrics {
		if m := &Metrics[i]; a.applies(m, scenario) {
			out = append(out, a.levelOf(m, scenario, confidence))
		}
	}
	return out
}

func (a *arranged) levelOf(m *Metric, scenario int, confidence float64) Level {
	l := Level{Metric: m, Interval: unknown}
	switch m.Kind {
	case Count:
		var sum float64
		a.each(scenario, func(t *record.Trial) { n, _ := m.Of(&a.run.Header, t); sum += n })
		l.Interval = exactly(sum)
	case Extreme:
		var most float64
		a.each(scenario, func(t *record.Trial) { n, _ := m.Of(&a.run.Header, t); most = max(most, n) })
		l.Interval = exactly(most)
	case Exact:
		l.Interval = Interval{math.Inf(1), a.whole(m, scenario), 0}
		for i := range a.blocks {
			if v, ok := a.blocks[i].level(m, scenario); ok {
				l.Low, l.High = min(l.Low, v), max(l.High, v)
			}
		}
	case Quantile:
		if l.Reason = a.tooFew(m, scenario); l.Reason == "" {
			l.Interval = a.levels(m, scenario).interval(confidence)
		}
	default:
		l.Interval = a.levels(m, scenario).interval(confidence)
	}
	return l
}

// tiers parts the server CPU of a scenario by process, where there are several.
func (a *arranged) tiers(scenario int, confidence float64) []Part {
	names := a.tierNames(scenario)
	base, varied := a.baseline(), a.run.Header.VariedTier
	tells := scenario != base && !a.tooManyErrors([]int{scenario, base})
	var out []Part
	for i, name := range names {
		m := Metric{Kind: Rate, Of: tierCPU(i + 1)}
		part := Part{
			Name: name, Interval: a.levels(&m, scenario).interval(confidence),
			Varied: varied != nil && i == *varied, Ratio: unknown,
		}
		if tells {
			part.Ratio = a.ratios(&m, scenario, base).interval(confidence)
		}
		out = append(out, part)
	}
	return out
}

// tierNames gives the servers of a scenario in the order that a call passes
// them; none where there is only one.
func (a *arranged) tierNames(scenario int) []string {
	var names []string
	for _, b := range a.run.Blocks {
		if scenario < len(b.Peers) {
			for i, p := range b.Peers[scenario] {
				if i > 0 { // the driver
					names = append(names, p.Role)
				}
			}
			break
		}
	}
	if len(names) < 2 {
		return nil
	}
	return names
}

func (a *arranged) tally(scenario int) Tally {
	t := Tally{Errors: make(map[string]int)}
	for _, trial := range a.run.Trials {
		if trial.Scenario != scenario {
			continue
		}
		l := trial.Load
		if trial.Failed != "" || l == nil {
			t.Failed++
			continue
		}
		t.Trials++
		t.Calls += l.Calls
		t.OK += l.OK
		t.Items += l.Items
		t.Fed += l.Fed
		t.NotStarted += l.NotStarted
		t.Unprepared += l.Unprepared
		for class, n := range l.Errors {
			t.Errors[class] += n
		}
		if t.FirstError == "" {
			t.FirstError = l.FirstError
		}
	}
	return t
}
