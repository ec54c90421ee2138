package record_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/record"
)

func codecHeader() *record.CodecHeader {
	return &record.CodecHeader{
		Format: record.Format, Workload: "w", Baseline: "a", Blocks: 1, Rounds: 2,
		Messages: []record.CodecMessage{{Name: "one", Items: 1}},
		Codecs:   []record.CodecContender{{Name: "a"}, {Name: "b"}},
	}
}

func codecFile(t *testing.T, lines ...record.CodecLine) string {
	t.Helper()
	var b bytes.Buffer
	for _, l := range lines {
		if err := record.WriteCodecs(&b, l); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func trialOf(codec, round int) record.CodecLine {
	return record.CodecLine{Trial: &record.CodecTrial{Codec: codec, Round: round, Steps: map[string]record.Cost{record.StepEncode: {N: 1, CPUS: 2, Allocs: 3, Bytes: 4}}}}
}

func TestCodecsAreReadAsWritten(t *testing.T) {
	text := codecFile(t, record.CodecLine{Codecs: codecHeader()},
		record.CodecLine{Size: &record.CodecSize{Codec: 1, Bytes: 5, Compressed: map[string]float64{"z": 2}}},
		trialOf(0, 0), trialOf(1, 0), trialOf(0, 1), record.CodecLine{End: &record.End{Reason: "complete"}})
	run, err := record.ReadCodecs(strings.NewReader(text + "\n{\"later\":{}}\n{\"codec_tri"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(*codecHeader(), run.Header); diff != "" {
		t.Error(diff)
	}
	if len(run.Sizes) != 1 || len(run.Trials) != 3 || run.End == nil {
		t.Errorf("%d sizes, %d trials, end %v", len(run.Sizes), len(run.Trials), run.End)
	}
	if diff := cmp.Diff(*trialOf(1, 0).Trial, run.Trials[1]); diff != "" {
		t.Error(diff)
	}
}

func TestDamagedFilesOfCodecsAreRefused(t *testing.T) {
	header := codecFile(t, record.CodecLine{Codecs: codecHeader()})
	newer, odd := codecHeader(), codecHeader()
	newer.Format, odd.Baseline = record.Format+1, "c"
	for _, test := range []struct{ name, text, says string }{
		{"empty", "", "it is empty"},
		{"of stacks", `{"header":{"format":1}}`, "not begin with their header"},
		{"no JSON", "tare\n", "line 1"},
		{"newer", codecFile(t, record.CodecLine{Codecs: newer}), "newer tare"},
		{"a baseline that does not run", codecFile(t, record.CodecLine{Codecs: odd}), `"c" is no codec`},
		{"two headers", header + header, "second header"},
		{"a codec that is not there", header + codecFile(t, trialOf(2, 0)), "no codec 2; there are 2"},
		{"a message that is not there", header + codecFile(t, record.CodecLine{Size: &record.CodecSize{Message: -1}}), "no message -1"},
		{"a trial twice", header + codecFile(t, trialOf(1, 0), trialOf(1, 0)), "line 3: a second trial"},
		{"a broken line", header + "{\n" + codecFile(t, trialOf(1, 0)), "line 2"},
	} {
		_, err := record.ReadCodecs(strings.NewReader(test.text))
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", test.name, err, test.says)
		}
	}
	if _, err := record.ReadCodecs(strings.NewReader(`{"header":{"format":1}}`)); !errors.Is(err, record.ErrNotResults) {
		t.Errorf("a results file of stacks: %v", err)
	}
}
