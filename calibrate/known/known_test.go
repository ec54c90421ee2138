package known

import (
	"context"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

func TestSettings(t *testing.T) {
	for _, c := range []struct {
		name, value string
		want        weight // or an error, where it is none
	}{
		{"wait", "5ms", weight{wait: 5 * time.Millisecond}},
		{"burn", "1.5us", weight{burn: 1500}},
		{"spend", "2us", weight{spend: 2000}},
		{"serial", "2ms", weight{serial: service{2 * time.Millisecond, false}}},
		{"serial", "exp:2ms", weight{serial: service{2 * time.Millisecond, true}}},
		{"stall", "1s:6s", weight{stall: stall{time.Second, 6 * time.Second}}},
		{"stall", "1s", weight{}},
		{"wait", "soon", weight{}},
		{"burn", "-1us", weight{}},
		{"serial", "exp:", weight{}},
	} {
		got, err := weightOf(setting.Values{c.name: c.value})
		if refused := c.want == (weight{}); refused != (err != nil) || err == nil && got != c.want {
			t.Errorf("%s=%s: %+v, %v; want %+v", c.name, c.value, got, err, c.want)
		}
	}
	v, err := setting.Resolve(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	if w, err := weightOf(v); err != nil || w != (weight{}) {
		t.Errorf("defaults weigh %+v, %v; want nothing", w, err)
	}
}

// timed makes calls at given moments and gives when each is done.
func timed(t *testing.T, w weight, at ...time.Duration) []time.Duration {
	t.Helper()
	done := make([]time.Duration, len(at))
	synctest.Test(t, func(t *testing.T) {
		clock := load.Timers()
		h := w.before(t.Context(), rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { return nil }), clock)
		for i, moment := range at {
			go func() {
				clock.WaitUntil(t.Context(), moment)
				if err := h.Handle(t.Context(), nil, nil); err != nil {
					t.Error(err)
				}
				done[i] = clock.Now()
			}()
		}
		time.Sleep(time.Hour)
		synctest.Wait()
	})
	return done
}

func TestWeights(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		what     string
		w        weight
		at, want []time.Duration
	}{
		{"none", weight{}, []time.Duration{0, 7}, []time.Duration{0, 7}},
		{"each waits", weight{wait: 5 * ms}, []time.Duration{0, ms}, []time.Duration{5 * ms, 6 * ms}},
		{"one after the other", weight{serial: service{mean: 2 * ms}},
			[]time.Duration{0, ms, 10 * ms}, []time.Duration{2 * ms, 4 * ms, 12 * ms}},
		{"all stand still once", weight{stall: stall{10 * ms, 5 * ms}},
			[]time.Duration{1 * ms, 5 * ms, 6 * ms, 12 * ms, 16 * ms, 30 * ms},
			[]time.Duration{1 * ms, 5 * ms, 16 * ms, 16 * ms, 16 * ms, 30 * ms}},
	} {
		got := timed(t, c.w, c.at...)
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: done at %v; want %v", c.what, got, c.want)
				break
			}
		}
	}
}

func TestExponentialServiceHasItsMean(t *testing.T) {
	const n = 100_000
	q := newQueue(service{time.Millisecond, true})
	var last time.Duration
	for range n {
		last = q.leaves(0)
	}
	if mean := last / n; mean < 990*time.Microsecond || mean > 1010*time.Microsecond {
		t.Errorf("mean service time %v; want 1ms", mean)
	}
}

// What one call burns too much another burns less, so that the CPU time is never
// behind what was asked for, nor ahead by more than one look at a clock.
func TestBurnKeepsAccount(t *testing.T) {
	b := &burner{each: 20 * time.Microsecond}
	for range 100 {
		if err := b.burn(); err != nil {
			t.Fatal(err)
		}
	}
	ahead := time.Duration(b.ahead.Load())
	if ahead < 0 {
		t.Errorf("burnt %v too little", -ahead)
	}
	b.ahead.Store(int64(time.Hour)) // all has been burnt beforehand
	if err := b.burn(); err != nil {
		t.Fatal(err)
	}
	if left := time.Duration(b.ahead.Load()); left < time.Hour-time.Second || left > time.Hour-19*time.Microsecond {
		t.Errorf("%v are left of an hour after a call of 20us", left)
	}
}

// From call to call a spender's thread uses what was asked for, and a look or two at the
// clock more or less: its own wakings are in it.
func TestSpenderSpendsAllThatItsThreadUses(t *testing.T) {
	const each, calls = 100 * time.Microsecond, 400
	s := newSpender(t.Context(), each)
	spent := func(n int) time.Duration {
		for range n {
			if err := s.spend(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		threads, err := ThreadsCPU(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		thread := threads[strconv.Itoa(s.thread)]
		if thread.Name != SpenderThread {
			t.Fatalf("thread %d is called %q", s.thread, thread.Name)
		}
		return thread.CPU
	}
	before := spent(1) // the thread may have served others
	if used := spent(calls) - before; used < (calls-2)*each || used > (calls+2)*each {
		t.Errorf("%v were spent in %d calls; want %v", used, calls, calls*each)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	busy := &spender{each: each, todo: nil} // nobody takes its work
	if err := busy.spend(over); err == nil {
		t.Error("a call whose time is over spends")
	}
}
