package protocol

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// RetryAfterField is the field of an HTTP answer that says how long to wait.
// Source: RFC 9110, section 10.2.3.
const RetryAfterField = "Retry-After"

// FormatRetryAfter spells a wait above 0 as the field Retry-After has it: whole
// seconds, rounded up.
func FormatRetryAfter(d time.Duration) string {
	return strconv.FormatInt(int64((d-1)/time.Second)+1, 10)
}

// ParseRetryAfter reads a Retry-After: a number of seconds, or a time, which is
// counted from the answer's own Date, if that can be read, and otherwise from
// now. It gives 0 for what says nothing, or has passed.
func ParseRetryAfter(value, date string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(value, 10, 64); err == nil {
		const most = uint64(math.MaxInt64 / time.Second)
		if n > most {
			return math.MaxInt64
		}
		return time.Duration(n) * time.Second //nolint:gosec // at most most
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(date); err == nil {
		now = sent
	}
	return max(0, at.Sub(now))
}
