package load

import (
	"context"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Monotonic gives the real clock, whose first moment is the call.
//
// Go rounds a timer that it waits for in an idle process up to a millisecond.
// WaitUntil instead sleeps on a timer of the kernel (timerfd) through Go's
// poller: it wakes some tens of microseconds late, and holds neither a thread
// nor a processor while it waits. It may notice the end of ctx as late as
// unheeding after it.
func Monotonic() Clock { return &monotonic{timers: timers{time.Now()}} }

// unheeding is how long a wait may be deaf to its context: to listen costs more
// than a short wait is worth.
const unheeding = 10 * time.Millisecond

type monotonic struct {
	timers
	mu   sync.Mutex
	idle []*alarm
}

func (c *monotonic) WaitUntil(ctx context.Context, t time.Duration) {
	if t-c.Now() > unheeding {
		c.timers.WaitUntil(ctx, t-unheeding/2)
		if ctx.Err() != nil {
			return
		}
	}
	left := t - c.Now()
	if left <= 0 {
		return
	}
	a, err := c.alarm()
	if err == nil {
		err = a.sleep(left)
		c.mu.Lock()
		c.idle = append(c.idle, a)
		c.mu.Unlock()
	}
	if err != nil { // out of file descriptors, or a kernel without timerfd
		c.timers.WaitUntil(ctx, t)
	}
}

// alarm takes an idle one, or makes one; there are never more than were waited
// for at one time.
func (c *monotonic) alarm() (*alarm, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.idle); n > 0 {
		a := c.idle[n-1]
		c.idle = c.idle[:n-1]
		return a, nil
	}
	return newAlarm()
}

// alarm is a timer of the kernel. Its file is closed when it is collected.
type alarm struct {
	fd   int
	file *os.File
	rang [8]byte
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	return &alarm{fd: fd, file: os.NewFile(uintptr(fd), "timerfd")}, nil
}

func (a *alarm) sleep(d time.Duration) error {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if err := unix.TimerfdSettime(a.fd, 0, &spec, nil); err != nil {
		return os.NewSyscallError("timerfd_settime", err)
	}
	_, err := a.file.Read(a.rang[:])
	return err
}
