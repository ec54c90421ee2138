package tunnel

import (
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tare-bench/tare/link"
)

// forwarder takes packets from one device and hands them to the other, both ways,
// in one thread: so what carrying costs can be told apart, and no packet waits
// for another thread to wake.
type forwarder struct {
	ways  [2]*lane
	alarm int // an eventfd that ends it
	zero  time.Time
	read  [longest]byte
	done  chan struct{}
	spent atomic.Int64 // nanoseconds of CPU, once it has ended
	tid   atomic.Int32
	err   error // read after done
}

// lane is one direction.
type lane struct {
	from, to int // file descriptors of devices
	way      *link.Way
	held     ring
	counted  counts
}

type counts struct{ packets, bytes, lost, dropped atomic.Int64 }

const (
	longest = 64 << 10 // of a packet that a device may give
	batch   = 64       // packets taken from one side before the other's turn
	// mostHeld bounds the memory of one direction, where a link without a rate
	// bounds nothing.
	mostHeld = 64 << 20
	priority = -20 // of the thread: hardware would not wait for a processor
)

// forward begins to carry between two devices.
func forward(near, far int, s link.Spec, seed uint64) (*forwarder, error) {
	alarm, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("eventfd", err)
	}
	f := &forwarder{alarm: alarm, zero: time.Now(), done: make(chan struct{})}
	f.ways[0] = &lane{from: near, to: far, way: link.NewWay(s, 2*seed)}
	f.ways[1] = &lane{from: far, to: near, way: link.NewWay(s, 2*seed+1)}
	go f.run()
	return f, nil
}

func (f *forwarder) now() time.Duration { return time.Since(f.zero) }

// run carries until stop. It keeps its thread, which ends with it.
func (f *forwarder) run() {
	defer close(f.done)
	runtime.LockOSThread()
	f.tid.Store(int32(unix.Gettid()))
	// Where either is refused, packets come a little later.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), priority)
	wait := []unix.PollFd{
		{Fd: int32(f.alarm), Events: unix.POLLIN},
		{Fd: int32(f.ways[0].from), Events: unix.POLLIN},
		{Fd: int32(f.ways[1].from), Events: unix.POLLIN},
	}
	for f.err == nil && wait[0].Revents == 0 {
		var timeout *unix.Timespec
		if due, any := f.next(); any {
			left := unix.NsecToTimespec(int64(max(0, due-f.now())))
			timeout = &left
		}
		if _, err := unix.Ppoll(wait, timeout, nil); err != nil && !errors.Is(err, unix.EINTR) {
			f.err = os.NewSyscallError("ppoll", err)
		}
		for i, l := range f.ways {
			f.err = errors.Join(f.err, f.turn(l, wait[1+i].Revents != 0))
		}
	}
	f.spent.Store(int64(threadTime(unix.CLOCK_THREAD_CPUTIME_ID)))
}

// next is when the next packet is due, if one is held.
func (f *forwarder) next() (due time.Duration, any bool) {
	for _, l := range f.ways {
		if d, ok := l.held.due(); ok && (!any || d < due) {
			due, any = d, true
		}
	}
	return due, any
}

// turn hands on what is due in one direction, then takes what has come.
func (f *forwarder) turn(l *lane, come bool) error {
	now := f.now()
	for {
		due, ok := l.held.due()
		if !ok || due > now {
			break
		}
		l.hand(l.held.pop())
	}
	for range batch {
		if !come {
			return nil
		}
		n, err := transfer(unix.SYS_READ, l.from, f.read[:])
		if errors.Is(err, unix.EAGAIN) {
			return nil
		}
		if err != nil {
			return os.NewSyscallError("read packet", err)
		}
		l.take(f.read[:n], f.now())
	}
	return nil
}

// take has a packet that has come enter the link. Only IPv4 crosses: what else
// the kernel says to a new device is meant for nobody.
func (l *lane) take(packet []byte, now time.Duration) {
	const ipv4 = 4
	if len(packet) == 0 || packet[0]>>4 != ipv4 {
		return
	}
	l.counted.packets.Add(1)
	l.counted.bytes.Add(int64(len(packet)))
	if l.held.size+len(packet) > mostHeld {
		l.counted.dropped.Add(1)
		return
	}
	switch due, fate := l.way.Pass(len(packet), now); {
	case fate == link.Lost:
		l.counted.lost.Add(1)
	case fate == link.Refused:
		l.counted.dropped.Add(1)
	case due <= now && l.held.empty():
		l.hand(packet)
	default:
		l.held.push(packet, due)
	}
}

// hand gives a packet to the far device. One that it refuses is dropped, as by a
// full queue: TCP sends it again.
func (l *lane) hand(packet []byte) {
	if _, err := transfer(unix.SYS_WRITE, l.to, packet); err != nil {
		l.counted.dropped.Add(1)
	}
}

// cpu is the processor time of the thread.
func (f *forwarder) cpu() time.Duration {
	select {
	case <-f.done:
		return time.Duration(f.spent.Load())
	default:
	}
	// clock_getcpuclockid(3): the clock of another thread of this process.
	const perThread, scheduled = 4, 2
	return threadTime(^f.tid.Load()<<3 | perThread | scheduled)
}

func threadTime(clock int32) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// stop ends it and waits.
func (f *forwarder) stop() error {
	one := [8]byte{1}
	_, err := unix.Write(f.alarm, one[:])
	if err != nil {
		return os.NewSyscallError("write", err) // cannot be: then better a thread left than a hang
	}
	<-f.done
	return errors.Join(f.err, unix.Close(f.alarm))
}
