package statstest

import (
	_ "embed"
	"encoding/csv"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/tare-bench/tare/record"
)

// itself is what was measured of a stack against itself, a row for each trial.
// METHOD.md says where and how; noise.py beside it takes it from a results file.
//
//go:embed testdata/itself.csv
var itself string

// Replay simulates with noise as it was measured: each block is a run of rounds
// out of a block of a real run, with all that goes on in it: drift, what trials
// beside one another share, what a restart changes. Which of the two scenarios is
// which is drawn for each block, so that in truth they are equal, but for Factor.
type Replay struct {
	Blocks, Rounds int
	Factor         float64 // CPU per call, and the time that a call takes, of the second
	Seed           uint64
}

// Run simulates. Equal replays give equal runs.
func (r Replay) Run() *record.Run {
	rng := rand.New(rand.NewPCG(r.Seed, 2))
	e := Experiment{Stacks: []Stack{{Name: "a+x"}, {Name: "b+x"}}, Blocks: r.Blocks, Rounds: r.Rounds, Slice: 100 * time.Millisecond, Seed: r.Seed}
	run := &record.Run{Header: e.header(), End: &record.End{Reason: "complete"}}
	for b := range r.Blocks {
		run.Blocks = append(run.Blocks, e.block(b))
		rounds := measured[rng.IntN(len(measured))]
		first := rng.IntN(len(rounds) - r.Rounds + 1)
		swap := rng.IntN(2)
		for i, round := range rounds[first : first+r.Rounds] {
			for position, t := range round {
				t.scenario ^= swap
				run.Trials = append(run.Trials, t.as(b, b*r.Rounds+i, position, r.Factor))
			}
		}
	}
	return run
}

// Blocks is how many blocks there are to draw from, and Rounds how many each has.
func Blocks() (blocks, rounds int) { return len(measured), len(measured[0]) }

// sample is what one trial gave.
type sample struct {
	scenario          int
	calls             int
	windowCalls       int
	windowS           float64
	driverS, serversS float64 // CPU
}

func (s sample) as(block, round, position int, factor float64) record.Trial {
	if s.scenario == 0 {
		factor = 1
	}
	return record.Trial{
		Block: block, Round: round, Position: position, Scenario: s.scenario,
		Load: &record.Load{
			Calls: s.calls, OK: s.calls, Seconds: s.windowS * factor / 0.9,
			WindowS: s.windowS * factor, WindowCalls: s.windowCalls,
		},
		Processes: []record.Usage{{CPUUserS: s.driverS}, {CPUUserS: s.serversS * factor}},
	}
}

// measured holds the trials by block and round.
var measured = parse(itself)

func parse(text string) (blocks [][][]sample) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		panic(err)
	}
	number := func(s string) float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic(err)
		}
		return v
	}
	block, round := -1, -1
	for _, row := range rows[1:] {
		if b := int(number(row[0])); b != block {
			block, blocks = b, append(blocks, nil)
		}
		of := &blocks[len(blocks)-1]
		if r := int(number(row[1])); r != round {
			round, *of = r, append(*of, nil)
		}
		last := &(*of)[len(*of)-1]
		*last = append(*last, sample{
			int(number(row[2])), int(number(row[3])), int(number(row[4])), number(row[5]), number(row[6]), number(row[7]),
		})
	}
	return blocks
}
