package golang

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/workloadtest"
)

// inBulk gives a driver of a leg of workloadtest.Bulk over a stack.
func inBulk(t *testing.T, leg, stack string, batch, messages int) *driver {
	t.Helper()
	return inBulkOf(t, leg, stack, batch, messages, func(*peer.Start) {})
}

func inBulkOf(t *testing.T, leg, stack string, batch, messages int, alter func(*peer.Start)) *driver {
	t.Helper()
	c := catalog.Default()
	c.Workloads = []workload.Workload{workloadtest.Bulk{}}
	s := peer.Start{
		Workload: "bulk", Leg: leg, Tier: "items", Store: c.KeptIn, Stack: stack, InFlight: 4, TimeoutS: 20,
		Params: map[string]string{workloadtest.BulkBatch: strconv.Itoa(batch), workloadtest.BulkMessages: strconv.Itoa(messages)},
	}
	alter(&s)
	server, err := Listen(t.Context(), c, s, Loopback)
	if err != nil {
		t.Fatal(err)
	}
	s.Tier, s.Driver, s.Next = "", plan.Native, &peer.Next{Stack: stack, Addr: server.Addr()}
	d, err := drive(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(d.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	})
	return d.(*driver)
}

// Calls of every kind are made whole, and what they move is counted.
func TestEveryKindOfCallIsCountedByItsItems(t *testing.T) {
	const batch, messages, calls = 7, 30, 20
	for _, c := range []struct {
		leg, stack      string
		items, fed, ins int // of a call
	}{
		{"write", "grpc+proto", batch, 0, 1},
		{"write", "rest+json", batch, 0, 1},
		{"import", "grpc+proto", batch * messages, messages, messages},
		{"import", "rest+json", batch * messages, messages, messages},
		{"export", "grpc+proto", batch * messages, 0, 1},
		{"export", "rest+json", batch * messages, 0, 1},
		{"sync", "grpc+proto", batch * messages, messages, messages},
		{"sync", "connect+proto@http=2", batch * messages, messages, messages},
		{workloadtest.BulkPlain, "grpc+proto", 0, 0, 1},
	} {
		t.Run(c.leg+" over "+c.stack, func(t *testing.T) {
			d := inBulk(t, c.leg, c.stack, batch, messages)
			sum, err := d.trial(t.Context(), peer.Trial{Seed: 7, InFlight: 4, Calls: calls})
			if err != nil {
				t.Fatal(err)
			}
			if sum.OK != calls || sum.Items != calls*c.items || sum.Fed != calls*c.fed {
				t.Errorf("%d right calls, %d items, %d messages fed: %s", sum.OK, sum.Items, sum.Fed, sum.FirstError)
			}
			if sum.WindowItems < 0 || sum.WindowItems > float64(sum.Items) || (c.items > 0) != (sum.WindowItems > 0) {
				t.Errorf("%v of %d items in the window", sum.WindowItems, sum.Items)
			}
			answers, err := d.probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range answers {
				if a.Wrong != "" || len(a.Replies) == 0 {
					t.Errorf("%s: %d replies, wrong: %q", a.Call, len(a.Replies), a.Wrong)
				}
			}
			if p := d.payload(); p.Messages < sampledCalls*c.ins {
				t.Errorf("%d messages sampled of %d calls", p.Messages, sampledCalls)
			}
		})
	}
}

// Of a long stream a driver makes each message when it is asked for, and keeps none.
func TestALongStreamIsMadeAsItIsSent(t *testing.T) {
	d := inBulk(t, "import", "grpc+proto", 1, 1000)
	for call := range d.work.Calls("import", d.start.Params, 1) {
		made, feed := 0, call.Feed
		call.Feed = func(i int) (any, bool) { made++; return feed(i) }
		s := session{call: &call}
		for taken := 1; taken <= 3; taken++ {
			if in, err := s.Recv(); err != nil || in == nil || made != taken {
				t.Errorf("%d messages were made when %d were taken: %v, %v", made, taken, in, err)
			}
		}
		return
	}
}

