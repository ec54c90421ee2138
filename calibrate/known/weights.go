package known

import (
	"context"
	"errors"
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

// burner uses CPU of the thread that calls. What one call burns too much, by the
// time that it takes to look at the clock, another burns less, so that the sum is
// exact.
type burner struct {
	each  time.Duration
	ahead atomic.Int64
}

func (b *burner) burn() error {
	if b.each == 0 {
		return nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	began, err := threadCPU()
	if err != nil {
		return err
	}
	end := began + b.each - time.Duration(b.ahead.Swap(0))
	now, err := burnUntil(end)
	b.ahead.Add(int64(now - end))
	return err
}

// SpenderThread is the name of the thread that spends, as the kernel tells it.
const SpenderThread = "spender"

// spender uses CPU of a thread of its own, one call after the other: what that
// thread has used is what was spent, to the microsecond, whatever else it cost it
// to be woken. So the kernel tells what is known from all that it does to the rest
// of a call.
type spender struct {
	each   time.Duration
	todo   chan chan<- error
	thread int // its number; known once a call is done
}

// newSpender starts the thread, which ends with ctx; none, where nothing is spent.
func newSpender(ctx context.Context, each time.Duration) *spender {
	s := &spender{each: each, todo: make(chan chan<- error)}
	if each > 0 {
		go s.run(ctx)
	}
	return s
}

func (s *spender) run(ctx context.Context) {
	runtime.LockOSThread() // for good: the thread ends with this goroutine
	s.thread = unix.Gettid()
	name := append([]byte(SpenderThread), 0)
	failed := unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
	began, err := threadCPU()
	failed = errors.Join(failed, err)
	owed := began
	for {
		select {
		case <-ctx.Done():
			return
		case done := <-s.todo:
			owed += s.each
			_, err := burnUntil(owed)
			done <- errors.Join(failed, err)
		}
	}
}

func (s *spender) spend(ctx context.Context) error {
	if s.each == 0 {
		return nil
	}
	done := make(chan error, 1)
	select {
	case s.todo <- done:
		return <-done
	case <-ctx.Done():
		return ctx.Err()
	}
}

// burnUntil uses the calling thread's CPU until it has used so much, and gives
// what it has then.
func burnUntil(end time.Duration) (now time.Duration, err error) {
	for err == nil && now < end {
		now, err = threadCPU()
	}
	return now, err
}

// threadCPU is the CPU time of the calling thread, user and system. The system
// call is a raw one: the runtime would take the processor away from a thread that
// it finds in a call, and charge the process for handing it over.
func threadCPU() (time.Duration, error) {
	var t unix.Timespec
	_, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_THREAD_CPUTIME_ID, uintptr(unsafe.Pointer(&t)), 0)
	if errno != 0 {
		return 0, fmt.Errorf("read CPU time of thread: %w", errno)
	}
	return time.Duration(t.Nano()), nil
}
