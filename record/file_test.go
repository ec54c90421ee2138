package record_test

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tare-bench/tare/record"
)

// sameHistogram compares what histograms say: their two forms differ inside.
var sameHistogram = cmp.Comparer(func(a, b record.Histogram) bool {
	for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 1} {
		if a.Quantile(q) != b.Quantile(q) {
			return false
		}
	}
	return a.Count() == b.Count() && a.Max() == b.Max() && a.Mean() == b.Mean()
})

// gathered leaves out of a comparison how a run was gathered.
var gathered = cmpopts.IgnoreUnexported(record.Run{})

func sampleHistogram() record.Histogram {
	h := record.NewHistogram()
	for d := time.Microsecond; d < time.Minute; d = d*3/2 + 1 {
		h.Record(d)
		h.Record(d)
	}
	return h
}

func sampleRun() record.Run {
	late := record.NewHistogram()
	late.Record(3 * time.Microsecond)
	return record.Run{
		Header: record.Header{
			Format: record.Format, Version: "v0", Started: time.Unix(1700000000, 0).UTC(),
			Workload: "w", Baseline: "a", Seed: math.MaxUint64,
			Scenarios: []record.Scenario{{Name: "a", Stack: "a"}, {Name: "b", Stack: "b"}},
		},
		Blocks: []record.Block{{Warmups: []record.Warmup{{Calls: 10, Seconds: 1, Level: true}}}},
		Trials: []record.Trial{
			{Scenario: 0, Load: &record.Load{Calls: 3, OK: 3, Latency: sampleHistogram(), Lateness: &late}},
			{Scenario: 1, Position: 1, Failed: "driver died"},
		},
		Profiles: []record.Profile{{Scenario: 1, Seed: 7, Calls: 100, Processes: []*record.Phases{
			nil, {CPUS: 0.5, Samples: 48, PeriodS: 0.01, Parts: []record.PhaseTime{
				{Phase: record.PhaseKernel, Next: true, Seconds: 0.3}, {Phase: record.PhaseMap, Seconds: 0.18},
			}},
		}}},
		End: &record.End{Reason: "complete", AtS: 2},
	}
}

func encode(t testing.TB, run record.Run) string {
	t.Helper()
	var b bytes.Buffer
	lines := []record.Line{{Header: &run.Header}}
	for i := range run.Blocks {
		lines = append(lines, record.Line{Block: &run.Blocks[i]})
	}
	for i := range run.Trials {
		lines = append(lines, record.Line{Trial: &run.Trials[i]})
	}
	for i := range run.Profiles {
		lines = append(lines, record.Line{Profile: &run.Profiles[i]})
	}
	lines = append(lines, record.Line{End: run.End})
	for _, l := range lines {
		if err := record.Write(&b, l); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	want := sampleRun()
	got, err := record.Read(strings.NewReader(encode(t, want)))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, *got, sameHistogram, gathered); diff != "" {
		t.Error(diff)
	}
}

func TestFileCutAnywhereAfterItsHeaderIsRead(t *testing.T) {
	text := encode(t, sampleRun())
	header := strings.Index(text, "\n") + 1
	for cut := header; cut < len(text); cut += 3 {
		run, err := record.Read(strings.NewReader(text[:cut]))
		if err != nil {
			t.Fatalf("cut at byte %d: %v", cut, err)
		}
		// Cut just before a line's end, the line is still whole.
		last := text[strings.LastIndex(text[:cut], "\n")+1 : cut]
		if whole := last == "" || json.Valid([]byte(last)); run.Cut == whole {
			t.Fatalf("cut at byte %d: Cut = %t", cut, run.Cut)
		}
	}
}

func TestUnknownKindsAndFieldsAreSkipped(t *testing.T) {
	text := strings.Replace(encode(t, sampleRun()), "\n", "\n{\"weather\":{\"rain\":true}}\n\n", 1)
	text = strings.Replace(text, `"reason"`, `"mood":"good","reason"`, 1)
	run, err := record.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Trials) != 2 || run.End == nil {
		t.Errorf("got %d trials and end %v", len(run.Trials), run.End)
	}
}

