package stats

import (
	"fmt"
	"math"
	"slices"

	"github.com/tare-bench/tare/record"
)

// CodecMetric is one thing measured of codecs, by item of a message.
type CodecMetric struct {
	Name  string // in JSON
	Unit  string // base unit: "s", "B" or "1"
	Label string // heads a column
	// Claim is the verdict as a sentence, with the codec, the ratio, the baseline
	// and the message; "" of what is not judged.
	Claim string
	// Steps are those whose Of it sums, over their repetitions; none for the bytes
	// of the encoding.
	Steps []string
	Of    func(record.Cost) float64
	// Counted says that it has no noise worth an interval.
	Counted bool
}

var (
	outSteps = []string{record.StepNative, record.StepEncode}
	inSteps  = []string{record.StepDecode, record.StepPlain}
)

func cpuOf(c record.Cost) float64     { return c.CPUS }
func allocsOf(c record.Cost) float64  { return c.Allocs }
func garbageOf(c record.Cost) float64 { return c.Bytes }

// CodecMetrics are all the metrics of codecs, in the order in which they are shown.
// What a service pays is the way from plain values to bytes, or back; its parts
// are not judged, since each verdict more widens the intervals of all.
var CodecMetrics = []CodecMetric{
	{Name: "bytes", Unit: "B", Label: "bytes", Claim: "%s takes %s the bytes of %s for a %s", Counted: true},
	{Name: "write", Unit: "s", Label: "write", Claim: "%s takes %s the CPU of %s to write a %s", Steps: outSteps, Of: cpuOf},
	{Name: "write_map", Unit: "s", Label: "of it map", Steps: outSteps[:1], Of: cpuOf},
	{Name: "encode", Unit: "s", Label: "of it encode", Steps: outSteps[1:], Of: cpuOf},
	{Name: "read", Unit: "s", Label: "read", Claim: "%s takes %s the CPU of %s to read a %s", Steps: inSteps, Of: cpuOf},
	{Name: "decode", Unit: "s", Label: "of it decode", Steps: inSteps[:1], Of: cpuOf},
	{Name: "read_map", Unit: "s", Label: "of it map", Steps: inSteps[1:], Of: cpuOf},
	{Name: "write_allocs", Unit: "1", Label: "allocs to write", Steps: outSteps, Of: allocsOf, Counted: true},
	{Name: "read_allocs", Unit: "1", Label: "allocs to read", Steps: inSteps, Of: allocsOf, Counted: true},
	{Name: "write_garbage", Unit: "B", Label: "garbage to write", Steps: outSteps, Of: garbageOf, Counted: true},
	{Name: "read_garbage", Unit: "B", Label: "garbage to read", Steps: inSteps, Of: garbageOf, Counted: true},
}

// CodecAnalysis is what a run of codecs means.
type CodecAnalysis struct {
	Run                         *record.CodecRun
	Confidence                  float64 // of all verdicts together, and of each level
	Blocks, ShortBlocks, Rounds int     // of blocks that were cut short, none enters an estimate
	MeasuredS                   float64 // CPU on the clock
	Levels                      []CodecLevel
	Comparisons                 []CodecComparison
	Warnings, Notes             []Finding
}

// CodecLevel is a metric of a contender with a kind of message, by item.
type CodecLevel struct {
	Metric         *CodecMetric
	Message, Codec int
	Interval
}

// CodecComparison is one judged metric of one codec against the baseline's.
type CodecComparison struct {
	Metric         *CodecMetric
	Message, Codec int
	Ratio          Interval
	Confidence     float64 // of Ratio by itself, as in Comparison
	Verdict        Verdict
	Detects        float64 // the least difference that could be told, as a share; of Unclear with an interval
	Reason         string  // of Unclear without one
	blocks         sample
}

// codecTrials are the trials of whole blocks, by block and round.
type codecTrials struct {
	run    *record.CodecRun
	blocks [][]map[[2]int]*record.CodecTrial // by message and codec
	short  int
}

func arrangeCodecs(run *record.CodecRun) (*codecTrials, error) {
	a := &codecTrials{run: run}
	rounds := make(map[int]map[int]map[[2]int]*record.CodecTrial)
	for i := range run.Trials {
		t := &run.Trials[i]
		if rounds[t.Block] == nil {
			rounds[t.Block] = make(map[int]map[[2]int]*record.CodecTrial)
		}
		if rounds[t.Block][t.Round] == nil {
			rounds[t.Block][t.Round] = make(map[[2]int]*record.CodecTrial)
		}
		rounds[t.Block][t.Round][[2]int{t.Message, t.Codec}] = t
	}
	for _, b := range sortedKeys(rounds) {
		var whole []map[[2]int]*record.CodecTrial
		for _, r := range sortedKeys(rounds[b]) {
			if len(rounds[b][r]) == len(run.Header.Messages)*len(run.Header.Codecs) {
				whole = append(whole, rounds[b][r])
			}
		}
		if 2*len(whole) < max(1, run.Header.Rounds) {
			a.short++
			continue
		}
		a.blocks = append(a.blocks, whole)
	}
	if len(a.blocks) == 0 {
		return nil, fmt.Errorf("analyse run: none of its %s is whole; measure for longer", Counted(len(rounds), "block"))
	}
	return a, nil
}

