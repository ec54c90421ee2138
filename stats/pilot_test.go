package stats_test

import (
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/stats/statstest"
)

func pilotRun() *record.Run {
	of := func(name string, rate float64) statstest.Stack {
		return statstest.Stack{Name: name, CallsPerS: rate, Median: time.Millisecond, ServerCPU: time.Microsecond, DriverCPU: time.Microsecond}
	}
	return statstest.Experiment{
		Stacks: []statstest.Stack{of("a+x", 8000), of("b+x", 5000), of("c+x", 9000)},
		Blocks: 1, Rounds: 8, Slice: 100 * time.Millisecond, Seed: 1,
	}.Run()
}

func TestTheSlowestStackIsTheCapacity(t *testing.T) {
	found, err := stats.Slowest(pilotRun())
	if err != nil || found.Stack != "b+x" || found.Throughput < 4999 || found.Throughput > 5001 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestACapacityThatIsNotKnownIsAnError(t *testing.T) {
	failing := pilotRun()
	for i := range failing.Trials {
		if l := failing.Trials[i].Load; failing.Trials[i].Scenario == 2 {
			l.Errors = map[string]int{"reset": l.Calls / 10}
		}
	}
	thin := pilotRun()
	for i := range thin.Trials {
		if thin.Trials[i].Scenario == 0 {
			thin.Trials[i].Load.WindowCalls = 3
		}
	}
	for want, run := range map[string]*record.Run{
		"10 % of the calls of c+x failed": failing,
		"a+x tells no throughput":         thin,
		"no trial gave a result":          {Header: failing.Header},
	} {
		if _, err := stats.Slowest(run); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
