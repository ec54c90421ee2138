package lean_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tare-bench/tare/lean"
	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// tape keeps every observation.
type tape struct {
	mu  sync.Mutex
	all []load.Observation
}

func (t *tape) Record(_ int, o load.Observation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.all = append(t.all, o)
}

// classes counts calls by what became of them.
func (t *tape) classes() map[string]int {
	all := make(map[string]int)
	for _, o := range t.all {
		all[rpc.Class(o.Err)]++
	}
	return all
}

func (t *tape) only(tb testing.TB, class string, n int) {
	tb.Helper()
	if got := t.classes(); got[class] != n || len(got) != 1 {
		for _, o := range t.all {
			if rpc.Class(o.Err) != class {
				tb.Errorf("for one, call %d: %v", o.N, o.Err)
				break
			}
		}
		tb.Fatalf("calls ended so: %v; want %d of %s", got, n, class)
	}
}

// serve answers HTTP/1.1 and HTTP/2 with prior knowledge.
func serve(tb testing.TB, h http.Handler) string {
	tb.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	tb.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// versions are the ways of carrying that every test of an HTTP server takes.
var versions = map[string]protocol.Carriage{
	"HTTP/1.1":                      {Conns: 8, KeepAlive: true},
	"HTTP/1.1, fewer connections":   {Conns: 2, KeepAlive: true},
	"HTTP/1.1, connection per call": {Conns: 8},
	"HTTP/2":                        {HTTP2: true, Conns: 2, KeepAlive: true},
	"HTTP/2, connection per call":   {HTTP2: true, Conns: 2},
}

func eachVersion(t *testing.T, test func(t *testing.T, c protocol.Carriage)) {
	for name, c := range versions {
		t.Run(name, func(t *testing.T) { test(t, c) })
	}
}

const inFlight = 8

func dial(tb testing.TB, addr string, c protocol.Carriage, change ...func(*lean.Config)) *lean.Client {
	tb.Helper()
	config := lean.Config{
		Addr: addr, Carriage: c, InFlight: inFlight,
		Deadline: time.Minute, MaxMessage: protocol.DefaultMaxMessage,
	}
	for _, f := range change {
		f(&config)
	}
	client, err := lean.Dial(tb.Context(), config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := client.Close(); err != nil {
			tb.Error(err)
		}
	})
	return client
}

func deadline(d time.Duration) func(*lean.Config) { return func(c *lean.Config) { c.Deadline = d } }

// echo is a call whose answer is right if it has the request's body.
func echo(body []byte) protocol.Frame {
	return protocol.Frame{
		Verb: http.MethodPost, Path: "/echo", Body: body,
		Header: []protocol.Field{{Name: "content-type", Value: "text/plain"}},
		Check: func(a protocol.Answer) error {
			if a.Status != http.StatusOK {
				return rpc.Errorf(rpc.CodeOfStatus(a.Status), "status %d", a.Status)
			}
			if !bytes.Equal(a.Body, body) {
				return fmt.Errorf("%w: %d bytes, want %d", rpc.ErrWrongAnswer, len(a.Body), len(body))
			}
			return nil
		},
	}
}

func echoes(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	_, _ = w.Write(body)
}

// calls prepares frames, and gives them in turn.
func calls(tb testing.TB, c *lean.Client, frames ...protocol.Frame) func(int) *lean.Call {
	tb.Helper()
	var all []*lean.Call
	for _, f := range frames {
		call, err := c.Prepare(f)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, call)
	}
	return func(n int) *lean.Call { return all[n%len(all)] }
}

func exactly(n int) *load.Pace { return load.ClosedPace(load.Extent{Exactly: n}) }

func TestAnswersAreThoseOfTheirCalls(t *testing.T) {
	addr := serve(t, http.HandlerFunc(echoes))
	var frames []protocol.Frame
	for _, size := range []int{0, 1, 300, 4 << 10, 16 << 10, 16384 - 1, 200 << 10} {
		frames = append(frames, echo(bytes.Repeat([]byte{byte(size + 1)}, size)))
	}
	eachVersion(t, func(t *testing.T, c protocol.Carriage) {
		client := dial(t, addr, c)
		for _, trial := range []string{"first", "second"} {
			got := new(tape)
			totals, err := client.Drive(t.Context(), inFlight, exactly(80), calls(t, client, frames...), got)
			if err != nil || totals.Started != 80 {
				t.Fatalf("%s trial: %+v, %v; want 80 calls", trial, totals, err)
			}
			got.only(t, "ok", 80)
		}
		wire, want := client.Wire(), int64(c.Conns)
		if !c.KeepAlive {
			want = 160
		}
		if wire.Conns != want {
			t.Errorf("%d connections were opened, want %d", wire.Conns, want)
		}
	})
}

