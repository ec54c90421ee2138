package report_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report/json"
	"github.com/tare-bench/tare/report/markdown"
	"github.com/tare-bench/tare/report/text"
	"github.com/tare-bench/tare/stats/statstest"
)

// profiled is a run whose profiles tell that 4 % of the CPU was not sampled, and
// of which the front tier calls on.
func profiled() *record.Run {
	e := statstest.Experiment{
		Stacks: four()[:2], Blocks: 6, Rounds: 10, Slice: 250 * time.Millisecond,
		Tiers: []string{"front", "till"}, Noise: statstest.Busy, Seed: 7,
	}
	run := e.Run()
	e.Profile(run, time.Second, map[record.Phase]float64{
		record.PhaseKernel: 0.36, record.PhaseLibrary: 0.24, record.PhaseEncode: 0.05, record.PhaseDecode: 0.06,
		record.PhaseMap: 0.03, record.PhaseValidate: 0.03, record.PhaseHandler: 0.05, record.PhaseCollect: 0.06, record.PhaseSchedule: 0.08,
	})
	for i := range run.Profiles {
		front := run.Profiles[i].Processes[1]
		kernel, share := &front.Parts[0], 0.25
		front.Parts = append(front.Parts, record.PhaseTime{Phase: record.PhaseKernel, Next: true, Seconds: share * kernel.Seconds})
		kernel.Seconds *= 1 - share
	}
	return run
}

func TestPhasesAreShown(t *testing.T) {
	d := document(t, profiled())
	var b strings.Builder
	for _, line := range d.Summary[len(d.Summary)-2:] {
		b.WriteString(line + "\n")
	}
	page := render(t, text.Renderer{Width: 100}, d)
	from, to := strings.Index(page, "where the CPU"), strings.Index(page, "Ratios are paired")
	b.WriteString("\n" + page[from:to])
	path := filepath.Join("testdata", "phases.txt")
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
	if page := render(t, markdown.Renderer{}, d); !strings.Contains(page, "| calling on: carry, in the kernel |") {
		t.Error("Markdown has no such row")
	}
	if text := render(t, json.Renderer{}, d); !strings.Contains(text, `"phase": "carry_kernel"`) {
		t.Error("JSON has no such phase")
	}
}

// The figures of the document add up to the last digit that a float64 has.
func TestPhasesOfADocumentAddUp(t *testing.T) {
	for _, s := range document(t, profiled()).Scenarios {
		for _, p := range append(s.Phases.Processes, *s.Phases.Servers) {
			sum := *p.Unexplained.Value
			for _, part := range p.Phases {
				sum += *part.CPU.Value
			}
			if math.Abs(sum / *p.Total.Value - 1) > 1e-12 {
				t.Errorf("%s, %s: %v and not %v", s.Stack, p.Process, sum, *p.Total.Value)
			}
		}
	}
}

func TestPhasesThatAreNotToldAreNotShown(t *testing.T) {
	run := profiled()
	for i := range run.Profiles {
		run.Profiles[i].Processes[2] = nil
	}
	d := document(t, run)
	page := render(t, text.Renderer{Width: 100}, d)
	if strings.Contains(page, "Of the") || strings.Contains(page, "goes: till") || !strings.Contains(page, "goes: front") ||
		!strings.Contains(page, "till: does not tell where its CPU goes") {
		t.Error(page)
	}
	run.Profiles = nil
	if d := document(t, run); d.PhaseTables() != nil || d.Scenarios[0].Phases != nil {
		t.Errorf("%+v", d.Scenarios[0].Phases)
	}
}

// What was sampled too often is said as it is, and no sentence stands on few
// samples.
func TestDivisionInWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*record.Phases)
		want   string
	}{
		{"as it is", func(*record.Phases) {}, "% is unexplained ("},
		{"too often", func(p *record.Phases) { p.CPUS /= 1.2 }, "% more than the kernel counts ("},
		{"few", func(p *record.Phases) { p.Samples = 1 }, ""},
		{"nothing used", func(p *record.Phases) { p.CPUS = 0 }, ""},
	} {
		run := profiled()
		for _, p := range run.Profiles {
			for _, process := range p.Processes {
				c.change(process)
			}
		}
		summary := strings.Join(document(t, run).Summary, "\n")
		if c.want == "" && strings.Contains(summary, "when profiled") || !strings.Contains(summary, c.want) {
			t.Errorf("%s: %s", c.name, summary)
		}
	}
}
