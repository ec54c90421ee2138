package hop_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/hop"
)

var (
	pay   = &rpc.Method{Service: "test", Name: "Pay"}
	watch = &rpc.Method{Service: "test", Name: "Watch", Kind: rpc.ServerStream}

	down     = &rpc.Error{Code: rpc.Unavailable, Message: "down", Transport: rpc.Refused}
	overload = &rpc.Error{Code: rpc.ResourceExhausted, Message: "later", RetryAfter: 300 * time.Millisecond}
)

// script answers each attempt with the next of its steps, and all further ones
// with the last.
type script struct {
	mu    sync.Mutex
	steps []step
	at    []time.Duration // when each attempt came
	given []time.Duration // until each one's deadline
	from  time.Time
}

type step struct {
	err   error
	takes time.Duration // or until the attempt's context ends, with its error
}

func newScript(steps ...step) *script { return &script{steps: steps, from: time.Now()} }

func (s *script) Handle(ctx context.Context, _ *rpc.Method, stream rpc.Stream) error {
	s.mu.Lock()
	now := s.steps[min(len(s.at), len(s.steps)-1)]
	s.at = append(s.at, time.Since(s.from))
	due, ok := ctx.Deadline()
	if !ok {
		panic("an attempt without a deadline")
	}
	s.given = append(s.given, time.Until(due))
	s.mu.Unlock()
	in, err := stream.Recv()
	if err != nil {
		return err
	}
	if now.takes > 0 {
		select {
		case <-time.After(now.takes):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if now.err != nil {
		return now.err
	}
	return stream.Send(in)
}

func (s *script) attempts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.at)
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func code(err error) rpc.Code {
	if e := rpc.ErrorOf(err); e != nil {
		return e.Code
	}
	return rpc.OK
}

func TestWhatIsRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		steps    []step
		want     rpc.Code
		attempts int
	}{
		"nothing that is answered":       {[]step{{}}, rpc.OK, 1},
		"a service that is back":         {[]step{{err: down}, {err: down}, {}}, rpc.OK, 3},
		"no more than the policy says":   {[]step{{err: down}}, rpc.Unavailable, 4},
		"what is refused for now":        {[]step{{err: overload}, {}}, rpc.OK, 2},
		"nothing that is refused":        {[]step{{err: rpc.Errorf(rpc.FailedPrecondition, "no")}, {}}, rpc.FailedPrecondition, 1},
		"nothing that is too long":       {[]step{{err: rpc.Errorf(rpc.ResourceExhausted, "too long")}, {}}, rpc.ResourceExhausted, 1},
		"nothing that failed within":     {[]step{{err: rpc.Errorf(rpc.Internal, "broken")}, {}}, rpc.Internal, 1},
		"nothing for which it must wait": {[]step{{err: &rpc.Error{Code: rpc.Unavailable, RetryAfter: 2 * time.Second}}, {}}, rpc.Unavailable, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newScript(c.steps...)
				out, err := rpc.Invoke(within(t, time.Minute), hop.New(s, hop.Default), pay, "in")
				if code(err) != c.want || s.attempts() != c.attempts || err == nil && out != "in" {
					t.Errorf("%v, %v after %d attempts; want %v after %d", out, err, s.attempts(), c.want, c.attempts)
				}
			})
		})
	}
}

// Pauses are random and grow, and none is shorter than the service asks for.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		most, differ := time.Duration(0), false
		var before time.Duration
		for i := range 50 {
			s := newScript(step{err: down}, step{err: down}, step{err: down}, step{})
			if _, err := rpc.Invoke(within(t, time.Minute), hop.New(s, hop.Default), pay, "in"); err != nil {
				t.Fatal(err)
			}
			for n, bound := range []time.Duration{25, 50, 100} {
				if p := s.at[n+1] - s.at[n]; p >= bound*time.Millisecond {
					t.Errorf("pause %d is %v", n+1, p)
				}
			}
			last := s.at[3] - s.at[2]
			most, differ = max(most, last), differ || i > 0 && last != before
			before = last
		}
		if most < 50*time.Millisecond || !differ {
			t.Errorf("the longest of fifty third pauses was %v", most)
		}
		s := newScript(step{err: overload}, step{})
		if _, err := rpc.Invoke(within(t, time.Minute), hop.New(s, hop.Default), pay, "in"); err != nil {
			t.Fatal(err)
		}
		if p := s.at[1]; p < 300*time.Millisecond || p > 325*time.Millisecond {
			t.Errorf("came again after %v; was asked to after 300 ms", p)
		}
	})
}

func TestNothingOutlastsItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := newScript(step{err: overload})
		_, err := rpc.Invoke(within(t, 200*time.Millisecond), hop.New(s, hop.Default), pay, "in")
		if code(err) != rpc.ResourceExhausted || time.Since(began) != 0 || s.attempts() != 1 {
			t.Errorf("%v after %v; there is no time to come again", err, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		s = newScript(step{err: overload})
		time.AfterFunc(100*time.Millisecond, cancel)
		_, err = rpc.Invoke(ctx, hop.New(s, hop.Default), pay, "in")
		if code(err) != rpc.Canceled || time.Since(began) != 100*time.Millisecond {
			t.Errorf("%v after %v; the caller left after 100 ms", err, time.Since(began))
		}
	})
}

