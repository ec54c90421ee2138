package report_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
	"github.com/tare-bench/tare/report/json"
	"github.com/tare-bench/tare/report/markdown"
	"github.com/tare-bench/tare/report/text"
)

// inBulk has the calls of a run move so many records each, each at a tenth of a call's
// cost and at its bytes, by servers of so many processors; 0 for all.
func inBulk(run *record.Run, perCall, workers int) *record.Run {
	run.Header.Item = "record"
	for i := range run.Blocks {
		for _, peers := range run.Blocks[i].Peers {
			for j := range peers {
				peers[j].Workers = workers
			}
		}
	}
	run.Header.Workers = workers
	for i := range run.Trials {
		t := &run.Trials[i]
		t.Load.Items = perCall * t.Load.OK
		t.Load.WindowItems = float64(perCall * t.Load.WindowCalls)
		for j := range t.Processes {
			t.Processes[j].CPUUserS *= float64(perCall) / 10
			t.Processes[j].CPUSystemS *= float64(perCall) / 10
		}
		for _, w := range []*record.Wire{&t.Wire, &t.WireFar} {
			w.Sent, w.Received = w.Sent*int64(perCall), w.Received*int64(perCall)
		}
	}
	return run
}

// crossed is the stored run as a sweep of legs crossed with workers, of two stacks.
func crossed(t testing.TB) *report.Sweep {
	t.Helper()
	var points []*report.Document
	for i, at := range []struct {
		leg, workers string
		n            int
	}{{"write", "1", 1}, {"write", "2", 2}, {"import", "1", 1}, {"import", "2", 2}} {
		run := storedRun(t)
		run.Header.Scenarios = run.Header.Scenarios[:2]
		run.Trials = slices.DeleteFunc(run.Trials, func(t record.Trial) bool { return t.Scenario > 1 })
		run = inBulk(run, map[string]int{"write": 500, "import": 2000}[at.leg], at.n)
		run.Header.Leg, run.Header.Streams = at.leg, at.leg == "import"
		run.Header.Sweep = &record.Sweep{
			Axis: "leg × workers", Value: at.leg + " × " + at.workers, Index: i, Of: 4,
			Parts: []record.Part{{Axis: "leg", Value: at.leg}, {Axis: "workers", Value: at.workers}},
		}
		points = append(points, document(t, run))
	}
	return report.NewSweep(points)
}

func TestBulkGoldens(t *testing.T) {
	d := document(t, inBulk(storedRun(t), 500, 1))
	golden(t, "bulk.txt", render(t, text.Renderer{Width: 120}, d))
	golden(t, "bulk.json", render(t, json.Renderer{}, d))
	s := crossed(t)
	golden(t, "crossed.txt", renderSweep(t, text.Renderer{Width: 120}, s))
	golden(t, "crossed.md", renderSweep(t, markdown.Renderer{}, s))
}

// Where every call moves as many items, ratios by the item are those by the call.
func TestRatiosByTheItemAreThoseByTheCall(t *testing.T) {
	byCall, byItem := stored(t), document(t, inBulk(storedRun(t), 500, 0))
	for _, c := range byCall.Comparisons {
		other := byItem.Find(c.Stack, c.Metric)
		if other == nil {
			t.Fatalf("no %s of %s by the item", c.Metric, c.Stack)
		}
		if one, two := report.Ratio(c.Ratio), report.Ratio(other.Ratio); one != two || c.Verdict == "withheld" {
			t.Errorf("%s of %s: %s by the call (%s), %s by the item", c.Metric, c.Stack, one, c.Verdict, two)
		}
	}
}

func TestWhatIsByTheItemSaysSo(t *testing.T) {
	run := inBulk(storedRun(t), 500, 2)
	run.Header.Streams, run.Header.VariedTier = true, new(0)
	d := document(t, run)
	if want := ", 500 records a stream, servers on 2 processors each"; !strings.Contains(d.Conditions.Load, want) {
		t.Errorf("%q is not in %q", want, d.Conditions.Load)
	}
	for metric, want := range map[string]string{
		"throughput": "records/s", "bytes_per_second": "B/s", "server_cpu_per_call": "s", "latency_p50": "s",
	} {
		v := d.Scenarios[0].Metrics[metric]
		if v.Unit != want || v.Value == nil {
			t.Errorf("%s is in %q, want %q", metric, v.Unit, want)
		}
	}
	for metric, want := range map[string]string{
		"throughput":          "x the records of rest+json",
		"server_cpu_per_call": "the cpu per record of rest+json",
		"driver_cpu_per_call": "driver cpu per record",
		"bytes_sent_per_call": "the bytes per record of rest+json",
		"bytes_per_second":    "the bytes per second of rest+json",
		"latency_p50":         "the median stream of grpc+proto takes",
	} {
		c := d.Find("grpc+proto", metric)
		if c == nil || !strings.Contains(strings.ToLower(c.Sentence), want) {
			t.Errorf("%s: %+v says nothing of %q", metric, c, want)
		}
	}
	if c := d.Find("grpc+proto", "bytes_per_second"); c.Better != nil {
		t.Error("more bytes moved are told as better, or as worse")
	}
}

func TestRunsByTheCallShowNoItems(t *testing.T) {
	for _, m := range stored(t).Metrics {
		if m.Name == "bytes_per_second" || m.Per == "record" {
			t.Errorf("%+v in a run by the call", m)
		}
	}
}

// A point that compares with another stack has no ratio in a column of the first's.
func TestAnotherBaselineIsSaidAndNotMixedIn(t *testing.T) {
	docs := documents(crossed(t))
	docs[2].Baseline = "grpc+json"
	for i := range docs[2].Comparisons {
		docs[2].Comparisons[i].Baseline = "grpc+json"
	}
	s := report.NewSweep(docs)
	if !slices.ContainsFunc(s.Warnings, func(f report.PointFinding) bool {
		return f.Code == "other_baseline" && slices.Equal(f.Values, []string{"import × 1"})
	}) {
		t.Errorf("nothing is said of it: %+v", s.Warnings)
	}
	for _, table := range s.Tables()[1:] {
		if cell := table.Rows[2][3]; strings.Contains(cell, "x (") {
			t.Errorf("%s: %q stands in the column of another baseline", table.Title, cell)
		}
	}
}