func TestBrokenFilesSayWhatIsWrong(t *testing.T) {
	good := encode(t, sampleRun())
	lines := strings.SplitAfter(good, "\n")
	for _, c := range []struct {
		name, text, want string
		notResults       bool
	}{
		{"empty", "", "it is empty", true},
		{"another file", "goos: linux\n", "line 1: not a results file", true},
		{"other JSON", `{"results":[]}` + "\n", "line 1: not a results file", true},
		{"half a header", lines[0][:40], "line 1: not a results file", true},
		{"no header", lines[1], "line 1: not a results file", true},
		{"newer", `{"header":{"format":2,"scenarios":"elsewhere"}}`, "newer tare; this one reads up to 1", false},
		{"broken in the middle", lines[0] + lines[1] + lines[2][:50] + "\n" + lines[3], "line 3: ", false},
		{"two headers", lines[0] + lines[0], "line 2: a second header", false},
		{"unknown scenario", lines[0] + `{"trial":{"scenario":2}}` + "\n", "line 2: no scenario 2; there are 2", false},
		{"negative scenario", lines[0] + `{"trial":{"scenario":-1}}` + "\n", "line 2: no scenario -1", false},
		{"a trial twice", strings.Replace(good, lines[2], lines[2]+lines[2], 1), "line 4: a second trial of scenario 0 in block 0, round 0", false},
		{"profile of an unknown scenario", lines[0] + `{"profile":{"scenario":2}}` + "\n", "line 2: no scenario 2; there are 2", false},
		{"a profile twice", strings.Replace(good, lines[4], lines[4]+lines[4], 1), "line 6: a second profile of scenario 1 in block 0", false},
		{"unknown baseline", strings.Replace(good, `"baseline":"a"`, `"baseline":"c"`, 1), `baseline "c" is no scenario`, false},
		{"long line", lines[0] + strings.Repeat("x", 17<<20), "line 2: longer than 16 MiB", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := record.Read(strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
			if errors.Is(err, record.ErrNotResults) != c.notResults {
				t.Errorf("%v: is ErrNotResults: %t", err, !c.notResults)
			}
		})
	}
}

func TestAddRefusesATrialThatTheRunHolds(t *testing.T) {
	run := sampleRun() // not gathered by Add
	held := run.Trials[1]
	if err := run.Add(record.Line{Trial: &held}); err == nil || len(run.Trials) != 2 {
		t.Errorf("error %v, %d trials", err, len(run.Trials))
	}
	for _, other := range []record.Trial{{Scenario: 1, Round: 1}, {Scenario: 1, Block: 1}} {
		if err := run.Add(record.Line{Trial: &other}); err != nil {
			t.Error(err)
		}
	}
}

func TestGivenSettingsAreThoseThatAreSpelled(t *testing.T) {
	for stack, want := range map[string][]string{
		"a+b": nil, "a+b+c@keep=off": {"keep"}, "a+b@keep=off@conns=8": {"keep", "conns"},
	} {
		got := record.Scenario{Stack: stack, Factors: map[string]string{"other": "on"}}.Given()
		if !slices.Equal(got, want) {
			t.Errorf("%s gives %q, want %q", stack, got, want)
		}
	}
}

