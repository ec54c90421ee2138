package report_test

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats/statstest"
)

// simulate remakes the results file that the goldens are rendered from.
var simulate = flag.Bool("simulate", false, "write testdata/results.jsonl anew")

const results = "testdata/results.jsonl"

// four are both protocols with both codecs: the protocol is worth 1.2 in CPU and
// 1.2 in throughput, the codec 1.4 and 1.2, and the bytes are the codec's. The
// CPU is that of each tier; simulated gives the first the same in every stack.
func four() []statstest.Stack {
	of := func(name string, cpu, rate float64, bytes int64) statstest.Stack {
		return statstest.Stack{
			Name: name, CallsPerS: 9000 * rate, Median: time.Duration(float64(1600*time.Microsecond) / rate),
			ServerCPU: time.Duration(float64(90*time.Microsecond) / cpu), DriverCPU: 70 * time.Microsecond,
			RSS: 40 << 20, Sent: bytes, Received: bytes / 2,
		}
	}
	return []statstest.Stack{
		of("rest+json", 1, 1, 420), of("grpc+proto", 1.68, 1.44, 190),
		of("rest+proto", 1.4, 1.2, 260), of("grpc+json", 1.2, 1.2, 350),
	}
}

func simulated() *record.Run {
	noise := statstest.Busy
	noise.Drift = 0.01 // a machine that only wanders
	run := statstest.Experiment{
		Stacks: four(), Blocks: 6, Rounds: 10, Slice: 250 * time.Millisecond,
		Tiers: []string{"order", "payment"}, Noise: noise, Seed: 20,
	}.Run()
	run.Header.Leg, run.Header.VariedTier = "inner", new(1)
	run.Header.Path = []string{"driver → order: rest+json, in every stack", "order → payment: the stack under comparison"}
	run.Header.LeftOut = []record.Omission{{Stack: "thrift+json", Reason: "thrift takes no other codec than its own"}}
	run.Header.Libraries = map[string]string{"example.com/wire": "v1.2.3"}
	for i := range run.Trials {
		t := &run.Trials[i]
		alike := float64(four()[0].ServerCPU) / float64(four()[t.Scenario].ServerCPU)
		t.Processes[1].CPUUserS *= alike
		t.Processes[1].CPUSystemS *= alike
		if t.Scenario == 0 && t.Round%run.Header.Rounds == 0 { // its pool fills
			t.Wire.Conns = int64(run.Header.InFlight)
		}
	}
	for i := range run.Trials { // one stack with a fault, so that warnings are seen
		if t := &run.Trials[i]; t.Scenario == 3 && t.Round == 7 {
			t.Load.Errors, t.Load.OK = map[string]int{"deadline": 2}, t.Load.Calls-2
			t.Load.FirstError = "deadline exceeded"
		}
	}
	return run
}

func TestMain(m *testing.M) {
	flag.Parse()
	if *simulate {
		if err := writeResults(); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func writeResults() error {
	run := simulated()
	var b bytes.Buffer
	lines := []record.Line{{Header: &run.Header}}
	for i := range run.Blocks {
		lines = append(lines, record.Line{Block: &run.Blocks[i]})
		for j := range run.Trials {
			if run.Trials[j].Block == i {
				lines = append(lines, record.Line{Trial: &run.Trials[j]})
			}
		}
	}
	for _, l := range append(lines, record.Line{End: run.End}) {
		if err := record.Write(&b, l); err != nil {
			return err
		}
	}
	return os.WriteFile(results, b.Bytes(), 0o644)
}
