package admission_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/admission"
)

var (
	unary = &rpc.Method{Service: "test", Name: "Work"}
	watch = &rpc.Method{Service: "test", Name: "Watch", Kind: rpc.ServerStream}
)

// office is a handler that works for each call as long as it says, and notes
// the order in which it begins.
type office struct {
	mu    sync.Mutex
	begun []string
	busy  int
	most  int
}

func (o *office) Handle(ctx context.Context, _ *rpc.Method, s rpc.Stream) error {
	in, err := s.Recv()
	if err != nil {
		return err
	}
	j := in.(job)
	o.mu.Lock()
	o.begun = append(o.begun, j.name)
	o.busy++
	o.most = max(o.most, o.busy)
	o.mu.Unlock()
	time.Sleep(j.takes)
	o.mu.Lock()
	o.busy--
	o.mu.Unlock()
	return s.Send(j.name)
}

type job struct {
	name  string
	takes time.Duration
}

// caller makes calls of a gate, and keeps what became of them.
type caller struct {
	gate rpc.Handler
	mu   sync.Mutex
	got  map[string]*rpc.Error
	at   map[string]time.Duration // since the first call
	from time.Time
	wg   sync.WaitGroup
}

func newCaller(t *testing.T, h rpc.Handler, l admission.Limits) *caller {
	t.Helper()
	g, err := admission.New(h, l)
	if err != nil {
		t.Fatal(err)
	}
	return &caller{gate: g, got: map[string]*rpc.Error{}, at: map[string]time.Duration{}, from: time.Now()}
}

// call makes a call in the background, and returns once it works, waits or has
// ended.
func (c *caller) call(ctx context.Context, m *rpc.Method, j job) {
	c.wg.Go(func() {
		err := rpc.Call(ctx, c.gate, m, []any{j}, func(any) error { return nil })
		c.mu.Lock()
		defer c.mu.Unlock()
		c.got[j.name], c.at[j.name] = rpc.ErrorOf(err), time.Since(c.from)
	})
	synctest.Wait()
}

func (c *caller) want(t *testing.T, name string, code rpc.Code, at time.Duration) *rpc.Error {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ended := c.got[name]
	got := rpc.OK
	if e != nil {
		got = e.Code
	}
	if !ended || got != code || c.at[name] != at {
		t.Errorf("%s: ended %v at %v with %v; want %v at %v", name, ended, c.at[name], e, code, at)
	}
	if e == nil {
		e = new(rpc.Error)
	}
	return e
}

func TestCallsBeyondTheLimitsWaitInTurnOrAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := new(office)
		c := newCaller(t, o, admission.Limits{AtWork: 2, Waiting: 2, Wait: time.Minute})
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			c.call(t.Context(), unary, job{name, time.Second})
		}
		c.want(t, "e", rpc.ResourceExhausted, 0)
		c.wg.Wait()
		for name, at := range map[string]time.Duration{"a": time.Second, "b": time.Second, "c": 2 * time.Second, "d": 2 * time.Second} {
			c.want(t, name, rpc.OK, at)
		}
		if o.most != 2 || o.begun[2] != "c" || len(o.begun) != 4 {
			t.Errorf("%d worked at once, begun were %v", o.most, o.begun)
		}
		c.call(t.Context(), unary, job{"f", 0})
		c.want(t, "f", rpc.OK, 2*time.Second)
	})
}

// While all places are taken, a unary call is told so before it is handed over.
func TestCallsAreRefusedUnreadWhileAllPlacesAreTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCaller(t, new(office), admission.Limits{AtWork: 1, Waiting: 1, Wait: time.Minute, Streams: 1})
		refused := func(m *rpc.Method) error { return rpc.Refusal(c.gate, m) }
		c.call(t.Context(), unary, job{"works", time.Second})
		if err := refused(unary); err != nil {
			t.Errorf("one may wait, and is told %v", err)
		}
		c.call(t.Context(), unary, job{"waits", time.Second})
		var e *rpc.Error
		if err := refused(unary); !errors.As(err, &e) || e.Code != rpc.ResourceExhausted || e.RetryAfter == 0 {
			t.Errorf("all places are taken, and one more is told %v", err)
		}
		if err := refused(watch); err != nil {
			t.Errorf("a stream waits for no place of a unary call, and is told %v", err)
		}
		c.wg.Wait()
		if err := refused(unary); err != nil {
			t.Errorf("all places are free, and one is told %v", err)
		}
	})
}

