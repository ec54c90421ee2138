package runner

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

func TestWarmUpEndsOnceTheRateStopsRising(t *testing.T) {
	for name, c := range map[string]struct {
		rates []float64
		want  bool
	}{
		"too few slices to say":               {[]float64{1, 9, 9, 9, 9, 9}, false},
		"level, the first slice apart":        {[]float64{1, 9, 9, 9, 9, 9, 9}, true},
		"still rising":                        {[]float64{1, 5, 6, 7, 8, 9, 10}, false},
		"risen, then level":                   {[]float64{1, 5, 6, 7, 9, 9, 9, 9, 9, 9}, true},
		"a busy machine slows it":             {[]float64{1, 9, 9, 9, 7, 7, 7}, true},
		"a rise within the noise":             {[]float64{1, 100, 100, 100, 104, 104, 104}, true},
		"one slow slice after another is not": {[]float64{1, 9, 3, 9, 9, 9, 9}, false},
	} {
		if got := level(c.rates, levelOver); got != c.want {
			t.Errorf("%s: level = %v", name, got)
		}
	}
}

// Calls that last longer than a slice draw it out: fewer slices say as much.
func TestALongSliceOfWarmUpSaysAsMuchAsShortOnes(t *testing.T) {
	for lasted, want := range map[float64]int{0.1: 3, 0.102: 3, 0.149: 3, 0.16: 2, 0.29: 2, 0.31: 1, 5: 1, 0.02: 3} {
		if got := judged(100*time.Millisecond, lasted); got != want {
			t.Errorf("slices of %g s: judged over %d, want %d", lasted, got, want)
		}
	}
	if rates := []float64{1, 9, 9}; !level(rates, 1) || level(rates[:2], 1) || level([]float64{1, 9, 10}, 1) {
		t.Error("a rate judged over one slice takes that, the one before, and the first")
	}
}

func TestAWarmUpIsLongEnoughToJudgeItAcrossALink(t *testing.T) {
	for trip, want := range map[time.Duration][2]time.Duration{
		0:                      {100 * time.Millisecond, 3 * time.Second},
		25 * time.Millisecond:  {100 * time.Millisecond, 3 * time.Second},
		100 * time.Millisecond: {400 * time.Millisecond, 8 * time.Second},
		time.Second:            {4 * time.Second, 80 * time.Second},
	} {
		slice, atMost := warmUpTimes(trip)
		if slice != want[0] || atMost != want[1] {
			t.Errorf("a round trip of %v: slices of %v, up to %v; want %v", trip, slice, atMost, want)
		}
		if atMost < (1+2*levelOver)*slice {
			t.Errorf("a round trip of %v: %v is too short for a rate to be level", trip, atMost)
		}
	}
}

func TestAnswersAreComparedAsValues(t *testing.T) {
	ok := func(replies ...string) peer.Answer {
		return peer.Answer{Call: "Pay, probe 1", Code: "OK", Replies: replies}
	}
	for name, c := range map[string]struct {
		a, b peer.Answer
		same bool
	}{
		"equal":                      {ok(`{"n":1}`), ok(`{"n":1}`), true},
		"white space and order":      {ok(`{"n":1,"m":[2]}`), ok(`{ "m":[2], "n":1 }`), true},
		"a digit beyond float64":     {ok(`{"n":9007199254740993}`), ok(`{"n":9007199254740992}`), false},
		"a string and a number":      {ok(`{"n":"1"}`), ok(`{"n":1}`), false},
		"a missing field":            {ok(`{"n":1,"m":""}`), ok(`{"n":1}`), false},
		"one reply more":             {ok(`{}`), ok(`{}`, `{}`), false},
		"another code":               {ok(), peer.Answer{Code: "NOT_FOUND"}, false},
		"another text of an error":   {peer.Answer{Code: "NOT_FOUND", Message: "a"}, peer.Answer{Code: "NOT_FOUND", Message: "b"}, false},
		"not JSON, the same to read": {ok("x"), ok("x"), true},
	} {
		text := difference("one", "other", []peer.Answer{c.a}, []peer.Answer{c.b})
		if (text == "") != c.same {
			t.Errorf("%s: difference = %q", name, text)
		}
		if !c.same && !strings.Contains(text, "one") {
			t.Errorf("%s: %q names no contender", name, text)
		}
	}
	if difference("one", "other", nil, []peer.Answer{ok()}) == "" {
		t.Error("a contender that answers fewer probes passes for equal")
	}
}

func TestAPlanWithoutItsRateIsNotRun(t *testing.T) {
	var end *record.End
	keep := func(l record.Line) error { end = l.End; return nil }
	p := &plan.Plan{Arrivals: plan.Poisson, RateShare: 0.5, Blocks: make([]plan.Block, 1)}
	err := Run(t.Context(), p, Options{Peer: []string{"/nowhere"}, Keep: keep, Watch: func(Progress) {}})
	if !errors.Is(err, plan.ErrNoPilot) || end == nil || end.Reason != failed {
		t.Errorf("got %v, and the end %+v", err, end)
	}
}

func TestTailKeepsTheEnd(t *testing.T) {
	var l tail
	if l.quote() != "" {
		t.Errorf("quotes %q of nothing", l.quote())
	}
	for range 1000 {
		if _, err := l.Write([]byte("noise\n")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Write([]byte("panic: the reason\n")); err != nil {
		t.Fatal(err)
	}
	if got := l.quote(); !strings.HasSuffix(got, "panic: the reason") || len(got) > 2*tailLength {
		t.Errorf("quotes %d bytes that end in %.40q", len(got), got[max(0, len(got)-40):])
	}
}

// Seeds of warm-ups must be none of a plan's, and differ from block to block:
// a service that keeps its records would take a repeated call for a retry.
func TestWarmUpSeedsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for block := range 100 {
		for n := range 40 {
			s := warmUpSeed(block, n)
			if seen[s] {
				t.Fatalf("block %d, slice %d: seed %d again", block, n, s)
			}
			seen[s] = true
		}
	}
}
