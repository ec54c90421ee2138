package golang

import (
	"bytes"
	"errors"
	"io"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/peers/golang/phase"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

// chain is a driver and a server for each tier of a leg, in this process.
type chain struct {
	driver  *driver
	servers []*Server // in the order that a call passes them
}

// chained starts a chain whose varied tier is called over a stack. Its orders have
// many lines, so that few samples show what is done to a message.
func chained(t *testing.T, c catalog.Catalog, leg, stack string) (*chain, *plan.Plan) {
	t.Helper()
	w := c.Workloads[0].Spec()
	params := map[string]string{w.Params[0].Name: "100"}
	p, err := plan.New(plan.Request{
		Workload: w.Name, Leg: leg, Params: params, Store: c.KeptIn, Stacks: []string{stack}, InFlight: 4, Calls: 100, Seed: 1,
	}, catalog.Facts{Catalog: c})
	if err != nil {
		t.Fatal(err)
	}
	start := peer.Start{Workload: w.Name, Leg: leg, Params: p.Params, Store: p.Store, InFlight: p.InFlight, TimeoutS: 10}
	all := &chain{servers: make([]*Server, len(p.Tiers))}
	for i, tier := range slices.Backward(p.Tiers) {
		start.Tier, start.Stack = tier.Name, tier.Stack
		if tier.Stack == "" {
			start.Stack = stack
		}
		if all.servers[i], err = Listen(t.Context(), c, start, Loopback); err != nil {
			t.Fatal(err)
		}
		start.Next = &peer.Next{Stack: start.Stack, Addr: all.servers[i].Addr()}
	}
	start.Tier, start.Driver = "", plan.Native
	r, err := drive(t.Context(), c, start)
	if err != nil {
		t.Fatal(err)
	}
	all.driver = r.(*driver)
	t.Cleanup(func() {
		err := all.driver.Close()
		for _, s := range all.servers {
			err = errors.Join(err, s.Close())
		}
		if err != nil {
			t.Error(err)
		}
	})
	return all, p
}

func (c *chain) trial(t *testing.T, seed uint64) *record.Load {
	t.Helper()
	load, err := c.driver.trial(t.Context(), peer.Trial{Seed: seed, InFlight: 4, Calls: 100})
	if err != nil || load.OK != load.Calls {
		t.Fatalf("trial: %v, %+v", err, load)
	}
	return load
}

// sampled profiles trials until enough has been seen of them.
func (c *chain) sampled(t *testing.T, enough func(*profile.Profile) bool) *profile.Profile {
	t.Helper()
	var all *profile.Profile
	for n := range uint64(100) {
		var b bytes.Buffer
		if err := pprof.StartCPUProfile(&b); err != nil {
			t.Skipf("this process is profiled already: %v", err)
		}
		for i := range uint64(9) {
			c.trial(t, 1+9*n+i)
		}
		pprof.StopCPUProfile()
		p, err := profile.Parse(&b)
		if err != nil {
			t.Fatal(err)
		}
		if all != nil {
			if p, err = profile.Merge([]*profile.Profile{all, p}); err != nil {
				t.Fatal(err)
			}
		}
		if all = p; enough(all) {
			return all
		}
	}
	t.Fatal("in ninety thousand calls not every phase was sampled")
	return nil
}

// names are the functions on a sample's stack, the leaf first.
func names(s *profile.Sample) (out []string) {
	for _, l := range s.Location {
		for _, line := range l.Line {
			out = append(out, line.Function.Name)
		}
	}
	return out
}

func charge(t *testing.T, r phase.Rules, p *profile.Profile) *record.Phases {
	t.Helper()
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	phases, err := r.Charge(&b)
	if err != nil {
		t.Fatal(err)
	}
	return phases
}

func seconds(p *record.Phases, of record.Phase) (sum float64) {
	for _, part := range p.Parts {
		if part.Phase == of {
			sum += part.Seconds
		}
	}
	return sum
}

// What a tier does for its own calls bears a mark, the goroutines of its
// connections included; nothing else does.
func TestWorkForTheNextTierIsMarked(t *testing.T) {
	const client = "google.golang.org/grpc/internal/transport.(*http2Client)"
	const writer = "google.golang.org/grpc/internal/transport.newHTTP2Client"
	c := catalog.Default()
	w := c.Workloads[0].Spec()
	all, _ := chained(t, c, w.Legs[0].Name, "grpc+proto") // its driver calls over REST
	r := phase.NewRules(c, record.PhaseHandler)
	isClient := func(s *profile.Sample) bool {
		return slices.ContainsFunc(names(s), func(name string) bool {
			return strings.HasPrefix(name, client) || strings.HasPrefix(name, writer)
		})
	}
	sampled := all.sampled(t, func(p *profile.Profile) bool { return slices.ContainsFunc(p.Sample, isClient) })
	for _, s := range sampled.Sample {
		if isClient(s) && !s.HasLabel("toward", "next") {
			t.Errorf("a client's transport bears no mark: %v", names(s))
		}
		if stack := strings.Join(names(s), " "); s.HasLabel("toward", "next") &&
			strings.Contains(stack, "net/http.(*conn).serve") && !strings.Contains(stack, "labelled.Handle") {
			t.Errorf("what answers calls bears the mark: %v", names(s))
		}
	}
	for _, part := range charge(t, r, sampled).Parts {
		if part.Next && slices.Contains([]record.Phase{record.PhaseHandler, record.PhaseStore, record.PhaseCollect}, part.Phase) {
			t.Errorf("%s is on a side of the wire", part.Phase)
		}
	}
}

// A profile is of the calls between its begin and its end, and begins and ends
// as often as it is asked to.
func TestPeerTellsItsPhases(t *testing.T) {
	c := catalog.Default()
	w := c.Workloads[0].Spec()
	all, _ := chained(t, c, w.Legs[0].Name, c.Baseline)
	for _, p := range []struct {
		name string
		role role
		none record.Phase // that the role has not
	}{{"driver", all.driver, record.PhaseHandler}, {"server", all.servers[0], record.PhaseCheck}} {
		for n := range uint64(2) {
			if _, err := p.role.profile(peer.ProfileBegin); err != nil {
				t.Fatal(err)
			}
			for i := range uint64(4) {
				all.trial(t, 1000+10*n+i)
				if p.name == "driver" { // a driver's profile is of one trial
					break
				}
			}
			phases, err := p.role.profile(peer.ProfileEnd)
			if err != nil {
				t.Fatal(err)
			}
			if phases.CPUS <= 0 || phases.PeriodS != 0.01 || seconds(phases, p.none) > 0 {
				t.Errorf("%s: %+v", p.name, phases)
			}
		}
		if _, err := p.role.profile(peer.ProfileEnd); err == nil {
			t.Errorf("%s: ends a profile that was not begun", p.name)
		}
		if _, err := p.role.profile("pause"); err == nil || !strings.Contains(err.Error(), "takes begin or end") {
			t.Errorf("%s: %v", p.name, err)
		}
	}
	// Another profile of this process is in the way: nothing is told, and the
	// trial goes on.
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Skipf("this process is profiled already: %v", err)
	}
	for _, r := range []role{all.driver, all.servers[0]} {
		_, begun := r.profile(peer.ProfileBegin)
		all.trial(t, 1999)
		if _, ended := r.profile(peer.ProfileEnd); begun == nil && ended == nil {
			t.Error("a profile is told that could not be taken")
		}
	}
	pprof.StopCPUProfile()
	before := all.driver.profiler.used
	all.trial(t, 2000)
	if all.driver.profiler.used != before {
		t.Error("a trial is profiled that nobody asked for")
	}
}

func BenchmarkMark(b *testing.B) {
	for b.Loop() {
		pprof.SetGoroutineLabels(towardNext)
		pprof.SetGoroutineLabels(noLabels)
	}
}
