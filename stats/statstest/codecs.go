package statstest

import (
	"math"
	"math/rand/v2"

	"github.com/tare-bench/tare/record"
)

// Codec is a contender of known costs, in seconds for each step of a message.
type Codec struct {
	Name                           string
	Native, Encode, Decode, Plain  float64
	Bytes, WriteAllocs, ReadAllocs float64
}

// How much simulated times scatter: standard deviations of the logarithm.
const (
	codecScatter = 0.05 // of one trial
	codecDrift   = 0.10 // of a round, the same for all contenders
	codecRestart = 0.01 // of a block, apart for each contender
)

// Codecs makes up a run of codecs, the first of which is the baseline, with one
// kind of message that has so many items.
func Codecs(seed uint64, blocks, rounds, items int, all ...Codec) *record.CodecRun {
	run := &record.CodecRun{Header: record.CodecHeader{
		Format: record.Format, Workload: "simulated", Seed: seed, Batch: items, SliceS: 0.02, Blocks: blocks, Rounds: rounds, Margin: 0.02,
		Baseline: all[0].Name, Messages: []record.CodecMessage{{Name: "batch", Type: "simulated.Batch", Items: items, Kinds: 1}},
		Environment: map[string]string{"cpu": "simulated"},
	}}
	for k, c := range all {
		run.Header.Codecs = append(run.Header.Codecs, record.CodecContender{Name: c.Name})
		run.Sizes = append(run.Sizes, record.CodecSize{Codec: k, Bytes: c.Bytes, Compressed: map[string]float64{"squeezed": c.Bytes / 2}})
	}
	random := rand.New(rand.NewPCG(seed, 0))
	noise := func(deviation float64) float64 { return math.Exp(random.NormFloat64() * deviation) }
	for b := range blocks {
		restart := make([]float64, len(all))
		for k := range all {
			restart[k] = noise(codecRestart)
		}
		for r := range rounds {
			drift := noise(codecDrift)
			for k, c := range all {
				const n = 100
				cost := func(seconds, allocs float64) record.Cost {
					return record.Cost{N: n, CPUS: n * seconds * drift * restart[k] * noise(codecScatter), Allocs: n * allocs, Bytes: n * allocs * 64}
				}
				run.Trials = append(run.Trials, record.CodecTrial{Block: b, Round: r, Codec: k, Steps: map[string]record.Cost{
					record.StepNative: cost(c.Native, 0), record.StepEncode: cost(c.Encode, c.WriteAllocs),
					record.StepDecode: cost(c.Decode, c.ReadAllocs), record.StepPlain: cost(c.Plain, 0),
				}})
			}
		}
	}
	return run
}