func TestLargeMessages(t *testing.T) {
	addr := serve(t, http.HandlerFunc(echoes))
	body := bytes.Repeat([]byte("0123456789abcdef"), 20<<20/16)
	eachVersion(t, func(t *testing.T, c protocol.Carriage) {
		client, got := dial(t, addr, c), new(tape)
		if _, err := client.Drive(t.Context(), 2, exactly(2), calls(t, client, echo(body)), got); err != nil {
			t.Fatal(err)
		}
		got.only(t, "ok", 2)
		if sent := client.Wire().Sent; sent < 2*int64(len(body)) {
			t.Errorf("%d bytes sent, want more than %d", sent, 2*len(body))
		}
	})
}

func TestAnswerLongerThanTheLimitIsRefused(t *testing.T) {
	addr := serve(t, http.HandlerFunc(echoes))
	eachVersion(t, func(t *testing.T, c protocol.Carriage) {
		client := dial(t, addr, c, func(c *lean.Config) { c.MaxMessage = 1000 })
		got := new(tape)
		frames := calls(t, client, echo(make([]byte, 1000)), echo(make([]byte, 1001)))
		if _, err := client.Drive(t.Context(), 1, exactly(2), frames, got); err != nil {
			t.Fatal(err)
		}
		if got := got.classes(); got["ok"] != 1 || got["protocol"] != 1 {
			t.Errorf("calls ended so: %v; want one right and one refused", got)
		}
	})
}

func TestChunksTrailersAndInterimAnswers(t *testing.T) {
	addr := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("Link", "</style.css>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("X-Kind", "pieces")
		for i := range 5 {
			fmt.Fprintf(w, "piece %d;", i)
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set("X-Sum", "five")
	}))
	const want = "piece 0;piece 1;piece 2;piece 3;piece 4;"
	frame := protocol.Frame{Verb: http.MethodGet, Path: "/", Check: func(a protocol.Answer) error {
		if a.Status != 200 || string(a.Body) != want || a.Field("x-kind") != "pieces" || a.Field("x-sum") != "five" {
			return fmt.Errorf("%w: %d %q %v", rpc.ErrWrongAnswer, a.Status, a.Body, a.Fields)
		}
		return nil
	}}
	eachVersion(t, func(t *testing.T, c protocol.Carriage) {
		client, got := dial(t, addr, c), new(tape)
		if _, err := client.Drive(t.Context(), inFlight, exactly(50), calls(t, client, frame), got); err != nil {
			t.Fatal(err)
		}
		got.only(t, "ok", 50)
	})
}

func TestRequestIsWhatTheFrameSays(t *testing.T) {
	seen := make(chan *http.Request, 1)
	addr := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		seen <- r
	}))
	frame := protocol.Frame{
		Verb: http.MethodPut, Path: "/a/b?c=d", Body: []byte("hello"),
		Header: []protocol.Field{{Name: "user-agent", Value: "tare"}, {Name: "x-many", Value: "1"}, {Name: "x-many", Value: "2"}},
		Check:  func(protocol.Answer) error { return nil },
	}
	eachVersion(t, func(t *testing.T, c protocol.Carriage) {
		client := dial(t, addr, c)
		for range 3 { // later calls send their header by the table
			if _, err := client.Drive(t.Context(), 1, exactly(1), calls(t, client, frame), new(tape)); err != nil {
				t.Fatal(err)
			}
			r := <-seen
			if r.Method != http.MethodPut || r.URL.String() != "/a/b?c=d" || r.Host != addr || r.ContentLength != 5 ||
				r.UserAgent() != "tare" || strings.Join(r.Header["X-Many"], " ") != "1 2" || (r.ProtoMajor == 2) != c.HTTP2 ||
				len(r.Header) != 2+len(r.Header["Content-Length"])+len(r.Header["Connection"]) || r.Close == c.KeepAlive && !c.HTTP2 {
				t.Errorf("the server saw %s %s of %s, %d bytes, %v", r.Method, r.URL, r.Host, r.ContentLength, r.Header)
			}
		}
	})
}

