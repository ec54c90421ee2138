package protocol_test

import (
	"math"
	"testing"
	"time"

	"github.com/tare-bench/tare/protocol"
)

func TestTimeoutsAreThoseOfGRPC(t *testing.T) {
	for _, test := range []struct {
		d    time.Duration
		wire string
	}{
		{1, "1n"},
		{1500 * time.Microsecond, "1500000n"},
		{100*time.Millisecond + 1, "100001u"}, // rounded up
		{10 * time.Second, "10000000u"},
		{99_999_999 * time.Microsecond, "99999999u"},
		{100 * time.Second, "100000m"},
		{30 * time.Hour, "108000S"},
		{math.MaxInt64, ""}, // in whatever unit fits
	} {
		got := protocol.FormatTimeout(test.d)
		if test.wire != "" && got != test.wire {
			t.Errorf("%s is written %s, want %s", test.d, got, test.wire)
		}
		if back, ok := protocol.ParseTimeout(got); !ok || back < test.d {
			t.Errorf("%s reads as %s, want at least %s", got, back, test.d)
		}
	}
	for wire, want := range map[string]time.Duration{
		"5n": 5, "2M": 2 * time.Minute, "3H": 3 * time.Hour, "99999999H": math.MaxInt64,
	} {
		if got, ok := protocol.ParseTimeout(wire); !ok || got != want {
			t.Errorf("%s reads as %s, want %s", wire, got, want)
		}
	}
	for _, wire := range []string{"", "5", "S", "-5S", "+5S", "5s", "5.0S", "123456789S", " 5S"} {
		if got, ok := protocol.ParseTimeout(wire); ok {
			t.Errorf("%q reads as %s, want it refused", wire, got)
		}
	}
}
