package plan_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

func TestAShareOfWhatAPilotFoundIsARateOfTwoDigits(t *testing.T) {
	for _, c := range []struct {
		share, throughput, want float64
	}{
		{0.5, 8612, 4300},
		{0.25, 99_990, 25_000},
		{0.75, 1.3, 0.98},
		{0.999, 1000, 1000},
	} {
		p := mustNew(t, plan.Request{RateShare: c.share, Pilot: &record.Pilot{Stack: "slow+text", Throughput: c.throughput}})
		if p.Rate != c.want || p.Ready() != nil {
			t.Errorf("%g of %g: %g, %v, want %g", c.share, c.throughput, p.Rate, p.Ready(), c.want)
		}
		if h := p.Header(); h.Rate != p.Rate || h.RateShare != c.share || h.Pilot == nil || h.Pilot.Throughput != c.throughput {
			t.Errorf("the header says %+v", h)
		}
		if p.InFlight != plan.DefaultSlots || p.Blocks[0].Rounds[0].Trials[0].Duration < 2*time.Second {
			t.Errorf("%d in flight, %v: no open loop", p.InFlight, p.Blocks[0].Rounds[0].Trials[0].Duration)
		}
	}
}

func TestARateIsNotKnownBeforeItsPilot(t *testing.T) {
	p := mustNew(t, plan.Request{RateShare: 0.5})
	if p.Rate != 0 || !errors.Is(p.Ready(), plan.ErrNoPilot) {
		t.Errorf("rate %g, %v", p.Rate, p.Ready())
	}
	if out := p.String(); !strings.Contains(out, "50 % of what the slowest stack carries in a pilot") || !strings.Contains(out, "the rate is not known before a pilot has run") {
		t.Error(out)
	}
}

func TestAPilotIsAShortClosedLoop(t *testing.T) {
	r := plan.Request{
		Workload: "shop", RateShare: 0.5, Arrivals: plan.Constant, InFlight: 7, Slice: 5 * time.Second, For: time.Hour,
		Precision: 0.1, Blocks: 9, Seed: 3, Sweep: &record.Sweep{Axis: "rate", Value: "50%", Of: 2},
	}
	p := mustNew(t, plan.Pilot(r))
	if p.Rate != 0 || p.Arrivals != "" || p.InFlight != 7 || len(p.Blocks) != 1 || p.Seed != 3 || p.Sweep != nil || p.Precision != 0 {
		t.Errorf("got %+v", p)
	}
	if load := p.Slice * time.Duration(p.Trials()); load < plan.PilotFor*9/10 || load > plan.PilotFor {
		t.Errorf("%v under load", load)
	}
}

func points(axis string, values []string, set func(*plan.Request, int)) []plan.Request {
	var out []plan.Request
	for i, v := range values {
		r := plan.Request{Workload: "shop", Sweep: &record.Sweep{Axis: axis, Value: v, Index: i, Of: len(values)}}
		set(&r, i)
		out = append(out, r)
	}
	return out
}

func TestASeriesHasAPilotForEachQuestion(t *testing.T) {
	shares := []float64{0.25, 0.5, 0}
	s, err := plan.NewSeries(points("rate", []string{"25%", "50%", "max"}, func(r *plan.Request, i int) { r.RateShare = shares[i] }), facts{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Pilots() != 1 || s.Points[0].Pilot == nil {
		t.Errorf("%d pilots for one question", s.Pilots())
	}
	s, err = plan.NewSeries(points("param.rows", []string{"1", "2"}, func(r *plan.Request, i int) {
		r.RateShare, r.Params = 0.5, map[string]string{"rows": r.Sweep.Value}
	}), facts{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Pilots() != 2 {
		t.Errorf("%d pilots for two payloads", s.Pilots())
	}
}

func TestASeriesShowsItsPointsAndTheirTime(t *testing.T) {
	s, err := plan.NewSeries(points("in-flight", []string{"1", "4"}, func(r *plan.Request, i int) {
		r.InFlight, r.For, r.Blocks = 1+3*i, 12*time.Second, 6
	}), facts{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"in-flight: 2 values", "closed loop: 1 in flight", "closed loop: 4 in flight", "24s under load"} {
		if out := s.String(); !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if h := s.Points[1].Plan.Header(); h.Sweep == nil || !reflect.DeepEqual(*h.Sweep, record.Sweep{Axis: "in-flight", Value: "4", Index: 1, Of: 2}) {
		t.Errorf("the header says %+v", h.Sweep)
	}
}

func TestAWrongPointIsNamed(t *testing.T) {
	_, err := plan.NewSeries(points("in-flight", []string{"1", "100000"}, func(r *plan.Request, i int) { r.InFlight = 1 + 99999*i }), facts{})
	if err == nil || !strings.Contains(err.Error(), "at in-flight=100000: --in-flight 100000: takes 1 to 65536") {
		t.Errorf("got %v", err)
	}
}

// Slots for calls that are refused are none of a closed loop's.
func TestWhatSaturatesFitsWhatIsAdmitted(t *testing.T) {
	for _, c := range []struct{ slots, admit, want int }{
		{0, 0, plan.DefaultInFlight}, {7, 0, 7}, {4096, 0, plan.DefaultSlots},
		{0, 4, 4}, {0, 400, plan.DefaultInFlight}, {512, 32, 32}, {512, 500, plan.DefaultSlots},
	} {
		r := plan.Request{Rate: 5, Arrivals: plan.Constant, RateShare: 4, InFlight: c.slots, Admit: c.admit}
		for name, got := range map[string]plan.Request{"saturating": plan.Saturating(r), "pilot": plan.Pilot(r)} {
			if got.InFlight != c.want || got.Rate != 0 || got.RateShare != 0 || got.Arrivals != "" {
				t.Errorf("%s of %d slots, %d admitted: %+v, want %d in flight", name, c.slots, c.admit, got, c.want)
			}
		}
	}
}
