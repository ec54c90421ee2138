package report_test

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
	"github.com/tare-bench/tare/report/csv"
	"github.com/tare-bench/tare/report/json"
	"github.com/tare-bench/tare/report/markdown"
	"github.com/tare-bench/tare/report/text"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/stats/statstest"
)

// swept is the stored run as three points of a sweep, with two stacks: the
// second's servers take so many times the CPU at each.
func swept(t testing.TB) *report.Sweep {
	t.Helper()
	var points []*report.Document
	for i, cpu := range []float64{1.6, 1.25, 1} {
		run := storedRun(t)
		run.Header.Scenarios = run.Header.Scenarios[:2]
		run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool { return t.Scenario > 1 })
		for j := range run.Trials {
			if trial := &run.Trials[j]; trial.Scenario == 1 {
				for k := range trial.Processes {
					trial.Processes[k].CPUUserS *= cpu
					trial.Processes[k].CPUSystemS *= cpu
				}
			}
		}
		value := fmt.Sprint([]int{1, 10, 100}[i])
		run.Header.Params = map[string]string{"rows": value}
		run.Header.Sweep = &record.Sweep{Axis: "param.rows", Value: value, Index: i, Of: 3, Ordered: true}
		points = append(points, document(t, run))
	}
	return report.NewSweep(points)
}

func TestSweepGoldens(t *testing.T) {
	s := swept(t)
	for name, r := range map[string]report.Renderer{
		"sweep.txt":        text.Renderer{Width: 120},
		"sweep-narrow.txt": text.Renderer{Width: 60},
		"sweep.md":         markdown.Renderer{},
		"sweep.json":       json.Renderer{},
		"sweep.csv":        csv.Renderer{},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, renderSweep(t, r, s)) })
	}
}

