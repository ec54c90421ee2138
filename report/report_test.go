package report_test

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"flag"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
	"github.com/tare-bench/tare/report/csv"
	"github.com/tare-bench/tare/report/json"
	"github.com/tare-bench/tare/report/markdown"
	"github.com/tare-bench/tare/report/text"
	"github.com/tare-bench/tare/stats"
)

var update = flag.Bool("update", false, "write the goldens anew")

func document(t testing.TB, run *record.Run) *report.Document {
	t.Helper()
	a, err := stats.Analyze(run)
	if err != nil {
		t.Fatal(err)
	}
	return report.New(a)
}

func stored(t testing.TB) *report.Document {
	t.Helper()
	return document(t, storedRun(t))
}

func storedRun(t testing.TB) *record.Run {
	t.Helper()
	f, err := os.Open(results)
	if err != nil {
		t.Fatal(err)
	}
	run, err := record.Read(f)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return run
}

func render(t testing.TB, r report.Renderer, d *report.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Render(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGoldens(t *testing.T) {
	d := stored(t)
	for name, r := range map[string]report.Renderer{
		"wide.txt":    text.Renderer{Width: 120},
		"narrow.txt":  text.Renderer{Width: 60},
		"report.md":   markdown.Renderer{},
		"report.json": json.Renderer{},
		"report.csv":  csv.Renderer{},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name, render(t, r, d))
		})
	}
}

func TestTextKeepsItsWidth(t *testing.T) {
	d := stored(t)
	for width := 60; width <= 160; width += 10 {
		for i, line := range strings.Split(render(t, text.Renderer{Width: width}, d), "\n") {
			if n := len([]rune(line)); n > width {
				t.Errorf("width %d, line %d takes %d: %s", width, i+1, n, line)
			}
		}
	}
}

func TestColourChangesNothingElse(t *testing.T) {
	d := stored(t)
	coloured := render(t, text.Renderer{Width: 80, Colour: true}, d)
	plain := render(t, text.Renderer{Width: 80}, d)
	if !strings.Contains(coloured, "\x1b[32m") || strings.Contains(plain, "\x1b") {
		t.Fatal("colour where none was asked for, or none where it was")
	}
	for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[33m"} {
		coloured = strings.ReplaceAll(coloured, code, "")
	}
	if diff := cmp.Diff(plain, coloured); diff != "" {
		t.Error(diff)
	}
}

func TestSentences(t *testing.T) {
	const cpu = "server_cpu_per_call"
	for _, c := range []struct {
		name, metric, want string
		change             func(*record.Run)
	}{
		{"higher", "throughput", "grpc+proto carries 1.", func(*record.Run) {}},
		{"exact", "bytes_sent_per_call", "grpc+proto sends 0.45x the bytes per call of rest+json (exact).", func(*record.Run) {}},
		{"same", "server_peak_rss", "grpc+proto and rest+json are the same in peak memory of the servers, within 2 %: 1.00x (1.00 to 1.00, 95 %).",
			func(r *record.Run) { r.Header.Calls = 240_000 }},
		{"unclear", "driver_cpu_per_call", "; this run can tell 6.6 %, --blocks 28 --for 280s would tell 2 %.", func(r *record.Run) { r.Header.VariedTier = new(0) }},
		{"unclear by calls", "driver_cpu_per_call", "; this run can tell 7.2 %, --blocks 31 --calls 1240000 would tell 2 %.",
			func(r *record.Run) { r.Header.VariedTier, r.Header.SliceS, r.Header.Calls = new(0), 0, 240_000 }},
		{"unclear for hours", "throughput", "; this run can tell 57 %, and to tell 2 % would take 4 h under load.", func(r *record.Run) {
			for i := range r.Trials {
				if t := &r.Trials[i]; t.Scenario == 1 && t.Block%2 == 0 {
					t.Load.WindowCalls /= 2
				}
			}
		}},
		{"few blocks", cpu, "No verdict on the server CPU per call of grpc+proto against rest+json: a verdict takes 5 blocks; there are 4.",
			func(r *record.Run) { r.Trials = r.Trials[:len(r.Trials)*4/6] }},
		{"withheld", cpu, "The server CPU per call of grpc+proto against rest+json is withheld: 50 % of the calls of grpc+proto failed.",
			func(r *record.Run) {
				for i := range r.Trials {
					if l := r.Trials[i].Load; r.Trials[i].Scenario == 1 {
						l.Errors = map[string]int{"reset": l.Calls / 2}
					}
				}
			}},
		{"stopped on precision", cpu, ", 99 %).", func(r *record.Run) { r.Header.Precision = 0.3 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := simulated()
			c.change(run)
			got := document(t, run).Find("grpc+proto", c.metric)
			if got == nil || !strings.Contains(got.Sentence, c.want) {
				t.Errorf("got %+v, want %q", got, c.want)
			}
		})
	}
}