func TestWriteRefusesWhatNoReaderCouldRead(t *testing.T) {
	for name, l := range map[string]record.Line{
		"nothing":      {},
		"two":          {Block: &record.Block{}, End: &record.End{}},
		"not a number": {End: &record.End{AtS: math.NaN()}},
	} {
		if err := record.Write(new(bytes.Buffer), l); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestHistogramsMergeInEveryForm(t *testing.T) {
	dense := sampleHistogram()
	sparse := func() record.Histogram {
		text, err := dense.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var h record.Histogram
		if err := h.UnmarshalText(text); err != nil {
			t.Fatal(err)
		}
		return h
	}
	if !cmp.Equal(dense, sparse(), sameHistogram) {
		t.Fatal("a round trip changed the histogram")
	}
	want := sampleHistogram()
	want.Merge(dense)
	for name, pair := range map[string][2]record.Histogram{
		"dense, sparse":  {sampleHistogram(), sparse()},
		"sparse, dense":  {sparse(), dense},
		"sparse, sparse": {sparse(), sparse()},
	} {
		pair[0].Merge(pair[1])
		if !cmp.Equal(want, pair[0], sameHistogram) {
			t.Errorf("%s: merge differs from dense, dense", name)
		}
	}
}

// forged is a histogram's text with a header of our choosing.
func forged(t testing.TB, digits int32, lowest, highest int64, payload []byte) string {
	t.Helper()
	var inner, out bytes.Buffer
	z := zlib.NewWriter(&inner)
	for _, v := range []any{int32(0x1c849313), int32(len(payload)), int32(0), digits, lowest, highest, float64(1)} {
		if err := binary.Write(z, binary.BigEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := z.Write(payload); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{int32(0x1c849314), int32(inner.Len())} {
		if err := binary.Write(&out, binary.BigEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	out.Write(inner.Bytes())
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

func TestDamagedHistogramIsAnErrorAndCheap(t *testing.T) {
	hour := int64(time.Hour)
	bomb := make([]byte, 8<<20)
	for name, text := range map[string]string{
		"empty":            "",
		"not base 64":      "!!!",
		"short":            "AAAA",
		"not compressed":   base64.StdEncoding.EncodeToString(make([]byte, 100)),
		"wide":             forged(t, 5, 1, math.MaxInt64, bomb),
		"other digits":     forged(t, 2, 1, hour, nil),
		"long payload":     forged(t, 3, 1, hour, bomb),
		"cut varint":       forged(t, 3, 1, hour, []byte{0x80}),
		"run past the end": forged(t, 3, 1, hour, []byte{0xff, 0xff, 0xff, 0xff, 0x0f}),
		"absurd count":     forged(t, 3, 1, hour, []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var h record.Histogram
			if err := h.UnmarshalText([]byte(text)); err == nil {
				t.Error("no error")
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 2<<20 {
				t.Errorf("took %d bytes to refuse", used)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	run := sampleRun()
	good := encode(f, run)
	f.Add([]byte(good))
	f.Add([]byte(good[:len(good)/2]))
	f.Add([]byte(`{"header":{"format":1}}`))
	f.Add([]byte(strings.Split(good, "\n")[0] + "\n" + `{"trial":{"load":{"latency":"` + forged(f, 5, 1, math.MaxInt64, nil) + `"}}}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		run, err := record.Read(bytes.NewReader(text))
		if err != nil {
			return
		}
		// What was read can be written, and says the same again.
		if run.End == nil {
			run.End = &record.End{}
		}
		run.Cut = false
		again, err := record.Read(strings.NewReader(encode(t, *run)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run, again, sameHistogram, gathered); diff != "" {
			t.Error(diff)
		}
	})
}

func FuzzHistogram(f *testing.F) {
	text, err := sampleHistogram().MarshalText()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(forged(f, 3, 1, int64(time.Hour), []byte{2, 4, 6})))
	f.Fuzz(func(t *testing.T, text []byte) {
		var h record.Histogram
		if h.UnmarshalText(text) != nil {
			return
		}
		sum := record.NewHistogram()
		sum.Merge(h)
		if !cmp.Equal(sum, h, sameHistogram) {
			t.Errorf("merged into an empty one: %d, %v, %v; itself %d, %v, %v",
				sum.Count(), sum.Quantile(0.5), sum.Max(), h.Count(), h.Quantile(0.5), h.Max())
		}
	})
}