func renderSweep(t testing.TB, r report.Renderer, s *report.Sweep) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.RenderSweep(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// verdicts makes a sweep of which only the verdicts on one metric are known: a
// letter for each point, of higher, lower, same, unclear (the same without an
// interval is n), withheld, - for none.
func verdicts(metric, letters string) *report.Sweep {
	ratios := map[rune]float64{'h': 1.2, 'l': 0.8, 's': 1, 'u': 1.05, 'n': 1.05, 'w': 0}
	words := map[rune]stats.Verdict{'h': stats.Higher, 'l': stats.Lower, 's': stats.Same, 'u': stats.Unclear, 'n': stats.Unclear, 'w': stats.Withheld}
	var points []*report.Document
	for i, letter := range letters {
		c := report.Comparison{Stack: "b+x", Baseline: "a+x", Metric: metric, Verdict: string(words[letter])}
		if ratio := ratios[letter] + float64(i)/100; letter != 'w' {
			c.Ratio.Value = &ratio
		}
		if letter == 'n' {
			c.Ratio.Reason = "a verdict takes 5 blocks; there is 1"
		}
		points = append(points, &report.Document{
			Baseline: "a+x", Scenarios: []report.Scenario{{Stack: "a+x"}, {Stack: "b+x"}},
			Metrics:     []report.Metric{{Name: metric, Headline: true}},
			Comparisons: slices.DeleteFunc([]report.Comparison{c}, func(report.Comparison) bool { return letter == '-' }),
			Conditions:  report.Conditions{Sweep: &record.Sweep{Axis: "in-flight", Value: fmt.Sprint(1 << i), Index: i, Of: len(letters), Ordered: true}},
		})
	}
	return report.NewSweep(points)
}

func TestSweepSentences(t *testing.T) {
	for _, c := range []struct{ verdicts, want string }{
		{"hsl", "b+x costs its servers more CPU per call than a+x at in-flight=1 (1.20x); less at 4 (0.82x); same at 2 (1.01x). It turns between 1 and 4."},
		{"hl", "b+x costs its servers more CPU per call than a+x at in-flight=1 (1.20x); less at 2 (0.81x). It turns between 1 and 2."},
		{"hlll", "b+x costs its servers more CPU per call than a+x at in-flight=1 (1.20x); less from 2 on (0.81x at 2, 0.83x at 8). It turns between 1 and 2."},
		{"llh", "b+x costs its servers less CPU per call than a+x up to in-flight=2 (0.80x at 1, 0.81x at 2); more at 4 (1.22x). It turns between 2 and 4."},
		{"hlh", "b+x costs its servers more CPU per call than a+x at in-flight=1 (1.20x); less at 2 (0.81x); more at 4 (1.22x). It turns between 1 and 2. It turns back between 2 and 4."},
		{"lll", "b+x costs its servers less CPU per call than a+x at every value of in-flight (0.80x at 1, 0.82x at 4)."},
		{"ssss", "b+x and a+x in server CPU per call: same at every value of in-flight (1.00x at 1, 1.03x at 8)."},
		{"ull", "b+x costs its servers less CPU per call than a+x from in-flight=2 on (0.81x at 2, 0.82x at 4); unclear at 1 (1.05x)."},
		{"lwl", "b+x costs its servers less CPU per call than a+x at in-flight=1 (0.80x); less at 4 (0.82x); withheld at 2."},
		{"sllu", "b+x costs its servers less CPU per call than a+x from in-flight=2 to 4 (0.81x at 2, 0.82x at 4); same at 1 (1.00x); unclear at 8 (1.08x)."},
		{"l-l", "b+x costs its servers less CPU per call than a+x at in-flight=1 (0.80x); less at 4 (0.82x)."},
		{"lnu", "b+x costs its servers less CPU per call than a+x at in-flight=1 (0.80x); unclear at 4 (1.07x); no verdict at 2 (1.06x)."},
		{"nn", "b+x and a+x in server CPU per call: no verdict at every value of in-flight (1.05x at 1, 1.06x at 2)."},
		{"ws", "b+x and a+x in server CPU per call: same at in-flight=2 (1.01x); withheld at 1."},
	} {
		s := verdicts("server_cpu_per_call", c.verdicts)
		if len(s.Summary) != 1 || s.Summary[0] != c.want {
			t.Errorf("%s: got  %q,\nwant %q", c.verdicts, s.Summary, c.want)
		}
	}
	if s := verdicts("throughput", "lh"); s.Summary[0] != "b+x carries fewer calls than a+x at in-flight=1 (0.80x); more at 2 (1.21x). It turns between 1 and 2." {
		t.Errorf("got %q", s.Summary)
	}
	if s := verdicts("latency_p50", "lh"); !strings.HasPrefix(s.Summary[0], "The median call of b+x takes less time than that of a+x at in-flight=1") {
		t.Errorf("got %q", s.Summary)
	}
}

func TestWhatIsSaidOfAnAxisWithoutOrder(t *testing.T) {
	for letters, want := range map[string]string{
		"hll": "b+x costs its servers more CPU per call than a+x at in-flight=1 (1.20x); less at 2, 4 (0.81x at 2, 0.82x at 4).",
		"lhl": "b+x costs its servers less CPU per call than a+x at in-flight=1, 4 (0.80x at 1, 0.82x at 4); more at 2 (1.21x).",
		"lll": "b+x costs its servers less CPU per call than a+x at every value of in-flight (0.80x at 1, 0.81x at 2, 0.82x at 4).",
	} {
		s := verdicts("server_cpu_per_call", letters)
		for _, p := range s.Points {
			p.Document.Conditions.Sweep.Ordered = false
		}
		s = report.NewSweep(documents(s))
		if s.Summary[0] != want || len(s.Crossovers) > 0 {
			t.Errorf("%s: got %q, %v", letters, s.Summary, s.Crossovers)
		}
	}
}

func TestASweepThatIsNotWholeSpeaksOfWhatWasMeasured(t *testing.T) {
	all := documents(verdicts("server_cpu_per_call", "lllhh"))
	s := report.NewSweep(all[:2])
	if want := "b+x costs its servers less CPU per call than a+x at every value of in-flight that was measured (0.80x at 1, 0.81x at 2)."; s.Summary[0] != want {
		t.Errorf("got %q", s.Summary)
	}
	all[4].Notes = []report.Finding{{Code: "not_finished", Text: "the run ended early"}, {Code: "loopback", Text: "one machine"}}
	s = report.NewSweep(all)
	if want := "b+x costs its servers less CPU per call than a+x from in-flight=1 to 4 (0.80x at 1, 0.82x at 4); more from 8 to 16 (1.23x at 8, 1.24x at 16). It turns between 4 and 8."; s.Summary[0] != want {
		t.Errorf("got %q", s.Summary)
	}
	if told := s.Told(s.Warnings); len(told) != 1 || told[0].Stack != "at in-flight=16:" || strings.TrimSpace(told[0].Text) != "the run ended early" {
		t.Errorf("warnings %+v", told)
	}
	if len(s.Notes) != 1 || s.Notes[0].Code != "loopback" {
		t.Errorf("notes %+v", s.Notes)
	}
}

func TestCrossoversAreWhereAVerdictTurns(t *testing.T) {
	for letters, want := range map[string]string{
		"hl":     "1-2",
		"hsul":   "1-8",
		"hwl":    "1-4",
		"hhll":   "2-4",
		"hlh":    "1-2 2-4",
		"hsh":    "",
		"lss":    "",
		"suw":    "",
		"shslsh": "2-8 8-32",
	} {
		var got []string
		for _, c := range verdicts("server_cpu_per_call", letters).Crossovers {
			got = append(got, c.From+"-"+c.To)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s turns at %q, want %q", letters, got, want)
		}
	}
}

func TestASimulatedSweepTurnsWhereItsTruthDoes(t *testing.T) {
	var points []*report.Document
	costs := []time.Duration{130, 120, 80, 60} // µs, of the second stack; the first takes 100
	for i, cost := range costs {
		of := func(name string, cpu time.Duration) statstest.Stack {
			return statstest.Stack{Name: name, CallsPerS: 9000, Median: time.Millisecond, ServerCPU: cpu * time.Microsecond, DriverCPU: time.Microsecond, Sent: 100, Received: 100}
		}
		run := statstest.Experiment{
			Stacks: []statstest.Stack{of("a+x", 100), of("b+x", cost)}, Blocks: 8, Rounds: 20, Slice: 100 * time.Millisecond,
			Noise: statstest.Noise{Drift: 0.05, RestartCPU: 0.02, CPU: 0.08}, Seed: uint64(i),
		}.Run()
		run.Header.Sweep = &record.Sweep{Axis: "in-flight", Value: fmt.Sprint(1 << i), Index: i, Of: len(costs), Ordered: true}
		run.Header.InFlight = 1 << i
		points = append(points, document(t, run))
	}
	slices.Reverse(points) // the order in which they come does not matter
	s := report.NewSweep(points)
	want := []report.Crossover{{Metric: "server_cpu_per_call", Stack: "b+x", Baseline: "a+x", From: "2", To: "4", Before: "higher"}}
	if diff := cmp.Diff(want, s.Crossovers); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(s.Holds, "in flight") || !strings.Contains(s.Holds, "rows=10") {
		t.Errorf("it holds for %q, and in flight is what differs", s.Holds)
	}
}

func TestWarningsOfPointsAreListedOnce(t *testing.T) {
	s := verdicts("server_cpu_per_call", "hll")
	f := func(text string) []report.Finding {
		return []report.Finding{{Code: "errors", Stack: "b+x", Text: text}}
	}
	s.Points[0].Document.Warnings = f("3 failed")
	s.Points[2].Document.Warnings = f("5 failed")
	for i := range s.Points {
		s.Points[i].Document.Notes = []report.Finding{{Code: "loopback", Text: "one machine"}}
	}
	s = report.NewSweep(documents(s))
	want := []report.Finding{{Code: "errors", Stack: "at in-flight=1, 4:", Text: "b+x 3 failed (the figures are those at 1)"}}
	if diff := cmp.Diff(want, s.Told(s.Warnings)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]report.Finding{{Code: "loopback", Text: "one machine"}}, s.Told(s.Notes)); diff != "" {
		t.Error(diff)
	}
}