func TestOneStackIsToldByItsLevels(t *testing.T) {
	run := simulated()
	run.Header.Scenarios = run.Header.Scenarios[:1]
	run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool { return t.Scenario > 0 })
	d := document(t, run)
	want := regexp.MustCompile(`^rest\+json by itself: server CPU [\d.]+ µs/call ±[\d.]+ %, throughput [\d,]+ calls/s ±[\d.]+ %, ` +
		`latency p50 [\d.]+ ms ±[\d.]+ %\. There is no other stack to compare it with\.$`)
	if len(d.Summary) != 1 || !want.MatchString(d.Summary[0]) {
		t.Errorf("got %q", d.Summary)
	}
}

func TestConnectionsAreShownByTheCall(t *testing.T) {
	run := simulated()
	calls, opened := make([]int, 4), map[int]int{0: 0, 1: 1, 2: 4, 3: 400}
	for i := range run.Trials {
		tr := &run.Trials[i]
		tr.Wire.Conns = 0
		if every := opened[tr.Scenario]; every > 0 {
			tr.Wire.Conns = int64(tr.Load.Calls / every)
		}
		calls[tr.Scenario] += int(tr.Wire.Conns)
	}
	d := document(t, run)
	column := slices.Index(d.Main().Head, "conns")
	for i, want := range []string{"0", " (1.00/call)", " (0.25/call)", " (<0.01/call)"} {
		if calls[i] > 0 {
			want = stats.Thousands(strconv.Itoa(calls[i])) + want
		}
		if got := d.Main().Rows[i][column]; got != want {
			t.Errorf("%s: %q, want %q", d.Scenarios[i].Stack, got, want)
		}
		if v := d.Scenarios[i].Metrics["connections_opened"].Value; v == nil || *v != float64(calls[i]) {
			t.Errorf("%s: JSON has %v, want the count, %d", d.Scenarios[i].Stack, v, calls[i])
		}
	}
}

func TestOneOfAThingIsOne(t *testing.T) {
	run := simulated()
	run.Trials = run.Trials[:4] // a round of a block
	run.Header.Calls = 1
	d := document(t, run)
	if !strings.HasPrefix(d.Conditions.Design, "1 block on fresh processes, 1 round, 1 s under load, 1 call of each stack") {
		t.Errorf("got %q", d.Conditions.Design)
	}
	out := render(t, text.Renderer{Width: 200}, d)
	if m := regexp.MustCompile(`\b(are 1|1 (blocks|rounds|calls|trials|cores))\b`).FindString(out); m != "" {
		t.Errorf("%q in %s", m, out)
	}
}

func TestABlockThatWasCutShortIsSaid(t *testing.T) {
	run := simulated()
	run.Trials = run.Trials[:5*40+2*4]
	d := document(t, run)
	if want := "5 blocks on fresh processes, 50 rounds, 50 s under load; 1 block cut short and left out"; d.Conditions.Design != want {
		t.Errorf("got %q, want %q", d.Conditions.Design, want)
	}
}

func TestWarningsStandBeforeNotesAndAfterTables(t *testing.T) {
	out := render(t, text.Renderer{Width: 120}, stored(t))
	table, warning, note := strings.Index(out, "against rest+json\n"), strings.Index(out, "\nwarning: "), strings.Index(out, "\nnote: ")
	if table < 0 || warning < table || note < warning {
		t.Errorf("a table at %d, a warning at %d, a note at %d", table, warning, note)
	}
}

