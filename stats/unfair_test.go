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

// connected is a stack's transport.
func connected(conns, each int) *record.Transport {
	return &record.Transport{HTTP: "2", HTTPBy: "http", Conns: conns, CallsPerConn: each}
}

func TestUnfairSetupsAreFoundByName(t *testing.T) {
	for _, c := range []struct {
		want, text, remedy string
		change             func(*record.Run)
	}{
		{"narrow_pool b+x", "has 2 connections, good for 2 calls at a time, and 16 are in flight", "keep 16 connections, or lower --in-flight to 2",
			func(r *record.Run) { r.Header.Scenarios[1].Transport = connected(2, 1) }},
		{"narrow_pool b+x", "has 1 connection, good for 100 calls at a time, and 128 are in flight", "keep 2 connections",
			func(r *record.Run) { // in an open loop: in a closed one such trials would be short
				r.Header.InFlight, r.Header.Rate = 128, 1
				r.Header.Scenarios[1].Transport = connected(1, 100)
				busy(r, 128)
			}},
		{"narrow_pool b+x", "has 3 connections, good for 3 calls at a time, and 16 are in flight", "keep 16 connections",
			func(r *record.Run) { // which is not what it says
				r.Header.Scenarios[1].Transport = connected(16, 1)
				keep(r, 3)
			}},
		{"compressed_on_one_side b+x", "has compressor=squeeze (500 bytes a call) and a+x has compressor=none (500)", "compress both alike",
			func(r *record.Run) { r.Header.Scenarios[1].Factors["compressor"] = "squeeze" }},
		{"named_address b+x", "is reached by a name (localhost:80) at 6 of 6 servers", "numeric address",
			func(r *record.Run) { reach(r, "localhost:80") }},
		{"even_payload", "gzip makes the calls' messages 25 times smaller", "send data",
			func(r *record.Run) { carry(r, record.Payload{Messages: 9, Bytes: 25000, Gzipped: 1000}) }},
	} {
		run := quiet(stack("a+x"), stack("b+x"))
		c.change(run)
		a := analyse(t, run)
		if got := codes(a.Warnings); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: warnings %+v", c.want, a.Warnings)
			continue
		}
		if w := a.Warnings[0]; !strings.Contains(w.Text, c.text) || !strings.Contains(w.Remedy, c.remedy) {
			t.Errorf("%s says %q, remedy %q", c.want, w.Text, w.Remedy)
		}
	}
}

func TestFairSetupsAreNotAccused(t *testing.T) {
	for name, change := range map[string]func(*record.Run){
		"a connection for each call in flight": func(r *record.Run) { r.Header.Scenarios[1].Transport = connected(16, 1) },
		"a connection for each call":           func(r *record.Run) { r.Header.Scenarios[1].Transport = connected(0, 1) },
		"slots that an open loop does not use": func(r *record.Run) {
			r.Header.InFlight, r.Header.Rate = 128, 1
			r.Header.Scenarios[1].Transport = connected(2, 1)
			busy(r, 2)
		},
		"a busy machine had no more in flight at once": func(r *record.Run) {
			r.Header.Scenarios[1].Transport = connected(16, 1)
			keep(r, 8)
		},
		"calls of another tier, which are fewer": func(r *record.Run) {
			r.Header.Scenarios[1].Transport = connected(16, 1)
			r.Header.VariedTier = new(1)
			keep(r, 3)
		},
		"an address of IPv4": func(r *record.Run) { reach(r, "127.0.0.1:80") },
		"an address of IPv6": func(r *record.Run) { reach(r, "[fe80::1]:80") },
		"data that shrinks as JSON does": func(r *record.Run) {
			carry(r, record.Payload{Messages: 9, Bytes: 15000, Gzipped: 1000})
		},
	} {
		run := quiet(stack("a+x"), stack("b+x"))
		change(run)
		if a := analyse(t, run); len(a.Warnings) > 0 {
			t.Errorf("%s: warnings %+v", name, a.Warnings)
		}
	}
}