func documents(s *report.Sweep) (out []*report.Document) {
	for _, p := range s.Points {
		out = append(out, p.Document)
	}
	return out
}

func TestPointsThatAreMissingAreSaid(t *testing.T) {
	s := report.NewSweep(documents(verdicts("server_cpu_per_call", "hlll"))[:2])
	if told := s.Told(s.Warnings); len(told) != 1 || told[0].Text != "2 of 4 values gave a result" {
		t.Errorf("got %+v", told)
	}
}

func TestASweepOverRatesShowsNoCapacity(t *testing.T) {
	s := swept(t)
	for i, p := range s.Points {
		p.Document.Conditions.Rate = []float64{1000, 2000, 0}[i] // the last is a closed loop
	}
	var titles []string
	for _, table := range s.Tables()[1:] {
		titles = append(titles, table.Title)
		if got := []string{table.Rows[0][1], table.Rows[2][1]}; table.Head[1] != "rate" || !slices.Equal(got, []string{"1,000", "closed loop"}) {
			t.Errorf("%s: rates %q", table.Title, got)
		}
	}
	if want := []string{"server CPU", "latency p50", "latency p99"}; !slices.Equal(titles, want) {
		t.Errorf("tables %q, want %q", titles, want)
	}
}

func TestGoodputIsHeldAgainstTheClosedLoop(t *testing.T) {
	s := swept(t)
	for i, p := range s.Points {
		d := p.Document
		d.Conditions.Rate = []float64{1000, 40_000, 0}[i] // the last is a closed loop
		for j := range d.Scenarios {
			one := &d.Scenarios[j]
			low, carried, high := 900.0, []float64{1000, 9500, 10_000}[i], 10_500.0
			one.Metrics["throughput"] = report.Value{Unit: "calls/s", Low: &low, Value: &carried, High: &high}
			one.Calls, one.NotStarted, one.Errors = 900, 0, nil
			if i == 1 {
				one.NotStarted = 100
				one.Errors = map[string]int{"resource_exhausted": 600, "unavailable": 50, "deadline_exceeded": 20, "reset": 10}
			}
		}
	}
	table := s.Tables()[0]
	want := [][]string{
		{"1", "rest+json", "1,000", "1,000 (900 to 10,500)", "0.100x (0.086 to 11.667)", "0", "0", "0", "0"},
		{"10", "grpc+proto", "40,000", "9,500 ±11 %", "0.950x (0.086 to 11.667)", "65.0", "2.00", "1.00", "10.0"},
	}
	if diff := cmp.Diff(want, [][]string{table.Rows[0], table.Rows[3]}); diff != "" || table.Title != "good-put" {
		t.Errorf("%s: %s", table.Title, diff)
	}
}

