package stats_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats/statstest"
)

// crossed are all four of two protocols and two codecs, with ratios to a+x for
// b+x, a+y and b+y.
func crossed(bx, ay, by float64) []statstest.Stack {
	of := func(name string, ratio float64) statstest.Stack {
		s := stack(name)
		s.ServerCPU = time.Duration(ratio * float64(s.ServerCPU))
		return s
	}
	return []statstest.Stack{stack("a+x"), of("b+y", by), of("b+x", bx), of("a+y", ay)}
}

func TestFactorsMultiplyToTheWhole(t *testing.T) {
	a := analyse(t, statstest.Experiment{
		Stacks: crossed(1.2, 1.3, 1.7), Blocks: 6, Rounds: 20,
		Slice: 250 * time.Millisecond, Noise: statstest.Busy, Seed: 2,
	}.Run())
	seen := 0
	for _, f := range a.Factorials {
		product := 1.0
		for _, e := range f.Effects {
			product *= e.Ratio.Value
		}
		if math.Abs(product/f.Whole.Value-1) > 1e-12 {
			t.Errorf("%s: %g of %g", f.Metric.Name, product, f.Whole.Value)
		}
		whole := comparison(t, a, f.Metric.Name, f.Stack).Ratio.Value
		if math.Abs(f.Whole.Value/whole-1) > 1e-12 {
			t.Errorf("%s: parts %g of a ratio of %g", f.Metric.Name, f.Whole.Value, whole)
		}
		if f.Stack == "b+y" {
			seen++
		}
	}
	if seen != 2 || len(a.Factorials) != 2 {
		t.Errorf("%d of %d factorials are of the stack that differs in two", seen, len(a.Factorials))
	}
}

func TestFactorsByHand(t *testing.T) {
	// Shapley: protocol = √(1.2 · 1.7/1.3), codec = √(1.3 · 1.7/1.2).
	for _, f := range analyse(t, quiet(crossed(1.2, 1.3, 1.7)...)).Factorials {
		if f.Metric.Name != "server_cpu_per_call" {
			continue
		}
		got := fmt.Sprintf("%s %s %s %.3f, %s %s %s %.3f, %.3f",
			f.Effects[0].Factor, f.Effects[0].From, f.Effects[0].To, f.Effects[0].Ratio.Value,
			f.Effects[1].Factor, f.Effects[1].From, f.Effects[1].To, f.Effects[1].Ratio.Value, f.Interaction.Value)
		if want := "protocol a b 1.253, codec x y 1.357, 1.090"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		return
	}
	t.Error("no factorial of the server's CPU")
}

func TestThreeFactorsMultiplyToo(t *testing.T) {
	var all []statstest.Stack
	for _, name := range []string{"a+x", "b+x", "a+y", "b+y", "a+x@z=1", "b+x@z=1", "a+y@z=1", "b+y@z=1"} {
		all = append(all, stack(name))
	}
	run := quiet(all...)
	for i := range run.Header.Scenarios { // make z an axis of its own: a compressor
		f := run.Header.Scenarios[i].Factors
		f["compressor"] = f["z"]
		delete(f, "z")
	}
	for i := range run.Trials { // 1.1, 1.2 and 1.5, which do not meddle
		for bit, ratio := range []float64{1.1, 1.2, 1.5} {
			if run.Trials[i].Scenario>>bit&1 == 1 { // as the names above are ordered
				run.Trials[i].Processes[1].CPUUserS *= ratio
				run.Trials[i].Processes[1].CPUSystemS *= ratio
			}
		}
	}
	for _, f := range analyse(t, run).Factorials {
		if f.Metric.Name == "server_cpu_per_call" && f.Stack == "b+y@z=1" {
			got := fmt.Sprintf("%.3f %.3f %.3f", f.Effects[0].Ratio.Value, f.Effects[1].Ratio.Value, f.Effects[2].Ratio.Value)
			if got != "1.100 1.200 1.500" || f.Interaction.Known() {
				t.Errorf("effects %s, interaction %v", got, f.Interaction)
			}
			return
		}
	}
	t.Error("no factorial of three factors")
}

