package known

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// gate is shut once, for the length of the stall. A call that comes while it is
// shut waits until it opens; one that is past it goes on.
type gate struct {
	stall stall
	once  sync.Once
	first time.Duration // when the first call came
}

// opens says until when a call that comes now has to wait.
func (g *gate) opens(now time.Duration) time.Duration {
	g.once.Do(func() { g.first = now })
	shut := g.first + g.stall.after
	if now < shut || now >= shut+g.stall.length {
		return now
	}
	return shut + g.stall.length
}

// queue is one server. Its times are worked out and not measured: a call leaves
// one service time after it came, or after the one before it was to leave. So a
// timer that wakes late delays one reply, and no call behind it.
type queue struct {
	service service
	mu      sync.Mutex
	random  *rand.Rand
	free    time.Duration // since when, or from when on
}

func newQueue(s service) *queue {
	return &queue{service: s, random: rand.New(rand.NewPCG(1, 0))}
}

// leaves says when a call that comes now is done.
func (q *queue) leaves(now time.Duration) time.Duration {
	if q.service.mean == 0 {
		return now
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	d := q.service.mean
	if q.service.exponential {
		d = time.Duration(float64(d) * q.random.ExpFloat64())
	}
	q.free = max(q.free, now) + d
	return q.free
}

// burner uses CPU. What one call uses too much, by the time that it takes to
// look at the clock, another uses less, so that the sum is exact.
type burner struct {
	each  time.Duration
	clock int32 // whose CPU time is used
	ahead atomic.Int64
}

// The clocks of CPU time, user and system.
const (
	threadClock  = unix.CLOCK_THREAD_CPUTIME_ID
	processClock = unix.CLOCK_PROCESS_CPUTIME_ID
)

func (b *burner) burn() error {
	if b.each == 0 {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, err := b.now()
	if err != nil {
		return err
	}
	end := began + b.each - time.Duration(b.ahead.Swap(0))
	now := began
	for now < end {
		if now, err = b.now(); err != nil {
			return err
		}
	}
	b.ahead.Add(int64(now - end))
	return nil
}

// now reads the clock. The system call is a raw one: the runtime would take the
// processor away from a thread that it finds in a call, and charge the process for
// handing it over.
func (b *burner) now() (time.Duration, error) {
	var t unix.Timespec
	_, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, uintptr(b.clock), uintptr(unsafe.Pointer(&t)), 0)
	if errno != 0 {
		return 0, fmt.Errorf("read CPU time: %w", errno)
	}
	return time.Duration(t.Nano()), nil
}