func TestAnAttemptThatHangsLeavesRoomForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(step{takes: time.Hour}, step{takes: time.Second})
		out, err := rpc.Invoke(within(t, 8*time.Second), hop.New(s, hop.Default), pay, "in")
		if err != nil || out != "in" || s.given[0] != 4*time.Second || s.at[1] > 4100*time.Millisecond {
			t.Errorf("%v, %v; attempts came at %v and were given %v", out, err, s.at, s.given)
		}
		// All that hang take no longer than the caller gave.
		began := time.Now()
		s = newScript(step{takes: time.Hour})
		_, err = rpc.Invoke(within(t, 8*time.Second), hop.New(s, hop.Default), pay, "in")
		if took := time.Since(began); code(err) != rpc.DeadlineExceeded || took > 8*time.Second || took < 7*time.Second || s.attempts() < 3 {
			t.Errorf("%v after %v and %d attempts", err, took, s.attempts())
		}
		// What leaves no room is not parted.
		s = newScript(step{takes: time.Hour})
		_, err = rpc.Invoke(within(t, 200*time.Millisecond), hop.New(s, hop.Default), pay, "in")
		if code(err) != rpc.DeadlineExceeded || s.attempts() != 1 || s.given[0] != 200*time.Millisecond {
			t.Errorf("%v after %d attempts, the first given %v", err, s.attempts(), s.given[0])
		}
	})
}

func TestCallersWithoutADeadlineGetOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := newScript(step{takes: time.Hour})
		_, err := rpc.Invoke(t.Context(), hop.New(s, hop.Default), pay, "in")
		if took := time.Since(began); code(err) != rpc.DeadlineExceeded || took < 9*time.Second || took > 10*time.Second+100*time.Millisecond {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// However many callers there are, repetitions add little to the load of a
// service that answers none of them: here the breaker does not help.
func TestRepetitionsAreAShareOfTheCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := hop.Default
		p.Breaker.AtLeast = 1 << 30
		s := newScript(step{err: overload})
		h := hop.New(s, p)
		for range 1000 {
			if _, err := rpc.Invoke(within(t, time.Minute), h, pay, "in"); code(err) != rpc.ResourceExhausted {
				t.Fatal(err)
			}
		}
		if n := s.attempts(); n < 1005 || n > 1010 {
			t.Errorf("a thousand calls made %d attempts; want ten more than calls", n)
		}
		s.steps, s.at = []step{{}}, nil
		for range 50 {
			if _, err := rpc.Invoke(within(t, time.Minute), h, pay, "in"); err != nil {
				t.Fatal(err)
			}
		}
		s.steps, s.at = []step{{err: overload}}, nil
		for range 100 {
			_, _ = rpc.Invoke(within(t, time.Minute), h, pay, "in")
		}
		if n := s.attempts(); n != 105 {
			t.Errorf("after fifty answers, a hundred calls made %d attempts; want 105", n)
		}
	})
}

func TestStreamsAreHandedOn(t *testing.T) {
	n := 0
	h := hop.New(rpc.HandlerFunc(func(ctx context.Context, _ *rpc.Method, s rpc.Stream) error {
		n++
		if _, ok := ctx.Deadline(); ok {
			t.Error("a stream got a deadline")
		}
		return down
	}), hop.Default)
	err := rpc.Call(t.Context(), h, watch, []any{"in"}, func(any) error { return nil })
	if code(err) != rpc.Unavailable || n != 1 {
		t.Errorf("%v after %d attempts", err, n)
	}
}

func TestAnAttemptWithoutItsOneReplyFails(t *testing.T) {
	for _, replies := range []int{0, 2} {
		h := hop.New(rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
			for range replies {
				if err := s.Send("out"); err != nil {
					return err
				}
			}
			return nil
		}), hop.Default)
		if _, err := rpc.Invoke(t.Context(), h, pay, "in"); code(err) != rpc.Internal {
			t.Errorf("%d replies gave %v", replies, err)
		}
	}
}

// A panic is the caller's; a probe that panics lets the next one try.
func TestPanicsPassOn(t *testing.T) {
	h := hop.New(rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { panic("lost") }), hop.Default)
	defer func() {
		if p := recover(); p != "lost" {
			t.Errorf("recovered %v", p)
		}
	}()
	_, err := rpc.Invoke(t.Context(), h, pay, "in")
	t.Errorf("gave %v", err)
}

func BenchmarkHop(b *testing.B) {
	next := rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		return s.Send(in)
	})
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	for name, h := range map[string]rpc.Handler{"none": next, "hop": hop.New(next, hop.Default)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := rpc.Invoke(ctx, h, pay, "in"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