func TestSettingsGoWithTheirProtocol(t *testing.T) {
	run := quiet(crossed(1.2, 1.3, 1.7)...)
	for i := range run.Header.Scenarios {
		f := run.Header.Scenarios[i].Factors
		f["conns"] = map[string]string{"a": "pool", "b": "1"}[f["protocol"]]
	}
	a := analyse(t, run)
	if len(a.Factorials) == 0 {
		t.Fatal("a setting whose default differs hides the factorial")
	}
	if e := a.Factorials[0].Effects[0]; e.Factor != "protocol" || fmt.Sprint(e.With) != "[conns]" {
		t.Errorf("got %+v", e)
	}
}

func TestASettingThatOneProtocolHasIsNamedOnceGiven(t *testing.T) {
	run := quiet(crossed(1.2, 1.3, 1.7)...)
	for i := range run.Header.Scenarios {
		// Of b's own settings one is given, to both stacks of it; the rest are
		// what b is anyway.
		if s := &run.Header.Scenarios[i]; s.Factors["protocol"] == "b" {
			s.Stack += "@keep=off"
			s.Factors["keep"], s.Factors["other"] = "off", "on"
		}
	}
	a := analyse(t, run)
	if len(a.Factorials) == 0 {
		t.Fatal("no factorial")
	}
	if e := a.Factorials[0].Effects[0]; e.Factor != "protocol" || fmt.Sprint(e.With) != "[keep=off]" {
		t.Errorf("got %+v", e)
	}
}

// kept are stacks of two protocols and two codecs, of which a has a setting that b
// has not: off costs twice as much with x, and three times as much with y.
func kept() *record.Run {
	var all []statstest.Stack
	for _, s := range []struct {
		name string
		cost float64
	}{{"a+x@keep=off", 2}, {"a+y@keep=off", 3.9}, {"a+x", 1}, {"a+y", 1.3}, {"b+x", 1.2}, {"b+y", 1.7}} {
		one := stack(s.name)
		one.ServerCPU = time.Duration(s.cost * float64(one.ServerCPU))
		all = append(all, one)
	}
	run := quiet(all...)
	for i := range run.Header.Scenarios {
		s := &run.Header.Scenarios[i]
		if i < 2 {
			s.Factors["keep"] = "off"
		} else if s.Factors["protocol"] == "a" {
			s.Factors["keep"] = "on"
		}
	}
	return run
}

func TestASettingOfOneProtocolIsPartedFromIt(t *testing.T) {
	// Orders: setting, protocol, codec; setting, codec, protocol; codec, setting,
	// protocol. Logs are averaged over the three.
	mean := func(x ...float64) float64 {
		product := 1.0
		for _, v := range x {
			product *= v
		}
		return math.Pow(product, 1/float64(len(x)))
	}
	run := kept()
	for _, c := range []struct {
		baseline, stack          string
		protocol, codec, setting float64
	}{
		{"a+x@keep=off", "b+y", mean(1.2, 1.7/1.3, 1.7/1.3), mean(1.7/1.2, 1.3, 3.9/2), mean(0.5, 0.5, 1.3/3.9)},
		{"b+y", "a+x@keep=off", 1 / mean(1.2, 1.7/1.3, 1.7/1.3), 1 / mean(1.7/1.2, 1.3, 3.9/2), 1 / mean(0.5, 0.5, 1.3/3.9)},
	} {
		run.Header.Baseline = c.baseline
		found := false
		for _, f := range analyse(t, run).Factorials {
			if f.Stack != c.stack || f.Metric.Name != "server_cpu_per_call" {
				continue
			}
			found = true
			got := fmt.Sprintf("%s %.3f, %s %.3f, %s %.3f", f.Effects[0].Factor, f.Effects[0].Ratio.Value,
				f.Effects[1].Factor, f.Effects[1].Ratio.Value, f.Effects[2].Factor, f.Effects[2].Ratio.Value)
			want := fmt.Sprintf("protocol %.3f, codec %.3f, keep %.3f", c.protocol, c.codec, c.setting)
			if got != want || len(f.Effects[0].With) > 0 {
				t.Errorf("%s to %s: %s with %v; want %s", c.stack, c.baseline, got, f.Effects[0].With, want)
			}
		}
		if !found {
			t.Errorf("no factorial of %s to %s", c.stack, c.baseline)
		}
	}
}

func TestWithoutEveryCellThereIsNoFactorial(t *testing.T) {
	a := analyse(t, quiet(crossed(1.2, 1.3, 1.7)[:3]...))
	if len(a.Factorials) != 0 {
		t.Errorf("got %+v", a.Factorials)
	}
}