// busy has so many calls in flight all the time.
func busy(r *record.Run, calls float64) {
	for i := range r.Trials {
		r.Trials[i].Load.BusyS = calls * r.Trials[i].Load.WindowS
	}
}

// keep has so many connections open after each trial.
func keep(r *record.Run, conns int64) {
	for i := range r.Trials {
		r.Trials[i].Wire.Open = conns
	}
}

// reach has the server of b+x listen somewhere.
func reach(r *record.Run, addr string) {
	for i := range r.Blocks {
		r.Blocks[i].Peers[1][1].Addr = addr
	}
}

// carry has b+x send such messages; those of a+x shrink by 50 more, as names in
// them do.
func carry(r *record.Run, p record.Payload) {
	for i := range r.Blocks {
		r.Blocks[i].Payloads = []record.Payload{{Messages: p.Messages, Bytes: p.Bytes + 50*p.Gzipped, Gzipped: p.Gzipped}, p}
	}
}

// In a short run the calls of the trials' ends are a large part of all.
func TestBytesOfTheLastCallsDoNotDisagree(t *testing.T) {
	for calls, want := range map[int]int{160: 0, 3000: 1} {
		run := statstest.Experiment{
			Stacks: []statstest.Stack{stack("a+x"), stack("b+x")}, Blocks: 5, Rounds: 1, Slice: 250 * time.Millisecond,
		}.Run()
		for i := range run.Trials {
			one := &run.Trials[i]
			one.Load.Calls = calls
			if one.Scenario == 1 {
				one.WireFar.Sent = one.Wire.Sent * 98 / 100
			}
		}
		if got := analyse(t, run).Warnings; len(got) != want {
			t.Errorf("%d calls a trial: %+v", calls, got)
		}
	}
}

func TestCompressorsAreComparedWhereTheRunTellsThemApart(t *testing.T) {
	for _, names := range [][]string{
		{"a+x", "a+x#squeeze"},                // nothing else differs
		{"a+x", "b+x", "b+x#squeeze"},         // the same without stands beside it
		{"a+x", "a+x#squeeze", "b+x#squeeze"}, // and so does the baseline with
	} {
		var stacks []statstest.Stack
		for _, name := range names {
			stacks = append(stacks, stack(name))
		}
		run := quiet(stacks...)
		for i, name := range names {
			if strings.HasSuffix(name, "#squeeze") {
				run.Header.Scenarios[i].Factors["compressor"] = "squeeze"
			}
		}
		if got := codes(analyse(t, run).Warnings); len(got) > 0 {
			t.Errorf("%v: warnings %v", names, got)
		}
	}
}

func TestVersionsOfHTTPAreNamed(t *testing.T) {
	run := quiet(stack("a+x"), stack("b+x"), stack("b+y"), stack("a+x@http=2"))
	note := func() (f stats.Finding) {
		for _, n := range analyse(t, run).Notes {
			if n.Code == "http_differs" {
				f = n
			}
		}
		return f
	}
	h := &run.Header
	for i, version := range []string{"1.1", "2", "2", ""} {
		h.Scenarios[i].Transport = &record.Transport{HTTP: version}
	}
	h.Scenarios[0].Transport.HTTPBy = "http"
	if got := note(); !strings.HasPrefix(got.Text, "HTTP/2 carries b+x, b+y and HTTP/1.1 carries a+x: ") || got.Remedy != "add a+x@http=2 to --stacks" {
		t.Errorf("got %+v", got)
	}
	h.Scenarios[0].Transport.HTTPBy, h.Scenarios[1].Transport.HTTPBy = "", "v"
	if got := note(); got.Remedy != "add it to --stacks with @v=1.1 too" {
		t.Errorf("got %+v", got)
	}
	h.Scenarios[3].Transport.HTTP = "2" // the cell that tells
	if got := note(); got.Code != "" {
		t.Errorf("the run tells what the version is worth; it says %q", got.Text)
	}
	h.Scenarios[3].Transport, h.Scenarios[0].Transport = nil, nil
	if got := note(); got.Code != "" {
		t.Errorf("nothing is known of the baseline; it says %q", got.Text)
	}
}

