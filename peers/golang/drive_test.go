package golang

import (
	"net"
	"testing"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/workload"
)

// ofOneTier gives a leg on which the driver calls the only server.
func ofOneTier(t *testing.T, w workload.Spec) workload.Leg {
	t.Helper()
	for _, leg := range w.Legs {
		if len(leg.Tiers) == 1 {
			return leg
		}
	}
	t.Fatalf("%s has no leg of one tier", w.Name)
	return workload.Leg{}
}

// start gives a driver of a payment service, both in this process.
func start(t *testing.T, kind string, alter ...func(*peer.Start)) *driver {
	t.Helper()
	c := catalog.Default()
	w := c.Workloads[0].Spec()
	leg := ofOneTier(t, w)
	tier := leg.Tiers[0]
	params := map[string]string{}
	for _, p := range w.Params {
		params[p.Name] = p.Default
	}
	s := peer.Start{
		Workload: w.Name, Leg: leg.Name, Params: params, Store: c.KeptIn,
		Stack: c.Baseline, Tier: tier.Name, InFlight: 4, TimeoutS: 10,
	}
	for _, f := range alter {
		f(&s)
	}
	server, err := Listen(t.Context(), c, s, Loopback)
	if err != nil {
		t.Fatal(err)
	}
	s.Tier, s.Driver, s.Next = "", kind, &peer.Next{Stack: c.Baseline, Addr: server.Addr()}
	d, err := drive(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	return d.(*driver)
}

// TestServersListenWhereTheyAreAskedTo: on loopback, if nobody asks.
func TestServersListenWhereTheyAreAskedTo(t *testing.T) {
	c := catalog.Default()
	w := c.Workloads[0].Spec()
	leg := w.Legs[len(w.Legs)-1]
	params := map[string]string{}
	for _, p := range w.Params {
		params[p.Name] = p.Default
	}
	for listen, host := range map[string]string{"": "127.0.0.1", "127.0.0.9:0": "127.0.0.9"} {
		s, err := serve(t.Context(), c, peer.Start{
			Workload: w.Name, Leg: leg.Name, Params: params, Store: c.KeptIn, Listen: listen,
			Stack: c.Baseline, Tier: leg.Tiers[len(leg.Tiers)-1].Name, InFlight: 1, TimeoutS: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := net.SplitHostPort(s.Addr()); got != host || err != nil {
			t.Errorf("asked for %q it listens at %s, %v", listen, s.Addr(), err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestDriversMakeJustTheWork(t *testing.T) {
	for _, kind := range []string{plan.Native, plan.Lean} {
		t.Run(kind, func(t *testing.T) {
			d := start(t, kind)
			sum, err := d.trial(t.Context(), peer.Trial{Seed: 7, InFlight: 4, Calls: 501})
			if err != nil {
				t.Fatal(err)
			}
			if sum.Calls != 501 || sum.OK != 501 || sum.Unprepared != 0 {
				t.Errorf("%d calls, %d right, %d unprepared: %s", sum.Calls, sum.OK, sum.Unprepared, sum.FirstError)
			}
			u, err := d.usage()
			if err != nil {
				t.Fatal(err)
			}
			if u.Dialed.Conns < 1 || u.Dialed.Sent < 501*100 || u.Dialed.Received < 501*100 {
				t.Errorf("counted %+v", u.Dialed)
			}
		})
	}
}

// What a driver uses between its trials is not the stack's doing.
func TestDriverIsChargedOnTheClockAlone(t *testing.T) {
	d := start(t, plan.Native)
	if _, err := d.trial(t.Context(), peer.Trial{Seed: 7, InFlight: 4, Calls: 100}); err != nil {
		t.Fatal(err)
	}
	before, err := d.usage()
	if err != nil {
		t.Fatal(err)
	}
	if before.CPU() <= 0 {
		t.Error("a hundred calls used nothing")
	}
	began, err := readUsage()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.probe(t.Context()); err != nil {
		t.Fatal(err)
	}
	newSource(d.work.Calls(d.start.Leg, d.start.Params, 9), 100_000).close()
	ended, err := readUsage()
	if err != nil {
		t.Fatal(err)
	}
	after, err := d.usage()
	if err != nil {
		t.Fatal(err)
	}
	if ended.Sub(began).CPU() <= 0 || after.CPU() != before.CPU() {
		t.Errorf("making up calls used %v s, of which %v were charged", ended.Sub(began).CPU(), after.Sub(before).CPU())
	}
}

func TestAServerThatIsNotThereIsUnanswered(t *testing.T) {
	d := start(t, plan.Native)
	d.start.Next.Addr = "127.0.0.1:1"
	next, err := dial(t.Context(), catalog.Default(), d.start)
	if err != nil {
		t.Fatal(err)
	}
	d.next = next
	answers, err := d.probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(answers) != 1 || !answers[0].Unanswered {
		t.Errorf("%d answers, the last %+v; want the first alone, unanswered", len(answers), answers[len(answers)-1])
	}
}
