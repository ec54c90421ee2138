package stats

import (
	"fmt"

	"github.com/tare-bench/tare/record"
)

// machineRules look at what else went on. A run that does not tell breaks none.
var machineRules = []struct {
	code string
	look func(*record.Run) (text, remedy string)
}{
	{"busy_machine", func(r *record.Run) (string, string) {
		others := machine(r, record.MachineOthers)
		if others <= mostOthers {
			return "", ""
		}
		return fmt.Sprintf("other programs used %.0f %% of the machine's processors during the run (the run itself %.0f %%)",
				100*others, 100*machine(r, record.MachineOwn)),
			"end them and measure again, or trust the CPU per call before throughput and latency"
	}},
	{"stolen_time", func(r *record.Run) (string, string) {
		steal := machine(r, record.MachineSteal)
		if steal <= mostSteal {
			return "", ""
		}
		return fmt.Sprintf("the host of this virtual machine kept back %.1f %% of its processors' time", 100*steal),
			"measure on a machine of your own, or trust the CPU per call before throughput and latency"
	}},
}

// machine is what the end of a run says of the machine, or 0.
func machine(r *record.Run, name string) float64 {
	if r.End == nil {
		return 0
	}
	return r.End.Machine[name]
}
