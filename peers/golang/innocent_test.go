package golang

import (
	"slices"
	"testing"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

// innocents are all stacks of a catalogue that differ in more than the number
// of connections: each protocol with each codec, over each version of HTTP that
// it lets users choose, and with each compressor.
func innocents(t *testing.T, c catalog.Catalog) (all []string) {
	t.Helper()
	for _, p := range c.Protocols {
		if p.Spec().Transport == nil {
			t.Fatalf("%s does not say how its calls travel", p.Spec().Name)
		}
		for i, k := range c.Codecs {
			name := p.Spec().Name + "+" + k.Spec().Name
			all = append(all, name)
			if i > 0 {
				continue
			}
			s, err := c.Stack(name)
			if err != nil {
				t.Fatal(err)
			}
			if by := p.Spec().Transport(s.Options(1)).HTTPBy; by != "" {
				all = append(all, name+"@"+by+"=2")
			}
			for _, z := range c.Compressors {
				all = append(all, name+"+"+z.Spec().Name)
			}
		}
	}
	return all
}

// A stack that is built as it should be is accused of nothing, however busy the
// machine: what is found here would stand beside every honest result.
func TestInnocentStacksAreAccusedOfNothing(t *testing.T) {
	c := catalog.Default()
	w := c.Workloads[0].Spec()
	const inFlight, perTrial, blocks = 5, 50, stats.MinBlocks
	p, err := plan.New(plan.Request{
		Workload: w.Name, Leg: ofOneTier(t, w).Name, Store: c.KeptIn, Stacks: innocents(t, c),
		InFlight: inFlight, Calls: blocks * perTrial, Blocks: blocks, Seed: 1,
	}, catalog.Facts{Catalog: c})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Scenarios) < 20 {
		t.Fatalf("%d stacks; left out: %v", len(p.Scenarios), p.LeftOut)
	}
	run := &record.Run{Header: p.Header(), Blocks: make([]record.Block, blocks), End: &record.End{Reason: "complete"}}
	run.Header.Rounds = 1
	for s, scenario := range p.Scenarios {
		one := contender{t: t, plan: p, scenario: s, stack: scenario.Stack}
		one.start(c)
		one.trials(run, perTrial)
	}
	a, err := stats.Analyze(run)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range a.Warnings {
		if f.Code != "thin_window" { // these trials are shorter than a plan makes them
			t.Errorf("%s is accused of %s: %s", f.Stack, f.Code, f.Text)
		}
	}
	for _, f := range a.Notes {
		if slices.Contains([]string{"http_differs", "confounded"}, f.Code) {
			t.Errorf("every cell is there, and the run says: %s", f.Text)
		}
	}
}

// contender is a driver and a server in this process.
type contender struct {
	t        *testing.T
	plan     *plan.Plan
	scenario int
	stack    string
	server   *Server
	driver   *driver
}

func (o *contender) start(c catalog.Catalog) {
	o.t.Helper()
	start := peer.Start{
		Workload: o.plan.Workload, Leg: o.plan.Leg, Params: o.plan.Params, Store: o.plan.Store, Stack: o.stack,
		Tier: o.plan.Tiers[0].Name, InFlight: o.plan.InFlight, TimeoutS: o.plan.Timeout.Seconds(),
	}
	var err error
	if o.server, err = Listen(o.t.Context(), c, start, Loopback); err != nil {
		o.t.Fatal(err)
	}
	start.Tier, start.Driver, start.Next = "", plan.Native, &peer.Next{Stack: o.stack, Addr: o.server.Addr()}
	r, err := drive(o.t.Context(), c, start)
	if err != nil {
		o.t.Fatal(err)
	}
	o.driver = r.(*driver)
}

// trials adds a trial to each block of a run, and ends the contender.
func (o *contender) trials(run *record.Run, calls int) {
	o.t.Helper()
	if _, err := o.driver.probe(o.t.Context()); err != nil {
		o.t.Fatal(err)
	}
	payload := *o.driver.payload()
	o.trial(0, calls) // fills the pool
	near, far := o.usage()
	for b := range run.Blocks {
		load := o.trial(1+b, calls)
		nearNow, farNow := o.usage()
		run.Trials = append(run.Trials, record.Trial{
			Block: b, Round: b, Scenario: o.scenario, Load: load,
			Processes: []record.Usage{nearNow.Sub(near), farNow.Sub(far)},
			Wire:      nearNow.Dialed.Sub(near.Dialed), WireFar: farNow.Accepted.Sub(far.Accepted),
		})
		near, far = nearNow, farNow
		head := &run.Blocks[b]
		head.Warmups = append(head.Warmups, record.Warmup{Level: true})
		head.Peers = append(head.Peers, []record.Process{{Role: peer.Drive}, {Role: "server", Addr: o.server.Addr()}})
		head.Payloads = append(head.Payloads, payload)
	}
	if err := o.driver.Close(); err != nil {
		o.t.Error(err)
	}
	if err := o.server.Close(); err != nil {
		o.t.Error(err)
	}
}

func (o *contender) trial(seed, calls int) *record.Load {
	o.t.Helper()
	load, err := o.driver.trial(o.t.Context(), peer.Trial{Seed: uint64(seed), InFlight: o.plan.InFlight, Calls: calls})
	if err != nil {
		o.t.Fatal(err)
	}
	return load
}

func (o *contender) usage() (driver, server record.Usage) {
	o.t.Helper()
	driver, err := o.driver.usage()
	if err != nil {
		o.t.Fatal(err)
	}
	if server, err = o.server.usage(); err != nil {
		o.t.Fatal(err)
	}
	return driver, server
}
