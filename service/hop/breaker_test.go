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

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(step{err: down})
		h := hop.New(s, hop.Default)
		call := func() *rpc.Error {
			_, err := rpc.Invoke(within(t, time.Minute), h, pay, "in")
			return rpc.ErrorOf(err)
		}
		for s.attempts() < 20 {
			call()
		}
		e := call()
		if s.attempts() != 20 || e == nil || e.Code != rpc.Unavailable || e.RetryAfter != 2*time.Second {
			t.Fatalf("after 20 failures: %v, come again after %v, %d attempts", e, e.RetryAfter, s.attempts())
		}
		time.Sleep(1500 * time.Millisecond)
		if e := call(); e == nil || e.RetryAfter != 500*time.Millisecond || s.attempts() != 20 {
			t.Errorf("1.5 s later: %v, come again after %v", e, e.RetryAfter)
		}
		time.Sleep(501 * time.Millisecond) // one probe fails: open again
		if e := call(); e == nil || s.attempts() != 21 {
			t.Errorf("2 s later: %v after %d attempts; want one more", e, s.attempts())
		}
		if e := call(); e == nil || s.attempts() != 21 {
			t.Errorf("after the probe: %v after %d attempts; want none", e, s.attempts())
		}
		time.Sleep(2001 * time.Millisecond)
		s.steps = []step{{takes: time.Second}} // it is back; no more than three probe at once
		var wg sync.WaitGroup
		var mu sync.Mutex
		refused := 0
		for range 10 {
			wg.Go(func() {
				if e := call(); e != nil {
					mu.Lock()
					defer mu.Unlock()
					refused++
				}
			})
		}
		wg.Wait()
		if refused != 7 || s.attempts() != 24 {
			t.Errorf("of ten at once %d were refused, %d attempts", refused, s.attempts())
		}
		if e := call(); e != nil {
			t.Errorf("with the service back: %v", e)
		}
	})
}

// Of a service that refuses work, or fails in it, it is known that it is up; of
// one whose callers leave, or are in too much of a hurry, nothing is.
func TestWhatDoesNotBreak(t *testing.T) {
	for name, s := range map[string]step{
		"overload":       {err: overload},
		"its own faults": {err: rpc.Errorf(rpc.Internal, "broken")},
		"hurry":          {takes: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				next := newScript(s)
				h := hop.New(next, hop.Default)
				for range 100 {
					_, _ = rpc.Invoke(within(t, 100*time.Millisecond), h, pay, "in")
				}
				if next.attempts() < 100 {
					t.Errorf("%d of 100 calls were tried", next.attempts())
				}
			})
		})
	}
	t.Run("callers that leave", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			next := newScript(step{takes: time.Hour})
			h := hop.New(next, hop.Default)
			for range 100 {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				_, _ = rpc.Invoke(ctx, h, pay, "in")
			}
			if next.attempts() != 100 {
				t.Errorf("%d of 100 calls were tried", next.attempts())
			}
		})
	})
}

// Nor do probes whose callers leave tell that a service is back.
func TestProbesThatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScript(step{err: down})
		h := hop.New(s, hop.Default)
		for s.attempts() < 20 {
			_, _ = rpc.Invoke(within(t, time.Minute), h, pay, "in")
		}
		time.Sleep(2001 * time.Millisecond)
		s.steps = []step{{takes: time.Hour}}
		for range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			_, _ = rpc.Invoke(ctx, h, pay, "in")
		}
		s.steps = []step{{err: down}}
		for range 5 {
			_, _ = rpc.Invoke(within(t, time.Minute), h, pay, "in")
		}
		if n := s.attempts(); n != 26 {
			t.Errorf("%d attempts; want 20, five that were left and one that failed", n)
		}
	})
}
