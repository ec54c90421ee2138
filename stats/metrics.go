package stats

import (
	"strings"

	"github.com/tare-bench/tare/record"
)

// Kind is how a metric becomes a number.
type Kind uint8

// The kinds of metric.
const (
	Rate     Kind = iota // a ratio of sums, in each trial; compared round by round
	Quantile             // of the latencies of a block, merged
	Peak                 // the most that a block's trials show
	Exact                // a ratio of sums over the run: nothing to estimate
	Count                // a sum over the run, shown and not compared
	Extreme              // the most that the run shows, shown and not compared
)

// Metric is one thing measured. Everything that is said of it stands here, in the
// words of a run whose calls are its unit; In gives those of another.
type Metric struct {
	Name  string // in JSON
	Unit  string // base unit: "s", "B", "calls/s" or "1"
	Label string // heads a column
	Per   string // "call" where it is counted for each, else ""
	Noun  string // in a sentence: "the ... of A"
	// Claim is the verdict as a sentence, with the stack, the ratio and the
	// baseline.
	Claim string
	// Than compares two stacks without a figure, with the stack, Less or More,
	// and the baseline. A metric that is no headline has none of the three.
	Than, Less, More string
	HigherBetter     bool
	Neutral          bool // neither way is better
	PerItem          bool // by the item, where the run's calls move some in bulk
	Kind             Kind
	// Primary takes half of the error that the family of verdicts is allowed.
	Primary bool
	// Judged says whether there is a verdict: every one more widens the
	// intervals of all.
	Judged func(record.Header) bool
	// Headline says whether a run that stops on precision waits for it.
	Headline func(record.Header) bool
	// ByCall says of a Count that how many there are a call is shown too.
	ByCall bool
	// Of gives numerator and denominator in one trial that has a Load. It is 0
	// over 0 where the trial does not tell. Extreme and Peak use the first.
	Of func(*record.Header, *record.Trial) (float64, float64)
	// Q is the quantile, of that kind.
	Q float64
}

// In gives the metric in the words of a run: by the item that its calls move, and
// of streams where they are its calls.
func (m *Metric) In(h record.Header) Metric {
	told := *m
	var unit string
	switch {
	case m.PerItem && h.Item != "":
		unit = h.Item
	case m.Kind == Quantile && h.Streams:
		unit = "stream"
	default:
		return told
	}
	words := strings.NewReplacer("caller", "caller", "call", unit)
	for _, text := range []*string{&told.Unit, &told.Per, &told.Noun, &told.Claim, &told.Than} {
		*text = words.Replace(*text)
	}
	return told
}

// Compared says whether stacks have a ratio of it.
func (m *Metric) Compared() bool { return m.Kind != Count && m.Kind != Extreme }

func always(record.Header) bool   { return true }
func never(record.Header) bool    { return false }
func closed(h record.Header) bool { return h.Rate == 0 }
func open(h record.Header) bool   { return h.Rate > 0 }

// inBulk is a closed loop whose calls move items.
func inBulk(h record.Header) bool { return h.Item != "" && closed(h) }

// byWork is a run whose stacks all do the same work.
func byWork(h record.Header) bool { return h.Calls > 0 }

// driverVaries is a run whose driver uses the stacks that are compared, as far
// as it tells.
func driverVaries(h record.Header) bool { return h.VariedTier == nil || *h.VariedTier == 0 }

// Metrics are all the metrics, in the order in which they are shown.
var Metrics = []Metric{
	{
		Name: "server_cpu_per_call", Unit: "s", Label: "server CPU", Per: "call", Noun: "server CPU per call",
		Claim: "%s costs its servers %s the CPU per call of %s",
		Than:  "%s costs its servers %s CPU per call than %s", Less: "less", More: "more",
		PerItem: true, Kind: Rate, Primary: true, Judged: always, Headline: always, Of: serverCPU,
	},
	{
		// An open loop sets it, so that there it is no finding.
		Name: "throughput", Unit: "calls/s", Label: "throughput", Noun: "calls per second",
		Claim: "%s carries %s the calls of %s",
		Than:  "%s carries %s calls than %s", Less: "fewer", More: "more",
		HigherBetter: true, PerItem: true, Kind: Rate, Judged: closed, Headline: closed, Of: throughput,
	},
	{
		// More of them are no merit: a wordier codec moves more for the same work.
		Name: "bytes_per_second", Unit: "B/s", Label: "bytes moved", Noun: "bytes moved per second",
		Claim:   "%s moves %s the bytes per second of %s",
		Neutral: true, Kind: Rate, Judged: inBulk, Headline: never, Of: moved,
	},
	{
		Name: "latency_p50", Unit: "s", Label: "latency p50", Noun: "median latency",
		Claim: "the median call of %s takes %s the time of %s",
		Than:  "the median call of %s takes %s time than that of %s", Less: "less", More: "more",
		Kind: Quantile, Q: 0.50, Judged: always, Headline: open,
	},
	{
		Name: "latency_p90", Unit: "s", Label: "latency p90", Noun: "90th percentile of latency",
		Kind: Quantile, Q: 0.90, Judged: never, Headline: never,
	},
	{
		Name: "latency_p99", Unit: "s", Label: "latency p99", Noun: "99th percentile of latency",
		Claim: "the 99th percentile of latency of %s is %s that of %s",
		Kind:  Quantile, Q: 0.99, Judged: always, Headline: never,
	},
	{
		Name: "latency_p999", Unit: "s", Label: "latency p99.9", Noun: "99.9th percentile of latency",
		Kind: Quantile, Q: 0.999, Judged: never, Headline: never,
	},
	{
		Name: "latency_max", Unit: "s", Label: "latency max", Noun: "longest latency",
		Kind: Extreme, Judged: never, Headline: never, Of: longest,
	},
	{
		Name: "driver_cpu_per_call", Unit: "s", Label: "driver CPU", Per: "call", Noun: "driver CPU per call",
		Claim:   "%s costs its caller %s the CPU per call of %s",
		PerItem: true, Kind: Rate, Judged: driverVaries, Headline: never, Of: driverCPU,
	},
	{
		// Where time ends the work, a faster stack does more of it, and keeps
		// more records.
		Name: "server_peak_rss", Unit: "B", Label: "peak RSS", Noun: "peak memory of the servers",
		Claim: "the servers of %s hold %s the memory at peak of those of %s",
		Kind:  Peak, Judged: byWork, Headline: never, Of: serverRSS,
	},
	{
		Name: "bytes_sent_per_call", Unit: "B", Label: "bytes sent", Per: "call", Noun: "bytes sent per call",
		Claim:   "%s sends %s the bytes per call of %s",
		PerItem: true, Kind: Exact, Judged: always, Headline: never, Of: sent,
	},
	{
		Name: "bytes_received_per_call", Unit: "B", Label: "bytes received", Per: "call", Noun: "bytes received per call",
		Claim:   "%s receives %s the bytes per call of %s",
		PerItem: true, Kind: Exact, Judged: always, Headline: never, Of: received,
	},
	{
		Name: "connections_opened", Unit: "1", Label: "conns", Noun: "connections opened",
		Kind: Count, ByCall: true, Judged: never, Headline: never,
		Of: func(_ *record.Header, t *record.Trial) (float64, float64) { return float64(t.Wire.Conns), 1 },
	},
	{
		Name: "errors", Unit: "1", Label: "errors", Noun: "calls that failed",
		Kind: Count, Judged: never, Headline: never,
		Of: func(_ *record.Header, t *record.Trial) (float64, float64) { return float64(failures(t.Load)), 1 },
	},
}

