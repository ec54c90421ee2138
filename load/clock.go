package load

import (
	"context"
	"time"
)

// Timers gives a clock of Go's own timers, whose first moment is the call. On a
// real machine they wake about 1 ms late; inside testing/synctest they are
// exact.
func Timers() Clock { return timers{time.Now()} }

type timers struct{ zero time.Time }

func (c timers) Now() time.Duration { return time.Since(c.zero) }

func (c timers) WaitUntil(ctx context.Context, t time.Duration) {
	left := t - c.Now()
	if left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
