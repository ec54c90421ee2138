package report_test

import (
	stdjson "encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
	"github.com/tare-bench/tare/report/json"
	"github.com/tare-bench/tare/report/markdown"
	"github.com/tare-bench/tare/report/text"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/stats/statstest"
)

// calm is a run on a machine that hardly varies, of a service that costs factor
// as much CPU and that many more bytes with one stack.
func calm(factor float64, started time.Time, more ...string) *record.Run {
	stacks := four()[:2]
	stacks[1].ServerCPU = time.Duration(float64(stacks[1].ServerCPU) * factor)
	stacks[1].Sent = int64(float64(stacks[1].Sent) * factor)
	for _, name := range more {
		s := four()[0]
		s.Name = name
		stacks = append(stacks, s)
	}
	run := statstest.Experiment{
		Stacks: stacks, Blocks: 6, Rounds: 4, Slice: 250 * time.Millisecond, Seed: uint64(100 * factor),
		Noise: statstest.Noise{RestartCPU: 0.01, RestartRate: 0.03, CPU: 0.01, Rate: 0.02, Latency: 0.1},
	}.Run()
	run.Header.Started, run.Header.Seed = started, 1
	return run
}

func changes(t *testing.T, older, newer *record.Run) *report.Changes {
	t.Helper()
	c, err := stats.CompareRuns(older, newer)
	if err != nil {
		t.Fatal(err)
	}
	return report.NewChanges(c)
}

func worsened(t *testing.T) *report.Changes {
	t.Helper()
	day := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	older, newer := calm(1, day, "rest+proto"), calm(1.5, day.AddDate(0, 0, 1))
	newer.Header.Environment = map[string]string{"cores": "8", "go": "go1.26.8"}
	newer.End.Machine = map[string]float64{record.MachineOwn: 0.5, record.MachineOthers: 0.4}
	return changes(t, older, newer)
}

func TestChangesGoldens(t *testing.T) {
	c := worsened(t)
	for name, r := range map[string]report.ChangesRenderer{
		"changes.txt":  text.Renderer{Width: 100},
		"changes.md":   markdown.Renderer{},
		"changes.json": json.Renderer{},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			if err := r.RenderChanges(&b, c); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("%s (-update writes it anew)", diff)
			}
		})
	}
}

func TestChangesAreSentences(t *testing.T) {
	c := worsened(t)
	want := []string{
		`^The server CPU per call of grpc\+proto is higher in the newer run, which is worse: 1\.\d+x \(1\.\d+ to 1\.\d+, 95 %\)\.$`,
		`^The bytes sent per call of grpc\+proto is higher in the newer run, which is worse: 1\.50x \(exact\)\.$`,
	}
	if len(c.Summary) != len(want) {
		t.Fatalf("got %q", c.Summary)
	}
	for i := range want {
		if !matches(want[i], c.Summary[i]) {
			t.Errorf("got %q, want %s", c.Summary[i], want[i])
		}
	}
	day := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	if got := changes(t, calm(1, day), calm(1, day)).Summary; len(got) != 1 || got[0] != "Nothing is higher or lower beyond doubt." {
		t.Errorf("of a run and itself: %q", got)
	}
}

func TestUnknownChangesNeverReachJSON(t *testing.T) {
	day := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, change := range map[string]func(*record.Run){
		"one trial of each": func(r *record.Run) { r.Trials = r.Trials[:2] },
		"no latencies": func(r *record.Run) {
			for i := range r.Trials {
				r.Trials[i].Load.Latency = record.Histogram{}
			}
		},
		"nothing used": func(r *record.Run) {
			for i := range r.Trials {
				r.Trials[i].Processes = nil
			}
		},
		"no end": func(r *record.Run) { r.End = nil },
	} {
		newer := calm(1, day)
		change(newer)
		c := changes(t, calm(1, day), newer)
		var b strings.Builder
		if err := (json.Renderer{}).RenderChanges(&b, c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var back report.Changes
		if err := stdjson.Unmarshal([]byte(b.String()), &back); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, r := range []report.ChangesRenderer{text.Renderer{Width: 80}, markdown.Renderer{}} {
			var b strings.Builder
			if err := r.RenderChanges(&b, c); err != nil || strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
				t.Errorf("%s, %T: %v %s", name, r, err, b.String())
			}
		}
	}
}
