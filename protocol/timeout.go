package protocol

import (
	"strconv"
	"time"
)

const maxTimeoutDigits = 99_999_999

// timeoutUnits are tried from the finest: what is rounded is rounded up, since
// the caller ends the call itself.
var timeoutUnits = []struct {
	letter byte
	length time.Duration
}{
	{'n', time.Nanosecond}, {'u', time.Microsecond}, {'m', time.Millisecond},
	{'S', time.Second}, {'M', time.Minute}, {'H', time.Hour},
}

// FormatTimeout spells a duration, which is above 0, as gRPC does: at most
// eight digits and a unit.
// Source: github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md, Timeout.
func FormatTimeout(d time.Duration) string {
	for _, unit := range timeoutUnits {
		if n := (d-1)/unit.length + 1; n <= maxTimeoutDigits {
			return string(append(strconv.AppendInt(nil, int64(n), 10), unit.letter))
		}
	}
	panic("a time.Duration is under 99,999,999 hours")
}

// ParseTimeout reads what FormatTimeout writes.
func ParseTimeout(s string) (time.Duration, bool) {
	if len(s) < 2 || len(s) > 9 {
		return 0, false
	}
	digits, letter := s[:len(s)-1], s[len(s)-1]
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0, false
	}
	for _, unit := range timeoutUnits {
		if unit.letter != letter {
			continue
		}
		const forever = time.Duration(1<<63 - 1)
		if time.Duration(n) > forever/unit.length {
			return forever, true
		}
		return time.Duration(n) * unit.length, true
	}
	return 0, false
}