func TestValuesWithCommasAreToldApart(t *testing.T) {
	for want, values := range map[string][]string{"1, 4": {"1", "4"}, "1gbit,1ms / 1mbit,1ms": {"1gbit,1ms", "1mbit,1ms"}} {
		s := verdicts("server_cpu_per_call", "lh")
		for i, p := range s.Points {
			p.Document.Conditions.Sweep.Value = values[i]
		}
		if got := report.NewSweep(documents(s)).Title(); !strings.HasPrefix(got, "sweep of in-flight over "+want+"; ") {
			t.Errorf("%q: got %q", values, got)
		}
	}
}

func TestARatioWithoutAnIntervalStandsAlone(t *testing.T) {
	for letter, want := range map[string]string{"u": "1.05x unclear", "n": "1.05x no verdict", "w": "withheld"} {
		if got := verdicts("server_cpu_per_call", letter).Tables()[0].Rows[0][2]; got != want {
			t.Errorf("%s: %q, want %q", letter, got, want)
		}
	}
}

func TestASweepSaysTheLoadThatItsPointsShare(t *testing.T) {
	for name, c := range map[string]struct {
		differ func(c *report.Conditions, i int)
		want   string
	}{
		"all of it":   {func(*report.Conditions, int) {}, "closed loop, 16 in flight, native driver"},
		"the callers": {func(c *report.Conditions, i int) { c.Load += fmt.Sprint(", across ", i) }, "closed loop, 16 in flight, native driver"},
		"a link": {func(c *report.Conditions, i int) {
			c.Load, c.InFlight, c.Link = fmt.Sprint(i), i, &record.Link{RoundTripS: 0.01, Kind: record.Relay}
		}, "native driver, across 10 ms of round trip (relay)"},
		"links": {func(c *report.Conditions, i int) {
			c.Load, c.Link = fmt.Sprint(i), &record.Link{RoundTripS: float64(i), Kind: record.Relay}
		}, "closed loop, 16 in flight, native driver"},
		"the driver":   {func(c *report.Conditions, i int) { c.Load, c.InFlight = fmt.Sprint(i), i }, "native driver"},
		"no such loop": {func(c *report.Conditions, i int) { c.Load, c.Rate = fmt.Sprint(i), float64(i) }, "native driver"},
	} {
		s := swept(t)
		for i, p := range s.Points {
			c.differ(&p.Document.Conditions, i)
		}
		if got := report.NewSweep(documents(s)); got.Load != c.want || !strings.HasSuffix(got.Title(), "; "+c.want) {
			t.Errorf("%s: %q, %q", name, got.Load, got.Title())
		}
	}
}

