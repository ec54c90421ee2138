package lean

import (
	"errors"
	"net"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

var errAgain error = unix.EAGAIN

// connect opens a socket that does not block and begins to connect it. Pending
// says that it is not connected yet.
func connect(addr *net.TCPAddr) (fd int, pending bool, err error) {
	var to unix.Sockaddr
	family := unix.AF_INET
	if ip := addr.IP.To4(); ip != nil {
		to = &unix.SockaddrInet4{Port: addr.Port, Addr: [4]byte(ip)}
	} else if ip := addr.IP.To16(); ip != nil {
		family = unix.AF_INET6
		to = &unix.SockaddrInet6{Port: addr.Port, Addr: [16]byte(ip)}
	} else { // no host: this one
		to = &unix.SockaddrInet4{Port: addr.Port, Addr: [4]byte{127, 0, 0, 1}}
	}
	fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, false, os.NewSyscallError("socket", err)
	}
	if err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1); err == nil {
		err = unix.Connect(fd, to)
	}
	if err == nil || err == unix.EINPROGRESS {
		return fd, err != nil, nil
	}
	shut(fd)
	return -1, false, os.NewSyscallError("connect", err)
}

// connected says whether a pending connect succeeded.
func connected(fd int) error {
	n, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && n != 0 {
		err = unix.Errno(n)
	}
	return os.NewSyscallError("connect", err)
}

// shut closes fd; of a socket that is given up there is nothing to learn.
func shut(fd int) { _ = unix.Close(fd) }

// read and write do not tell Go's scheduler: on a socket that does not block
// they return at once.
func read(fd int, b []byte) (int, error) { return transfer(unix.SYS_READ, fd, b) }

func write(fd int, b []byte) (int, error) { return transfer(unix.SYS_WRITE, fd, b) }

func transfer(call uintptr, fd int, b []byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall(call, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		case unix.EAGAIN:
			return 0, errAgain
		default:
			return 0, errno
		}
	}
}

// punctual has the calling goroutine's waits end when they should: the kernel
// otherwise lets a thread sleep 50 µs longer. It keeps the thread, which ends
// with the goroutine.
func punctual() {
	runtime.LockOSThread()
	// Where it is refused, waits end a little later, and are seen to.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

// poller waits for sockets (epoll).
type poller struct {
	fd      int
	alarm   int // an eventfd that wake writes to
	raw     [256]unix.EpollEvent
	events  []event
	timeout unix.Timespec
	coarse  bool // the kernel lacks epoll_pwait2 (before 5.11)
}

// event says that a connection's socket can be read or written, or has failed,
// which is both.
type event struct {
	conn               int
	age                int32
	readable, writable bool
}

const ofAlarm = -1 // stands for a connection's index

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create", err)
	}
	alarm, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("eventfd", err), unix.Close(fd))
	}
	p := &poller{fd: fd, alarm: alarm}
	return p, p.add(alarm, ofAlarm, 0, false)
}

func (p *poller) add(fd, conn int, age int32, writable bool) error {
	return p.control(unix.EPOLL_CTL_ADD, fd, conn, age, writable)
}

// watch says whether the socket's being writable is an event.
func (p *poller) watch(fd, conn int, age int32, writable bool) error {
	return p.control(unix.EPOLL_CTL_MOD, fd, conn, age, writable)
}

func (p *poller) control(op, fd, conn int, age int32, writable bool) error {
	e := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(conn), Pad: age}
	if writable {
		e.Events |= unix.EPOLLOUT
	}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.fd, op, fd, &e))
}

// wait gives what happened; if nothing has, it waits until something does, at
// most for d, or below 0 however long. The events are good until the next wait.
func (p *poller) wait(d time.Duration) ([]event, error) {
	n, errno := p.epoll(d)
	if errno != 0 && errno != unix.EINTR {
		return nil, os.NewSyscallError("epoll_wait", errno)
	}
	p.events = p.events[:0]
	for _, e := range p.raw[:n] {
		if e.Fd == ofAlarm {
			var count [8]byte
			_, _ = read(p.alarm, count[:])
			continue
		}
		failed := e.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0
		p.events = append(p.events, event{
			conn: int(e.Fd), age: e.Pad,
			readable: failed || e.Events&unix.EPOLLIN != 0,
			writable: failed || e.Events&unix.EPOLLOUT != 0,
		})
	}
	return p.events, nil
}

func (p *poller) epoll(d time.Duration) (n int, errno unix.Errno) {
	if !p.coarse {
		var timeout unsafe.Pointer
		if d >= 0 {
			p.timeout = unix.NsecToTimespec(int64(d))
			timeout = unsafe.Pointer(&p.timeout)
		}
		got, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), uintptr(unsafe.Pointer(&p.raw)), uintptr(len(p.raw)), uintptr(timeout), 0, 0)
		if errno == 0 {
			return int(got), 0
		}
		if errno != unix.ENOSYS {
			return 0, errno
		}
		p.coarse = true
	}
	ms := -1
	if d >= 0 {
		ms = int((d + time.Millisecond - 1) / time.Millisecond)
	}
	n, err := unix.EpollWait(p.fd, p.raw[:], ms)
	if errors.As(err, &errno) {
		return 0, errno
	}
	return n, 0
}

// wake has wait return. It may be called at any time until close.
func (p *poller) wake() {
	one := [8]byte{1} // in either order of bytes above 0
	_, _ = write(p.alarm, one[:])
}

func (p *poller) close() error { return errors.Join(unix.Close(p.alarm), unix.Close(p.fd)) }
