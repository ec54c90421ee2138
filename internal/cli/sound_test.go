package cli

import (
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/tare-bench/tare/record"
)

// sound FOLDER holds a run of orders over its whole leg to what makes it fair:
// in each round the stacks have equal calls, all the work that was planned was
// done, what was counted is the leg that varies, and no trial is charged with
// what is not its own.
func sound(ts *testscript.TestScript, not bool, args []string) {
	if not || len(args) != 1 {
		ts.Fatalf("usage: sound FOLDER")
	}
	f, err := os.Open(filepath.Join(ts.MkAbs(args[0]), resultsFile))
	ts.Check(err)
	run, err := record.Read(f)
	ts.Check(err)
	ts.Check(f.Close())

	seeds := map[int]uint64{}     // by round
	seen := map[uint64]int{}      // a seed's round
	calls := map[int]int{}        // by scenario
	sent := map[int]map[int]int{} // bytes a call on the leg that varies, by scenario and round
	for _, t := range run.Trials {
		if t.Load == nil || t.Failed != "" {
			ts.Fatalf("round %d failed: %s", t.Round, t.Failed)
		}
		if s, ok := seeds[t.Round]; ok && s != t.Seed {
			ts.Fatalf("round %d gives its stacks different calls", t.Round)
		}
		if r, ok := seen[t.Seed]; ok && r != t.Round {
			ts.Fatalf("rounds %d and %d have the same calls", r, t.Round)
		}
		seeds[t.Round], seen[t.Seed] = t.Seed, t.Round
		calls[t.Scenario] += t.Load.Calls
		if t.Load.OK != t.Load.Calls {
			ts.Fatalf("%d of %d calls of round %d failed: %s", t.Load.Calls-t.Load.OK, t.Load.Calls, t.Round, t.Load.FirstError)
		}
		if t.Wire.Sent != t.WireFar.Sent || t.Wire.Received != t.WireFar.Received {
			// A window update or an acknowledgement may still be under way.
			if diff := abs(t.Wire.Sent-t.WireFar.Sent) + abs(t.Wire.Received-t.WireFar.Received); diff > 500 {
				ts.Fatalf("round %d: the two ends count %d bytes apart", t.Round, diff)
			}
		}
		if sent[t.Scenario] == nil {
			sent[t.Scenario] = map[int]int{}
		}
		sent[t.Scenario][t.Round] = int(t.Wire.Sent) / t.Load.Calls
	}
	if len(run.Trials) != run.Header.Blocks*run.Header.Rounds*len(run.Header.Scenarios) {
		ts.Fatalf("%d trials", len(run.Trials))
	}
	for i, s := range run.Header.Scenarios {
		if want := run.Header.Calls; want > 0 && calls[i] != want {
			ts.Fatalf("%s made %d calls, and not %d", s.Name, calls[i], want)
		}
	}
	soundBytes(ts, run, sent)
	soundCPU(ts, run)
}

// soundBytes: the leg from driver to order service is the same in every stack;
// if that were counted, stacks would not differ.
func soundBytes(ts *testscript.TestScript, run *record.Run, sent map[int]map[int]int) {
	first := run.Header.Scenarios[0].Factors["protocol"]
	for i, s := range run.Header.Scenarios {
		for round, n := range sent[i] {
			other := sent[0][round]
			if s.Factors["protocol"] != first && (n > other*9/10 && n < other*10/9) {
				ts.Fatalf("%s sends %d bytes a call and %s %d: that is not the leg that varies",
					s.Name, n, run.Header.Scenarios[0].Name, other)
			}
		}
	}
}

// soundCPU: the first trial of a block is not charged with the warm-up, which
// is ten times as long and more.
func soundCPU(ts *testscript.TestScript, run *record.Run) {
	type of struct{ block, scenario int }
	first, rest, n := map[of]float64{}, map[of]float64{}, map[of]float64{}
	for _, t := range run.Trials {
		var cpu float64
		for _, p := range t.Processes {
			cpu += p.CPU()
		}
		k := of{t.Block, t.Scenario}
		if _, ok := first[k]; !ok {
			first[k] = cpu / float64(t.Load.Calls)
			continue
		}
		rest[k] += cpu / float64(t.Load.Calls)
		n[k]++
	}
	var ahead, behind float64
	for k, cpu := range first {
		if n[k] > 0 {
			ahead += cpu
			behind += rest[k] / n[k]
		}
	}
	if ahead > 3*behind {
		ts.Fatalf("first trials use %.1f times the CPU of those after them", ahead/behind)
	}
}

func abs(n int64) int64 { return max(n, -n) }