func TestRemarksStandBesideTheStack(t *testing.T) {
	run := quiet(stack("a+x"), stack("b+x"))
	run.Header.Scenarios[1].Remark = "is not what it seems"
	if got := analyse(t, run).Notes; !slices.Contains(got, stats.Finding{Code: "remark", Stack: "b+x", Text: "is not what it seems"}) {
		t.Errorf("notes %+v", got)
	}
}

// A driver that limits makes throughput and its inverse its own, and leaves CPU
// by the call as it was.
func TestALimitedLeanDriverWithholdsItsPace(t *testing.T) {
	a, b := stack("a+x"), stack("b+x")
	a.DriverCPU, b.DriverCPU = 5*time.Microsecond, 100*time.Microsecond
	for _, c := range []struct {
		driver   string
		rate     float64
		withheld bool
	}{{"lean", 0, true}, {"native", 0, false}, {"lean", 100, false}} {
		for _, baseline := range []string{"a+x", "b+x"} {
			run := quiet(a, b)
			run.Header.Driver, run.Header.Rate, run.Header.Baseline = c.driver, c.rate, baseline
			for _, got := range analyse(t, run).Comparisons {
				ofPace := slices.Contains([]string{"throughput", "latency_p50", "latency_p99"}, got.Metric.Name)
				if (got.Verdict == stats.Withheld) != (c.withheld && ofPace) {
					t.Errorf("%s driver, %g calls/s, against %s: %s is %s: %s", c.driver, c.rate, baseline, got.Metric.Name, got.Verdict, got.Reason)
				}
				if got.Verdict == stats.Withheld && !strings.HasPrefix(got.Reason, "with b+x its driver uses ") {
					t.Errorf("%s is withheld because %s", got.Metric.Name, got.Reason)
				}
			}
		}
	}
}

// Latencies of a stack that cannot keep up grow for as long as it is watched.
func TestASaturatedStackWithholdsLatency(t *testing.T) {
	for notStarted, withheld := range map[int]bool{0: false, 2: false, 6: true} { // of 3,000 and more
		run := quiet(stack("a+x"), stack("b+x"))
		run.Header.Rate = 12_000
		for i := range run.Trials {
			if run.Trials[i].Scenario == 1 {
				run.Trials[i].Load.NotStarted = notStarted
			}
		}
		for _, c := range analyse(t, run).Comparisons {
			latency := strings.HasPrefix(c.Metric.Name, "latency")
			if (c.Verdict == stats.Withheld) != (withheld && latency) {
				t.Errorf("%d not started: %s is %s: %s", notStarted, c.Metric.Name, c.Verdict, c.Reason)
			}
			if c.Verdict == stats.Withheld && c.Reason != "b+x is saturated" {
				t.Errorf("withheld because %q", c.Reason)
			}
		}
	}
}

func TestALimitedLeanDriverIsInNoFactor(t *testing.T) {
	stacks := crossed(1.2, 1.3, 1.7)
	for i := range stacks {
		stacks[i].DriverCPU = time.Microsecond
	}
	count := func() (n int) {
		run := quiet(stacks...)
		run.Header.Driver = "lean"
		for _, f := range analyse(t, run).Factorials {
			if f.Metric.Name == "throughput" {
				n++
			}
		}
		return n
	}
	if count() == 0 {
		t.Fatal("no factors of throughput, though nothing limits it")
	}
	stacks[2].DriverCPU = time.Millisecond
	if n := count(); n > 0 {
		t.Errorf("%d ratios of throughput are parted though a driver limits one of their cells", n)
	}
}
