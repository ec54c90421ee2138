package rest

import (
	"strconv"
	"time"
)

// timeoutField carries how long the caller still waits, as in gRPC: up to eight
// digits and a unit. Source: gRPC over HTTP2, "Timeout".
const timeoutField = "Grpc-Timeout"

const maxDigits = 99_999_999

// timeoutUnits are tried from the finest: what is rounded is rounded up, since
// the caller ends the call itself.
var timeoutUnits = []struct {
	letter byte
	length time.Duration
}{
	{'u', time.Microsecond}, {'m', time.Millisecond}, {'S', time.Second}, {'M', time.Minute}, {'H', time.Hour},
}

// formatTimeout writes d, which is above 0.
func formatTimeout(d time.Duration) string {
	for _, unit := range timeoutUnits {
		if n := (d-1)/unit.length + 1; n <= maxDigits {
			return string(append(strconv.AppendInt(nil, int64(n), 10), unit.letter))
		}
	}
	panic("a time.Duration is under 99,999,999 hours")
}

// parseTimeout reads what formatTimeout writes, and nanoseconds, 'n'.
func parseTimeout(s string) (time.Duration, bool) {
	if len(s) < 2 || len(s) > 9 {
		return 0, false
	}
	digits, letter := s[:len(s)-1], s[len(s)-1]
	n, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return 0, false
	}
	if letter == 'n' {
		return time.Duration(n), true
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
