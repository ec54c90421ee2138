package stats_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
	"github.com/tare-bench/tare/stats/statstest"
)

func codes(all []stats.Finding) (out []string) {
	for _, f := range all {
		out = append(out, strings.TrimSpace(f.Code+" "+f.Stack))
	}
	return out
}

func TestInnocentStacksGetNoWarning(t *testing.T) {
	for seed := range uint64(10) {
		a := analyse(t, statstest.Experiment{
			Stacks: crossed(1.2, 1.3, 1.7), Blocks: 6, Rounds: 10,
			Slice: 250 * time.Millisecond, Noise: statstest.Busy, Seed: seed,
		}.Run())
		if len(a.Warnings) > 0 {
			t.Errorf("seed %d: %+v", seed, a.Warnings)
		}
		if got := codes(a.Notes); !slices.Equal(got, []string{"closed_loop", "loopback"}) {
			t.Errorf("seed %d: notes %v", seed, got)
		}
	}
}

func TestEachFaultIsFoundAndNoOther(t *testing.T) {
	late := record.NewHistogram()
	late.Record(time.Millisecond)
	for _, c := range []struct {
		code, text string
		change     func(h *record.Header, t *record.Trial) // of the trials of b+x
	}{
		{"connection_per_call", "nearly every call (1 a call), with b-only=on", func(_ *record.Header, t *record.Trial) {
			t.Wire.Conns = int64(t.Load.Calls)
		}},
		{"connection_churn", "every 20 calls", func(_ *record.Header, t *record.Trial) {
			t.Wire.Conns = int64(t.Load.Calls / 20)
		}},
		{"errors", "24 of 72,000 calls failed (deadline 24); the first: late", func(_ *record.Header, t *record.Trial) {
			t.Load.Errors, t.Load.FirstError = map[string]int{"deadline": 1}, "late"
		}},
		{"errors", "its ratios are withheld", func(_ *record.Header, t *record.Trial) {
			t.Load.Errors = map[string]int{"reset": t.Load.Calls / 2}
		}},
		{"failed_trials", "1 of 24 trials failed (no answer)", func(_ *record.Header, t *record.Trial) {
			if t.Round == 3 {
				t.Failed = "no answer"
			}
		}},
		{"driver_limits", "uses 96 % of a core", func(h *record.Header, t *record.Trial) {
			h.Driver = "lean"
			t.Processes[0] = record.Usage{CPUUserS: 0.24}
		}},
		{"driver_limits", "uses 1.9x the CPU of its servers", func(h *record.Header, t *record.Trial) {
			h.Driver = "lean"
			t.Processes[0], t.Processes[1] = record.Usage{CPUUserS: 0.19}, record.Usage{CPUUserS: 0.1}
		}},
		{"thin_window", "fewer completed calls than are in flight in 24 of 24 trials", func(_ *record.Header, t *record.Trial) {
			t.Load.WindowCalls = 15
		}},
		{"short_trials", "makes 9.4 calls for each in flight in a trial", func(_ *record.Header, t *record.Trial) {
			t.Load.Calls = 150
			t.Wire, t.WireFar, t.Processes = record.Wire{}, record.Wire{}, nil
		}},
		{"saturated", "240 of 72,240 calls", func(h *record.Header, t *record.Trial) {
			h.Rate = 100
			t.Load.NotStarted = 10
		}},
		{"late_generator", "its p99 is 99 % of the median latency", func(h *record.Header, t *record.Trial) {
			h.Rate = 100
			t.Load.Lateness = &late
		}},
		{"unprepared_calls", "2,400 of 72,000 calls", func(_ *record.Header, t *record.Trial) {
			t.Load.Unprepared = 100
		}},
		{"bytes_disagree", "differ by 2.0 %", func(_ *record.Header, t *record.Trial) {
			t.WireFar.Sent = t.Wire.Sent * 98 / 100
		}},
	} {
		t.Run(c.code, func(t *testing.T) {
			a, b := stack("a+x"), stack("b+x")
			a.DriverCPU, b.DriverCPU = 30*time.Microsecond, 30*time.Microsecond
			run := quiet(a, b)
			for i := range run.Trials {
				if run.Trials[i].Scenario == 1 {
					c.change(&run.Header, &run.Trials[i])
				}
			}
			found := analyse(t, run)
			if got := codes(found.Warnings); !slices.Equal(got, []string{c.code + " b+x"}) {
				t.Fatalf("warnings %v", got)
			}
			if w := found.Warnings[0]; !strings.Contains(w.Text, c.text) || w.Remedy == "" {
				t.Errorf("says %q, remedy %q; want %q", w.Text, w.Remedy, c.text)
			}
		})
	}
}