func sortedKeys[V any](m map[int]V) []int {
	var keys []int
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// AnalyzeCodecs says what a run of codecs means. One without a whole block is an
// error.
func AnalyzeCodecs(run *record.CodecRun) (*CodecAnalysis, error) {
	a, err := arrangeCodecs(run)
	if err != nil {
		return nil, err
	}
	out := &CodecAnalysis{Run: run, Confidence: usualConfidence, Blocks: len(a.blocks), ShortBlocks: a.short}
	for _, b := range a.blocks {
		out.Rounds += len(b)
	}
	for _, t := range run.Trials {
		for _, c := range t.Steps {
			out.MeasuredS += c.CPUS
		}
	}
	base := slices.IndexFunc(run.Header.Codecs, func(c record.CodecContender) bool { return c.Name == run.Header.Baseline })
	for m := range run.Header.Messages {
		for k, contender := range run.Header.Codecs {
			for i := range CodecMetrics {
				metric := &CodecMetrics[i]
				out.Levels = append(out.Levels, CodecLevel{metric, m, k, a.level(metric, m, k, out.Confidence)})
				if metric.Claim != "" && k != base && contender.Name != run.Header.Limit {
					out.Comparisons = append(out.Comparisons, a.open(metric, m, k, base))
				}
			}
		}
	}
	judgeCodecs(out.Comparisons, 1-out.Confidence, run.Header.Margin)
	out.Warnings, out.Notes = auditCodecs(out)
	return out, nil
}

// items are those of a message; one where it does not say.
func (a *codecTrials) items(message int) float64 {
	return float64(max(1, a.run.Header.Messages[message].Items))
}

// of is a metric of a trial, by item.
func (a *codecTrials) of(m *CodecMetric, t *record.CodecTrial) float64 {
	var sum float64
	for _, s := range m.Steps {
		if c := t.Steps[s]; c.N > 0 {
			sum += m.Of(c) / float64(c.N)
		}
	}
	return sum / a.items(t.Message)
}

func (a *codecTrials) size(message, codec int) float64 {
	for _, s := range a.run.Sizes {
		if s.Message == message && s.Codec == codec {
			return s.Bytes / a.items(message)
		}
	}
	return math.NaN()
}

// means is a metric by block.
func (a *codecTrials) means(m *CodecMetric, message, codec int) (out []float64) {
	for _, b := range a.blocks {
		var sum float64
		for _, r := range b {
			sum += a.of(m, r[[2]int{message, codec}])
		}
		out = append(out, sum/float64(len(b)))
	}
	return out
}

func (a *codecTrials) level(m *CodecMetric, message, codec int, confidence float64) Interval {
	if len(m.Steps) == 0 {
		return exactly(a.size(message, codec))
	}
	means := a.means(m, message, codec)
	if m.Counted {
		return exactly(sumOf(means) / float64(len(means)))
	}
	var logs sample
	for _, v := range means {
		if positive(v) {
			logs = append(logs, math.Log(v))
		}
	}
	return logs.interval(confidence)
}

func sumOf(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// open gathers what the blocks say of a ratio, paired by round.
func (a *codecTrials) open(m *CodecMetric, message, codec, base int) CodecComparison {
	c := CodecComparison{Metric: m, Message: message, Codec: codec, Ratio: unknown, Verdict: Unclear}
	if len(m.Steps) == 0 {
		c.Ratio, c.Confidence = exactly(a.size(message, codec)/a.size(message, base)), 1
		return c
	}
	for _, b := range a.blocks {
		var sum float64
		for _, r := range b {
			sum += math.Log(a.of(m, r[[2]int{message, codec}]) / a.of(m, r[[2]int{message, base}]))
		}
		if mean := sum / float64(len(b)); !math.IsNaN(mean) && !math.IsInf(mean, 0) {
			c.blocks = append(c.blocks, mean)
		}
	}
	if n := len(c.blocks); n < MinBlocks {
		c.Reason = fmt.Sprintf("a verdict takes %s; %s", Counted(MinBlocks, "block"), thereAre(n))
		if n > 0 {
			c.Ratio = Interval{0, c.blocks.interval(0).Value, math.Inf(1)}
		}
	}
	return c
}

// judgeCodecs gives every comparison its interval and its verdict, as one family.
func judgeCodecs(all []CodecComparison, alpha, margin float64) {
	var family []*CodecComparison
	var p, weight []float64
	for i := range all {
		switch c := &all[i]; {
		case c.Reason != "" || !c.Metric.Counted && len(c.blocks) == 0:
		case c.Metric.Counted:
			c.Verdict = verdict(c.Ratio, margin)
		default:
			family, p, weight = append(family, c), append(p, c.blocks.p()), append(weight, 1)
		}
	}
	for i, level := range holm(p, weight, alpha) {
		c := family[i]
		c.Confidence = 1 - level
		c.Ratio = c.blocks.interval(c.Confidence)
		c.Verdict = verdict(c.Ratio, margin)
		if c.Verdict == Unclear {
			c.Detects = math.Expm1(c.blocks.halfWidth(c.Confidence))
		}
	}
}