func TestDeadline(t *testing.T) {
	release := make(chan struct{})
	addr := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/never" {
			<-release
		}
		echoes(w, r)
	}))
	defer close(release)
	never := echo(nil)
	never.Path = "/never"
	eachVersion(t, func(t *testing.T, c protocol.Carriage) {
		client, got := dial(t, addr, c, deadline(50*time.Millisecond)), new(tape)
		if _, err := client.Drive(t.Context(), inFlight, exactly(inFlight), calls(t, client, never), got); err != nil {
			t.Fatal(err)
		}
		got.only(t, "deadline_exceeded", inFlight)
		for _, o := range got.all {
			if o.End-o.Start < 50*time.Millisecond {
				t.Errorf("a call was given up after %v", o.End-o.Start)
			}
		}
	})
	eachVersion(t, func(t *testing.T, c protocol.Carriage) { // what comes after is whole
		client := dial(t, addr, c, deadline(2*time.Second))
		one, two := new(tape), new(tape)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if _, err := client.Drive(ctx, inFlight, exactly(100), calls(t, client, never), one); !errors.Is(err, context.Canceled) {
			t.Fatalf("a cancelled trial says %v", err)
		}
		one.only(t, "cancelled", inFlight)
		if _, err := client.Drive(t.Context(), inFlight, exactly(100), calls(t, client, echo([]byte("x"))), two); err != nil {
			t.Fatal(err)
		}
		two.only(t, "ok", 100)
	})
}

func TestStreamsBeyondWhatTheServerAllowsWait(t *testing.T) {
	const slots, allowed = 100, 10
	var now, most atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		echoes(w, r)
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: allowed}
	s.Start()
	defer s.Close()
	client := dial(t, s.Listener.Addr().String(), protocol.Carriage{HTTP2: true, Conns: 1, KeepAlive: true},
		func(c *lean.Config) { c.InFlight = slots })
	got := new(tape)
	totals, err := client.Drive(t.Context(), slots, exactly(2000), calls(t, client, echo(make([]byte, 100))), got)
	if err != nil {
		t.Fatal(err)
	}
	got.only(t, "ok", 2000)
	if most.Load() > allowed || totals.Queued < slots-allowed {
		t.Errorf("%d streams at once of %d, and %d calls waited", most.Load(), allowed, totals.Queued)
	}
}

func TestOpenLoop(t *testing.T) {
	addr := serve(t, http.HandlerFunc(echoes))
	eachVersion(t, func(t *testing.T, c protocol.Carriage) {
		client, got := dial(t, addr, c), new(tape)
		pace := load.OpenPace(load.Poisson(1000, 1), 300*time.Millisecond)
		totals, err := client.Drive(t.Context(), inFlight, pace, calls(t, client, echo([]byte("x"))), got)
		if err != nil || totals.NotStarted != pace.NotStarted(totals.Started) {
			t.Fatal(totals, err)
		}
		got.only(t, "ok", totals.Started)
		for _, o := range got.all {
			if o.Start < o.Intended || o.End < o.Start {
				t.Errorf("call %d was due %v, began %v, ended %v", o.N, o.Intended, o.Start, o.End)
			}
		}
	})
}

func TestCallsThatFindNoSlotAreNotSkipped(t *testing.T) {
	const takes = 20 * time.Millisecond
	addr := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-time.After(takes) }))
	client, got := dial(t, addr, protocol.Carriage{Conns: 1, KeepAlive: true}), new(tape)
	// An arrival a millisecond: all but the first find the one slot taken.
	totals, err := client.Drive(t.Context(), 1, load.OpenPace(load.Constant(1000), 200*time.Millisecond), calls(t, client, echo(nil)), got)
	if err != nil || totals.Started+totals.NotStarted != 200 || totals.Started > 11 {
		t.Fatal(totals, err)
	}
	for n, o := range got.all {
		if o.N != n || o.Intended != time.Duration(n)*time.Millisecond || o.Waited != (n == 0) {
			t.Errorf("call %d: %+v", n, o)
		}
	}
}

func TestSlotsAreFewerThanConnections(t *testing.T) {
	addr := serve(t, http.HandlerFunc(echoes))
	client := dial(t, addr, protocol.Carriage{Conns: 8, KeepAlive: true})
	for slots := 1; slots <= inFlight; slots++ {
		got := new(tape)
		if _, err := client.Drive(t.Context(), slots, exactly(50), calls(t, client, echo(nil)), got); err != nil {
			t.Fatal(err)
		}
		got.only(t, "ok", 50)
	}
	if _, err := client.Drive(t.Context(), inFlight+1, exactly(1), nil, nil); err == nil {
		t.Error("more slots than dialled for were taken")
	}
}

func TestPrepareRefusesWhatIsNotHTTP(t *testing.T) {
	client := dial(t, vacant(t), protocol.Carriage{})
	for _, f := range []protocol.Frame{
		{Verb: "GET", Path: "relative"},
		{Verb: "", Path: "/"},
		{Verb: "GET", Path: "/ HTTP/1.1\r\nx: y"},
		{Verb: "GET", Path: "/", Header: []protocol.Field{{Name: "x", Value: "a\r\nb: c"}}},
		{Verb: "GET", Path: "/", Header: []protocol.Field{{Name: "x y", Value: "z"}}},
	} {
		if _, err := client.Prepare(f); err == nil {
			t.Errorf("%+v was taken", f)
		}
	}
}