func TestWarmUpThatSeldomLevelsIsFound(t *testing.T) {
	run := quiet(stack("a+x"), stack("b+x"))
	for i := range 3 {
		run.Blocks[i].Warmups[1].Level = false
	}
	if a := analyse(t, run); len(a.Warnings) != 0 {
		t.Errorf("in half of the blocks: %v", a.Warnings)
	}
	run.Blocks[3].Warmups[1].Level = false
	if got := codes(analyse(t, run).Warnings); !slices.Equal(got, []string{"not_level b+x"}) {
		t.Errorf("in most blocks: %v", got)
	}
}

func TestNotesSayWhatTheRunDoesNot(t *testing.T) {
	for _, c := range []struct {
		code, text string
		change     func(*record.Run)
	}{
		{"not_finished", "cut short", func(r *record.Run) { r.End = nil }},
		{"not_finished", "ended early (failed: disk full)", func(r *record.Run) { r.End = &record.End{Reason: "failed", Error: "disk full"} }},
		{"few_cores", "2 processes share 1 core while", func(r *record.Run) { r.Header.Environment["cores"] = "1" }},
		{"store", "a store of its own beside sqlite:kept", func(r *record.Run) { r.Header.Store = "sqlite:kept" }},
		{"client_cost", "includes the stacks' own clients", func(r *record.Run) {
			for i := range r.Trials {
				r.Trials[i].Processes[0].CPUUserS *= 10
			}
		}},
		{"fixed_tiers", "is the sum of front and till; till, which answers the calls that vary, has 25 % of it with a+x", func(r *record.Run) {
			r.Header.VariedTier = new(1)
			for i := range r.Blocks {
				for s := range r.Blocks[i].Peers {
					r.Blocks[i].Peers[s] = []record.Process{{Role: "driver"}, {Role: "front"}, {Role: "till"}}
				}
			}
			for i := range r.Trials {
				t := &r.Trials[i]
				t.Processes = []record.Usage{t.Processes[0], {CPUUserS: 0.3}, {CPUUserS: 0.1}}
			}
		}},
		{"confounded", "b+y and a+x differ in protocol and in codec", func(*record.Run) {}},
	} {
		run := quiet(stack("a+x"), stack("b+y"))
		c.change(run)
		notes := analyse(t, run).Notes
		if i := slices.IndexFunc(notes, func(f stats.Finding) bool { return f.Code == c.code }); i < 0 || !strings.Contains(notes[i].Text, c.text) {
			t.Errorf("want %s to say %q; notes %+v", c.code, c.text, notes)
		}
	}
}

func TestTheClientsCostIsOfStacksThatTheDriverUses(t *testing.T) {
	run := quiet(stack("a+x"), stack("b+x"))
	for i := range run.Trials {
		run.Trials[i].Processes[0].CPUUserS *= 10
	}
	run.Header.VariedTier = new(1)
	if got := codes(analyse(t, run).Notes); slices.Contains(got, "client_cost") {
		t.Errorf("notes %v", got)
	}
}

func TestConfoundedNamesTheCellsToAdd(t *testing.T) {
	run := quiet(stack("a+x"), stack("b+y"))
	remedy := func() string {
		for _, n := range analyse(t, run).Notes {
			if n.Code == "confounded" {
				return n.Remedy
			}
		}
		return "no note"
	}
	if got := remedy(); got != "add b+x and a+y to --stacks" {
		t.Errorf("got %q", got)
	}
	run.Header.LeftOut = []record.Omission{{Stack: "b+x", Reason: "none"}, {Stack: "a+y", Reason: "none"}}
	if got := remedy(); got != "" {
		t.Errorf("both are left out, and the remedy is %q", got)
	}
}

func TestABusyMachineIsSaidAndAQuietOneIsNot(t *testing.T) {
	const busy, stolen = "other programs used 31 % of the machine's processors during the run (the run itself 50 %)",
		"kept back 2.5 % of its processors' time"
	for _, c := range []struct {
		name    string
		machine map[string]float64
		want    []string // parts of the texts
	}{
		{"it does not tell", nil, nil},
		{"quiet, the run's own work apart", map[string]float64{
			record.MachineLoad: 40, record.MachineBusy: 0.99, record.MachineOwn: 0.93,
			record.MachineOthers: 0.02, record.MachineSoftIRQ: 0.04, record.MachineSteal: 0.004,
		}, nil},
		{"busy", map[string]float64{record.MachineOwn: 0.5, record.MachineOthers: 0.31}, []string{busy}},
		{"stolen", map[string]float64{record.MachineOwn: 0.5, record.MachineSteal: 0.025}, []string{stolen}},
		{"both", map[string]float64{record.MachineOwn: 0.5, record.MachineOthers: 0.31, record.MachineSteal: 0.025}, []string{busy, stolen}},
	} {
		run := quiet(stack("a+x"), stack("b+x"))
		run.End.Machine = c.machine
		got := analyse(t, run).Warnings
		said := len(got) == len(c.want)
		for i := range got {
			said = said && strings.Contains(got[i].Text, c.want[i]) && got[i].Remedy != "" && got[i].Stack == ""
		}
		if !said {
			t.Errorf("%s: warnings %+v, want %q", c.name, got, c.want)
		}
	}
}