func TestSweepKeepsItsWidth(t *testing.T) {
	s := swept(t)
	for width := 60; width <= 160; width += 10 {
		for i, line := range strings.Split(renderSweep(t, text.Renderer{Width: width}, s), "\n") {
			if n := len([]rune(line)); n > width {
				t.Errorf("width %d, line %d takes %d: %s", width, i+1, n, line)
			}
		}
	}
}

func TestJSONOfASweepHoldsWholeDocuments(t *testing.T) {
	s := swept(t)
	var back report.Sweep
	if err := stdjson.Unmarshal([]byte(renderSweep(t, json.Renderer{}, s)), &back); err != nil {
		t.Fatal(err)
	}
	if len(back.Points) != 3 || render(t, text.Renderer{Width: 100}, back.Points[1].Document) != render(t, text.Renderer{Width: 100}, s.Points[1].Document) {
		t.Error("a point's document is not whole")
	}
}

func TestBoundsAreShownByPoint(t *testing.T) {
	s := verdicts("server_cpu_per_call", "hl")
	for i := range s.Points {
		s.Points[i].Document.Bounds = []report.Bound{{Bound: "b+x.errors > 0", Outcome: []string{"kept", "broken"}[i]}}
	}
	want := [][]string{{"1", "b+x.errors > 0", "–", "kept"}, {"2", "b+x.errors > 0", "–", "broken"}}
	if diff := cmp.Diff(want, s.BoundsTable().Rows); diff != "" {
		t.Error(diff)
	}
}

func TestAMatchedRateIsSaidInWords(t *testing.T) {
	run := simulated()
	run.Header.Rate, run.Header.Arrivals, run.Header.RateShare = 4300, "poisson", 0.5
	run.Header.Pilot = &record.Pilot{Stack: "rest+json", Throughput: 8612.3}
	want := "open loop, poisson arrivals at 4,300 calls/s (50 % of the 8,612 that rest+json, the slowest stack, carried in a pilot), up to 16 in flight, native driver"
	if got := document(t, run).Conditions.Load; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// golden holds text against a file below testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it anew)", diff)
	}
}
