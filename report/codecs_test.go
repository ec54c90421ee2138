package report_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/report"
	"github.com/tare-bench/tare/report/csv"
	"github.com/tare-bench/tare/report/json"
	"github.com/tare-bench/tare/report/markdown"
	"github.com/tare-bench/tare/report/text"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/stats/statstest"
)

// simulatedCodecs is a run of two codecs that differ, one that hardly does, and
// the limit.
func simulatedCodecs(t testing.TB) *report.Codecs {
	t.Helper()
	run := statstest.Codecs(1, 6, 8, 500,
		statstest.Codec{Name: "old", Encode: 1e-3, Decode: 3e-3, Bytes: 350_000, WriteAllocs: 500, ReadAllocs: 20_000},
		statstest.Codec{Name: "new", Native: 3e-4, Encode: 2e-4, Decode: 5e-4, Plain: 3e-4, Bytes: 150_000, WriteAllocs: 4000, ReadAllocs: 9000},
		statstest.Codec{Name: "like", Native: 1e-9, Encode: 1.01e-3, Decode: 3.02e-3, Bytes: 350_000, WriteAllocs: 10, ReadAllocs: 20_000},
		statstest.Codec{Name: "limit", Encode: 1e-6, Decode: 1e-5, Bytes: 150_000, ReadAllocs: 1},
	)
	run.Header.Limit, run.Header.Codecs[2].Remark = "limit", "is not what it seems"
	run.Header.LeftOut = []record.Omission{{Stack: "other", Reason: "has no form"}}
	run.Header.Command = []string{"tare", "codecs", "simulated"}
	a, err := stats.AnalyzeCodecs(run)
	if err != nil {
		t.Fatal(err)
	}
	return report.NewCodecs(a)
}

func renderCodecs(t testing.TB, r report.CodecsRenderer, c *report.Codecs) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.RenderCodecs(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGoldensOfCodecs(t *testing.T) {
	for name, r := range map[string]report.CodecsRenderer{
		"codecs.txt":  text.Renderer{Width: 120},
		"codecs.md":   markdown.Renderer{},
		"codecs.json": json.Renderer{},
		"codecs.csv":  csv.Renderer{},
	} {
		t.Run(name, func(t *testing.T) {
			golden(t, name, renderCodecs(t, r, simulatedCodecs(t)))
		})
	}
}

func TestCodecsSaySomethingOfEachFinding(t *testing.T) {
	c := simulatedCodecs(t)
	for name, said := range map[string]string{
		"text": renderCodecs(t, text.Renderer{Width: 2000}, c), "markdown": renderCodecs(t, markdown.Renderer{}, c),
	} {
		for _, want := range []string{"is not what it seems", "has no form", "new takes 0.50x the CPU of old to write a batch", "same"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %q in\n%s", name, want, said)
			}
		}
	}
}

func TestOneKindOfMessageAlone(t *testing.T) {
	c := simulatedCodecs(t)
	if !c.Only("batch") || len(c.Messages) != 1 || len(c.Summary) == 0 {
		t.Errorf("the batch alone: %v", c.Summary)
	}
	if c.Only("record") || len(c.Messages) != 0 || len(c.Comparisons) != 0 {
		t.Error("a kind that is not there is there")
	}
}

func TestWhereNoneIsBelowItIsSaid(t *testing.T) {
	run := statstest.Codecs(1, 6, 8, 1,
		statstest.Codec{Name: "old", Encode: 1e-3, Decode: 3e-3, Bytes: 100}, statstest.Codec{Name: "worse", Encode: 2e-3, Decode: 4e-3, Bytes: 200})
	a, err := stats.AnalyzeCodecs(run)
	if err != nil {
		t.Fatal(err)
	}
	summary := strings.Join(report.NewCodecs(a).Summary, "\n")
	for _, want := range []string{"None of 1 other is clearly below old in bytes of a batch.", "in write of a batch.", "in read of a batch."} {
		if !strings.Contains(summary, want) {
			t.Errorf("no %q in %s", want, summary)
		}
	}
}
