package stats_test

import (
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/stats/statstest"
)

var (
	slowCodec = statstest.Codec{Name: "slow", Encode: 400e-6, Decode: 800e-6, Bytes: 1000, WriteAllocs: 10, ReadAllocs: 20}
	fastCodec = statstest.Codec{Name: "fast", Native: 50e-6, Encode: 150e-6, Decode: 300e-6, Plain: 100e-6, Bytes: 400, ReadAllocs: 30}
)

func analyseCodecs(t testing.TB, run *record.CodecRun) *stats.CodecAnalysis {
	t.Helper()
	a, err := stats.AnalyzeCodecs(run)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func codecRatio(t testing.TB, a *stats.CodecAnalysis, metric string) stats.CodecComparison {
	t.Helper()
	for _, c := range a.Comparisons {
		if c.Metric.Name == metric {
			return c
		}
	}
	t.Fatalf("nothing is compared in %s", metric)
	return stats.CodecComparison{}
}

func TestCodecsAreComparedByItem(t *testing.T) {
	a := analyseCodecs(t, statstest.Codecs(1, 6, 8, 10, slowCodec, fastCodec))
	for metric, want := range map[string]float64{"bytes": 0.4, "write": 0.5, "read": 0.5} {
		c := codecRatio(t, a, metric)
		if c.Ratio.Low > want || c.Ratio.High < want || c.Verdict != stats.Lower {
			t.Errorf("%s: %+v, %s; want %g", metric, c.Ratio, c.Verdict, want)
		}
	}
	for _, want := range []struct {
		metric string
		codec  int
		value  float64
		within float64
	}{
		{"bytes", 0, 100, 0}, {"write_allocs", 0, 1, 0}, {"read_allocs", 1, 3, 0}, {"read_garbage", 1, 192, 0},
		{"write", 0, 40e-6, 0.1}, {"encode", 1, 15e-6, 0.1}, {"write_map", 1, 5e-6, 0.1}, {"read_map", 1, 10e-6, 0.1}, {"decode", 1, 30e-6, 0.1},
	} {
		found := false
		for _, l := range a.Levels {
			if l.Metric.Name == want.metric && l.Codec == want.codec {
				found = true
				if math.Abs(l.Value/want.value-1) > want.within+1e-9 {
					t.Errorf("%s of %d: %g, want %g", want.metric, want.codec, l.Value, want.value)
				}
			}
		}
		if !found {
			t.Errorf("no level of %s", want.metric)
		}
	}
}

// Of two codecs that are the same, no more than one run in twenty may say that
// one is clearly above the other.
func TestEqualCodecsSeldomDiffer(t *testing.T) {
	const runs = 400
	var mu sync.Mutex
	clear, covered := 0, 0
	simulate(runs, func(seed uint64) {
		same := slowCodec
		same.Name = "same"
		a, err := stats.AnalyzeCodecs(statstest.Codecs(seed, 6, 4, 1, slowCodec, same))
		if err != nil {
			t.Error(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		said, held := false, true
		for _, c := range a.Comparisons {
			said = said || c.Verdict == stats.Higher || c.Verdict == stats.Lower
			held = held && c.Ratio.Low <= 1 && c.Ratio.High >= 1
		}
		if said {
			clear++
		}
		if held {
			covered++
		}
	})
	if clear > runs/20 {
		t.Errorf("%d of %d runs call equal codecs different", clear, runs)
	}
	if share := float64(covered) / runs; share < 0.93 || share > 0.99 {
		t.Errorf("all intervals of a run hold the truth in %g of runs, want 0.95 or little more", share)
	}
}

func TestCodecVerdictsTakeBlocks(t *testing.T) {
	a := analyseCodecs(t, statstest.Codecs(1, 4, 8, 1, slowCodec, fastCodec))
	c := codecRatio(t, a, "write")
	if c.Verdict != stats.Unclear || !strings.Contains(c.Reason, "there are 4") || c.Ratio.Bounded() {
		t.Errorf("four blocks: %+v", c)
	}
	if len(a.Warnings) != 1 || a.Warnings[0].Code != "few_blocks" {
		t.Errorf("warnings: %v", a.Warnings)
	}
	if codecRatio(t, a, "bytes").Verdict != stats.Lower {
		t.Error("bytes need no blocks")
	}
}

func TestBlocksOfCodecsThatWereCutShortAreLeftOut(t *testing.T) {
	run := statstest.Codecs(1, 6, 8, 1, slowCodec, fastCodec)
	run.Trials = run.Trials[:len(run.Trials)-11] // the last block has two rounds, and half of a third
	a := analyseCodecs(t, run)
	if a.Blocks != 5 || a.ShortBlocks != 1 || a.Rounds != 40 {
		t.Errorf("%d blocks, %d short, %d rounds", a.Blocks, a.ShortBlocks, a.Rounds)
	}
	run.Trials = run.Trials[:1]
	if _, err := stats.AnalyzeCodecs(run); err == nil {
		t.Error("a run without a whole round is analysed")
	}
}

func TestTheLimitIsShownAndNotJudged(t *testing.T) {
	limit := statstest.Codec{Name: "limit", Encode: 1e-9, Decode: 2e-9, Bytes: 400}
	run := statstest.Codecs(1, 6, 8, 1, slowCodec, fastCodec, limit)
	run.Header.Limit = "limit"
	a := analyseCodecs(t, run)
	for _, c := range a.Comparisons {
		if c.Codec == 2 {
			t.Errorf("the limit is judged in %s", c.Metric.Name)
		}
	}
	shown := 0
	for _, l := range a.Levels {
		if l.Codec == 2 && l.Known() {
			shown++
		}
	}
	if shown == 0 {
		t.Error("the limit is not shown")
	}
}

func TestOthersOnTheMachineAreToldOfBesideCodecs(t *testing.T) {
	run := statstest.Codecs(1, 6, 2, 1, slowCodec, fastCodec)
	run.End = &record.End{Reason: "complete", Machine: map[string]float64{record.MachineOthers: 0.4}}
	a := analyseCodecs(t, run)
	if len(a.Warnings) != 1 || a.Warnings[0].Code != "busy_machine" {
		t.Errorf("warnings: %v", a.Warnings)
	}
}