func TestTheCommandCanBePasted(t *testing.T) {
	run := simulated()
	run.Header.Command = []string{"tare", "--peer", "payment=python3 'x y'.py", "", "a$b", "```", "rest+json@http=2"}
	out := render(t, markdown.Renderer{}, document(t, run))
	want := "````sh\ntare --peer 'payment=python3 '\\''x y'\\''.py' '' 'a$b' '```' rest+json@http=2\n````\n"
	if !strings.Contains(out, want) {
		t.Errorf("%s lacks %s", out[len(out)-300:], want)
	}
}

func TestBigRatiosHaveTheirThousandsParted(t *testing.T) {
	low, value, high := 1234.0, 2345.6, 3456.0
	v := report.Value{Low: &low, Value: &value, High: &high}
	if got := report.Ratio(v) + " " + report.RatioInterval(v); got != "2,346x 1,234 to 3,456" {
		t.Errorf("got %q", got)
	}
}

func TestVerdictsSayWhichIsBetter(t *testing.T) {
	run := simulated()
	run.Header.Baseline = run.Header.Scenarios[1].Name // the best
	d := document(t, run)
	for metric, want := range map[string]string{
		"throughput": "lower, worse", "server_cpu_per_call": "higher, worse", "bytes_sent_per_call": "higher, worse",
	} {
		if got := d.Find("rest+json", metric).Word(); got != want {
			t.Errorf("%s is %q, want %q", metric, got, want)
		}
	}
}

func TestTheFactorsAreASentenceOfTheSummary(t *testing.T) {
	d := stored(t)
	found := 0
	for _, s := range d.Summary {
		if strings.HasPrefix(s, "Of the ") && strings.Contains(s, "between grpc+proto and rest+json, the protocol accounts for ") &&
			strings.Contains(s, " and the codec for ") {
			found++
		}
	}
	if found != 2 {
		t.Errorf("%d sentences in %q", found, d.Summary)
	}
}

// TestWhatIsUnknownNeverReachesJSON renders runs that leave almost nothing known.
func TestWhatIsUnknownNeverReachesJSON(t *testing.T) {
	for name, change := range map[string]func(*record.Run){
		"one trial": func(r *record.Run) { r.Trials = r.Trials[:1] },
		"one block": func(r *record.Run) { r.Trials = r.Trials[:40] },
		"nothing was counted": func(r *record.Run) {
			for i := range r.Trials {
				t := &r.Trials[i]
				t.Processes, t.Wire, t.WireFar = nil, record.Wire{}, record.Wire{}
				t.Load = &record.Load{}
			}
		},
		"all of one stack failed": func(r *record.Run) {
			for i := range r.Trials {
				if t := &r.Trials[i]; t.Scenario == 0 {
					t.Failed, t.Load = "gone", nil
				}
			}
		},
		"damaged figures": func(r *record.Run) {
			for i := range r.Trials {
				r.Trials[i].Load.WindowS, r.Trials[i].Load.Calls = -1, 0
				r.Trials[i].Processes[1].CPUUserS = -1e300
			}
		},
		"huge figures": func(r *record.Run) {
			for i := range r.Trials {
				if r.Trials[i].Scenario == i%2 {
					r.Trials[i].Processes[1].CPUUserS = 1e308
				}
			}
		},
		"no header to speak of": func(r *record.Run) {
			r.Header = record.Header{Format: 1, Scenarios: r.Header.Scenarios, Baseline: r.Header.Baseline}
			r.Blocks, r.End = nil, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := simulated()
			change(run)
			d := document(t, run)
			var back report.Document
			if err := stdjson.Unmarshal([]byte(render(t, json.Renderer{}, d)), &back); err != nil {
				t.Fatal(err)
			}
			for _, r := range []report.Renderer{text.Renderer{Width: 80}, markdown.Renderer{}} {
				if out := render(t, r, d); strings.Contains(out, "NaN") || strings.Contains(out, "Inf") {
					t.Errorf("%T: %s", r, out)
				}
			}
		})
	}
}

func TestMarkdownEscapesWhatItIsGiven(t *testing.T) {
	run := simulated()
	run.Header.Workload = "a|b <script> @team *x*"
	out := render(t, markdown.Renderer{}, document(t, run))
	for _, bad := range []string{"<script", "script>", "@team", "a|b", "*x*:"} {
		if strings.Contains(out, bad) {
			t.Errorf("%q stands as it is", bad)
		}
	}
}