// When to come again is what the backlog takes at the rate at which calls end.
func TestRefusalSaysWhenToComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCaller(t, new(office), admission.Limits{AtWork: 2, Waiting: 3, Wait: time.Minute})
		refused := func(name string, takes time.Duration, want time.Duration) {
			t.Helper()
			c.call(t.Context(), unary, job{name + " warm", takes}) // the first tells what a call takes
			c.wg.Wait()
			for i := range 5 {
				c.call(t.Context(), unary, job{fmt.Sprint(name, i), takes})
			}
			c.call(t.Context(), unary, job{name, takes})
			if e := c.want(t, name, rpc.ResourceExhausted, time.Since(c.from)); e.RetryAfter != want {
				t.Errorf("%s: come again after %v; want %v", name, e.RetryAfter, want)
			}
			c.wg.Wait()
		}
		refused("a call takes 0.5 s", 500*time.Millisecond, time.Second) // 3 wait, and this one: 4 / (2 / 0.5 s)
		for range 400 {                                                  // now they are quick
			c.call(t.Context(), unary, job{"quick", time.Microsecond})
			c.wg.Wait()
		}
		refused("a call takes 1 µs", time.Microsecond, 50*time.Millisecond)
		for range 200 {
			c.call(t.Context(), unary, job{"slow", time.Minute})
			c.wg.Wait()
		}
		refused("a call takes a minute", time.Minute, 5*time.Second)
	})
}

func TestNoneWaitsLongerThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := new(office)
		c := newCaller(t, o, admission.Limits{AtWork: 1, Waiting: 9, Wait: 100 * time.Millisecond})
		c.call(t.Context(), unary, job{"long", time.Second})
		c.call(t.Context(), unary, job{"late", 0})
		c.wg.Wait()
		c.want(t, "late", rpc.ResourceExhausted, 100*time.Millisecond)
		c.call(t.Context(), unary, job{"after", 0})
		c.want(t, "after", rpc.OK, time.Second)
		if len(o.begun) != 2 {
			t.Errorf("worked for %v", o.begun)
		}
	})
}

// A caller that is gone is not worked for, and its turn is the next one's.
func TestCallersThatAreGoneAreNotWorkedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := new(office)
		c := newCaller(t, o, admission.Limits{AtWork: 1, Waiting: 9, Wait: time.Minute})
		hurried, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		tired, leave := context.WithCancel(t.Context())
		c.call(t.Context(), unary, job{"first", time.Second})
		c.call(hurried, unary, job{"hurried", 0})
		c.call(tired, unary, job{"tired", 0})
		c.call(t.Context(), unary, job{"patient", 0})
		leave()
		c.wg.Wait()
		c.want(t, "tired", rpc.Canceled, 0)
		c.want(t, "hurried", rpc.DeadlineExceeded, 300*time.Millisecond)
		c.want(t, "patient", rpc.OK, time.Second)
		if len(o.begun) != 2 {
			t.Errorf("worked for %v", o.begun)
		}
	})
}

func TestADeadlineThatCannotBeMetIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := new(office)
		c := newCaller(t, o, admission.Limits{AtWork: 1, Waiting: 9, Wait: time.Minute})
		c.call(t.Context(), unary, job{"warm", time.Second})
		c.wg.Wait()
		c.call(t.Context(), unary, job{"first", time.Second})
		c.call(t.Context(), unary, job{"second", time.Second})
		hurried, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		c.call(hurried, unary, job{"hurried", time.Second})
		if e := c.want(t, "hurried", rpc.ResourceExhausted, time.Second); e.RetryAfter != 2*time.Second {
			t.Errorf("come again after %v", e.RetryAfter)
		}
		roomy, cancel2 := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel2()
		c.call(roomy, unary, job{"roomy", 0})
		c.wg.Wait()
		c.want(t, "roomy", rpc.OK, 3*time.Second)
	})
}

