package protocol_test

import (
	"math"
	"testing"
	"time"

	"github.com/tare-bench/tare/protocol"
)

func TestRetryAfterIsWholeSecondsRoundedUp(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1: "1", 50 * time.Millisecond: "1", time.Second: "1", time.Second + 1: "2", 90 * time.Second: "90",
		math.MaxInt64: "9223372037",
	} {
		got := protocol.FormatRetryAfter(d)
		if got != want {
			t.Errorf("%s is written %s, want %s", d, got, want)
		}
		if back := protocol.ParseRetryAfter(got, "", time.Time{}); back < d {
			t.Errorf("%s reads as %s, want at least %s", got, back, d)
		}
	}
}

func TestRetryAfterReadsSecondsAndTimes(t *testing.T) {
	now := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		value, date string
		want        time.Duration
	}{
		{"120", "", 2 * time.Minute},
		{"0", "", 0},
		{"99999999999999999", "", math.MaxInt64},
		{"99999999999999999999999", "", 0},
		{"Tue, 01 Dec 2026 08:00:30 GMT", "", 30 * time.Second},
		{"Tuesday, 01-Dec-26 08:00:30 GMT", "", 30 * time.Second},
		{"Tue, 01 Dec 2026 08:00:30 GMT", "Tue, 01 Dec 2026 08:00:20 GMT", 10 * time.Second},
		{"Tue, 01 Dec 2026 08:00:30 GMT", "yesterday", 30 * time.Second},
		{"Tue, 01 Dec 2026 07:59:30 GMT", "", 0},
		{"", "", 0},
		{"-5", "", 0},
		{"+5", "", 0},
		{"5s", "", 0},
		{"soon", "", 0},
	} {
		if got := protocol.ParseRetryAfter(test.value, test.date, now); got != test.want {
			t.Errorf("%q with date %q is %s, want %s", test.value, test.date, got, test.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120", "")
	f.Add("Tue, 01 Dec 2026 08:00:30 GMT", "Tue, 01 Dec 2026 08:00:20 GMT")
	f.Fuzz(func(t *testing.T, value, date string) {
		got := protocol.ParseRetryAfter(value, date, time.Unix(0, 0))
		if got < 0 {
			t.Fatalf("%q with date %q is %s", value, date, got)
		}
		if got == 0 || got == math.MaxInt64 {
			return
		}
		if back := protocol.ParseRetryAfter(protocol.FormatRetryAfter(got), "", time.Time{}); back < got {
			t.Fatalf("%s comes back as %s", got, back)
		}
	})
}