// Replies are read while messages are sent: of a stream that fits no buffer, the one
// that waits for the other would never end.
func TestRepliesAreReadWhileSending(t *testing.T) {
	for _, stack := range []string{"grpc+proto", "connect+proto@http=2"} {
		d := inBulk(t, "sync", stack, 2000, 1500) // some 15 MB each way
		sum, err := d.trial(t.Context(), peer.Trial{Seed: 7, InFlight: 1, Calls: 2})
		if err != nil {
			t.Fatal(err)
		}
		if sum.OK != 2 || sum.Items != 2*2000*1500 {
			t.Errorf("%s: %d right calls, %d items: %s", stack, sum.OK, sum.Items, sum.FirstError)
		}
	}
}

// A stream with one wrong reply, or one too few, counts for none of its items.
func TestItemsOfAWrongStreamCountForNothing(t *testing.T) {
	d := inBulk(t, "sync", "grpc+proto", 5, 10)
	for name, spoil := range map[string]func(*workload.Call){
		"one is wrong": func(c *workload.Call) {
			right := c.Check
			c.Check = func(i int, out any) error {
				if i == 4 {
					return rpc.ErrWrongAnswer
				}
				return right(i, out)
			}
		},
		"one is missing": func(c *workload.Call) { c.Replies++ },
		"it fails":       func(c *workload.Call) { c.Method = &rpc.Method{Service: c.Method.Service, Name: "None"} },
	} {
		for call := range d.work.Calls("sync", d.start.Params, 1) {
			spoil(&call)
			y := newTally(1, 1)
			var s session
			y.Record(0, load.Observation{End: ms, Err: s.do(t.Context(), d.next.conn, &call, time.Minute)})
			if sum := y.sum(false, func(int) int { return call.Items }); sum.OK != 0 || sum.Items != 0 || sum.WindowItems != 0 {
				t.Errorf("%s: %d right calls, %d items", name, sum.OK, sum.Items)
			}
			break
		}
	}
}

// The items of a call are spread over its time: what of it lies in the window counts.
func TestItemsAreSpreadOverTheTimeOfTheirCall(t *testing.T) {
	y := newTally(1, 3)
	for n, at := range []time.Duration{0, 400, 1000} { // the last start ends the window, whose first tenth is the fill
		y.Record(0, load.Observation{N: n, Intended: at * ms, Start: at * ms, End: []time.Duration{400, 1000, 1500}[n] * ms})
	}
	sum := y.sum(false, func(n int) int { return 100 * (n + 1) })
	if want := 100*0.75 + 200; sum.Items != 600 || math.Abs(sum.WindowItems-want) > 1e-9 {
		t.Errorf("%d items, %v in the window; want 600, %v", sum.Items, sum.WindowItems, want)
	}
}

// A server is told how many processors to use, and says that it keeps to it.
func TestAServerKeepsToItsWorkers(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	c := catalog.Default()
	c.Workloads = []workload.Workload{workloadtest.Bulk{}}
	line, err := json.Marshal(peer.Start{
		Format: peer.Format, Role: peer.Serve, Workload: "bulk", Leg: "write", Tier: "items", Store: c.KeptIn, Stack: c.Baseline,
		InFlight: 1, TimeoutS: 1, Workers: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if err := Run(t.Context(), c, bytes.NewReader(append(line, '\n')), &said); err != nil {
		t.Fatal(err)
	}
	var ready peer.Ready
	if err := json.Unmarshal(said.Bytes(), &ready); err != nil || ready.Workers != 1 || ready.Error != "" {
		t.Errorf("it says %s: %v", &said, err)
	}
	if n := runtime.GOMAXPROCS(0); n != 1 {
		t.Errorf("it runs on %d processors", n)
	}
}