// Streams take nobody's place, and wait for none.
func TestStreamsAreCountedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCaller(t, new(office), admission.Limits{AtWork: 1, Wait: time.Minute, Streams: 2})
		for _, name := range []string{"w1", "w2", "w3"} {
			c.call(t.Context(), watch, job{name, time.Hour})
		}
		if e := c.want(t, "w3", rpc.ResourceExhausted, 0); e.RetryAfter != 5*time.Second {
			t.Errorf("come again after %v", e.RetryAfter)
		}
		c.call(t.Context(), unary, job{"work", time.Second})
		c.call(t.Context(), unary, job{"more", time.Second})
		c.want(t, "more", rpc.ResourceExhausted, 0)
		c.wg.Wait()
		c.want(t, "work", rpc.OK, time.Second)
		c.call(t.Context(), watch, job{"w4", 0})
		c.want(t, "w4", rpc.OK, time.Hour)
	})
}

// A handler that panics gives its place back.
func TestPanicsGiveTheirPlaceBack(t *testing.T) {
	h := rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { panic("lost") })
	g, err := admission.New(h, admission.Limits{AtWork: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		func() {
			defer func() {
				if p := recover(); p != "lost" {
					t.Errorf("recovered %v", p)
				}
			}()
			if _, err := rpc.Invoke(t.Context(), g, unary, nil); err != nil {
				t.Error(err)
			}
		}()
	}
}

func TestManyCallersShareFewPlaces(t *testing.T) {
	o := new(office)
	c := newCaller(t, o, admission.Limits{AtWork: 3, Waiting: 1000, Wait: time.Minute})
	for i := range 500 {
		c.wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			if i%3 == 0 {
				cancel()
			}
			_, err := rpc.Invoke(ctx, c.gate, unary, job{})
			cancel()
			if e := rpc.ErrorOf(err); e != nil && e.Code != rpc.Canceled {
				t.Error(err)
			}
		})
	}
	c.wg.Wait()
	if o.most > 3 {
		t.Errorf("%d worked at once", o.most)
	}
	for range 3 { // nobody has kept a place
		if _, err := rpc.Invoke(t.Context(), c.gate, unary, job{}); err != nil {
			t.Error(err)
		}
	}
}

// A caller may leave just when its turn comes; the turn is not lost.
func TestLeavingAtOnesTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 2000 { // of which some meet
			ctx, leave := context.WithCancel(t.Context())
			c := newCaller(t, rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
				time.Sleep(time.Second)
				leave()
				return nil
			}), admission.Limits{AtWork: 1, Waiting: 1, Wait: time.Minute})
			c.call(t.Context(), unary, job{name: "first"})
			c.call(ctx, unary, job{name: "leaves"})
			c.wg.Wait()
			c.call(t.Context(), unary, job{name: "next"})
			c.mu.Lock()
			_, ended := c.got["next"]
			c.mu.Unlock()
			if ended {
				t.Fatal("the handler takes a second, and did not")
			}
			time.Sleep(time.Second)
			synctest.Wait()
			c.want(t, "next", rpc.OK, 2*time.Second)
			if t.Failed() {
				return
			}
		}
	})
}

func TestLimitsThatAdmitNothingAreRefused(t *testing.T) {
	for _, l := range []admission.Limits{{}, {AtWork: -1}, {AtWork: 1, Waiting: -1}, {AtWork: 1, Wait: -1}, {AtWork: 1, Streams: -1}} {
		if _, err := admission.New(new(office), l); err == nil {
			t.Errorf("%+v were taken", l)
		}
	}
}

func BenchmarkGate(b *testing.B) {
	idle := rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { return nil })
	g, err := admission.New(idle, admission.Default)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("admits", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = g.Handle(b.Context(), unary, nil)
		}
	})
	b.Run("admits many at once", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				_ = g.Handle(b.Context(), unary, nil)
			}
		})
	})
	b.Run("refuses", func(b *testing.B) {
		full, release := make(chan struct{}), make(chan struct{})
		g, err := admission.New(rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
			close(full)
			<-release
			return nil
		}), admission.Limits{AtWork: 1})
		if err != nil {
			b.Fatal(err)
		}
		var wg sync.WaitGroup
		wg.Go(func() { _ = g.Handle(b.Context(), unary, nil) })
		<-full
		b.ReportAllocs()
		for b.Loop() {
			_ = g.Handle(b.Context(), unary, nil)
		}
		close(release)
		wg.Wait()
	})
}
