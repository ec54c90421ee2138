package cli

import (
	"github.com/tare-bench/tare/internal/environment"
	"github.com/tare-bench/tare/record"
)

// watchMachine reads the processors now. What it gives reads them again, and says
// who used them meanwhile; what cannot be read is left out.
func watchMachine() func() map[string]float64 {
	before, errBefore := environment.Processors()
	return func() map[string]float64 {
		facts := make(map[string]float64)
		if load, ok := environment.Load(); ok {
			facts[record.MachineLoad] = load
		}
		after, err := environment.Processors()
		if err != nil || errBefore != nil {
			return facts
		}
		if s, ok := environment.Between(before, after); ok {
			facts[record.MachineBusy] = s.Busy
			facts[record.MachineOwn] = s.Own
			facts[record.MachineOthers] = s.Others
			facts[record.MachineSoftIRQ] = s.SoftIRQ
			facts[record.MachineSteal] = s.Steal
		}
		return facts
	}
}