// Find gives a metric by its name, or nil.
func Find(name string) *Metric {
	for i := range Metrics {
		if Metrics[i].Name == name {
			return &Metrics[i]
		}
	}
	return nil
}

// throughput is not told by a thin trial.
func throughput(h *record.Header, t *record.Trial) (float64, float64) {
	if thin(h, t) {
		return 0, 0
	}
	if h.Item != "" {
		return t.Load.WindowItems, t.Load.WindowS
	}
	return float64(t.Load.WindowCalls), t.Load.WindowS
}

// moved is the bytes of an item, both ways, at the rate of items.
func moved(h *record.Header, t *record.Trial) (float64, float64) {
	if h.Item == "" || t.Load.Items == 0 {
		return 0, 0
	}
	bytes := float64(t.Wire.Sent+t.Wire.Received) / float64(t.Load.Items)
	return bytes * t.Load.WindowItems, t.Load.WindowS
}

// thin says whether so few calls ended in a trial's window that the rate is
// that of the window's ends: in a closed loop, fewer than one for each in flight.
// Items are spread over the time of the calls that move them, so that any say it.
func thin(h *record.Header, t *record.Trial) bool {
	if h.Item != "" && t.Load.Items > 0 {
		return t.Load.WindowItems <= 0
	}
	least := 1
	if h.Rate == 0 {
		least = max(least, h.InFlight)
	}
	return t.Load.WindowCalls < least
}

// serverCPU sums the tiers: a stack may move work from one to another.
func serverCPU(h *record.Header, t *record.Trial) (float64, float64) {
	var sum float64
	for i := 1; i < len(t.Processes); i++ {
		sum += t.Processes[i].CPU()
	}
	return perUnit(h, t, sum)
}

func driverCPU(h *record.Header, t *record.Trial) (float64, float64) {
	if len(t.Processes) == 0 {
		return 0, 0
	}
	return perUnit(h, t, t.Processes[0].CPU())
}

// tierCPU is the part of serverCPU that one process has, counted from 1.
func tierCPU(process int) func(*record.Header, *record.Trial) (float64, float64) {
	return func(h *record.Header, t *record.Trial) (float64, float64) {
		if process >= len(t.Processes) {
			return 0, 0
		}
		return perUnit(h, t, t.Processes[process].CPU())
	}
}

func serverRSS(_ *record.Header, t *record.Trial) (float64, float64) {
	var sum float64
	for i := 1; i < len(t.Processes); i++ {
		sum += float64(t.Processes[i].PeakRSS)
	}
	return sum, 1
}

func sent(h *record.Header, t *record.Trial) (float64, float64) {
	return perUnit(h, t, float64(t.Wire.Sent))
}
func received(h *record.Header, t *record.Trial) (float64, float64) {
	return perUnit(h, t, float64(t.Wire.Received))
}
func longest(_ *record.Header, t *record.Trial) (float64, float64) {
	return t.Load.Latency.Max().Seconds(), 1
}

// perUnit is by the call, failed ones too, or by the item that right calls moved.
// It is 0 over 0 where nothing was measured, as when a server that is not ours
// tells no CPU time, or a driver counts no items.
func perUnit(h *record.Header, t *record.Trial, sum float64) (float64, float64) {
	if sum <= 0 {
		return 0, 0
	}
	n := units(*h, t.Load.Calls, t.Load.Items)
	if n == 0 {
		return 0, 0
	}
	return sum, float64(n)
}

// units are what a run's costs are by.
func units(h record.Header, calls, items int) int {
	if h.Item != "" {
		return items
	}
	return calls
}

func failures(l *record.Load) int {
	n := 0
	for _, c := range l.Errors {
		n += c
	}
	return n
}
