package golang

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/tare-bench/tare/record"
)

// meter counts what crosses a process's sockets, as its reads and writes see it.
type meter struct {
	conns, open, written, read atomic.Int64
}

func (m *meter) count(c net.Conn) net.Conn {
	m.conns.Add(1)
	m.open.Add(1)
	return &countedConn{Conn: c, m: m}
}

type countedConn struct {
	net.Conn
	m    *meter
	once sync.Once // it is closed: some close twice
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.m.open.Add(-1) })
	return c.Conn.Close()
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.m.read.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.m.written.Add(int64(n))
	return n, err
}

// CloseWrite half-closes, where the connection can. Net/http's server does so to
// let a last answer reach a caller that is still sending.
func (c *countedConn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

// countedListener counts the connections it accepts.
type countedListener struct {
	net.Listener
	m *meter
}

func (l countedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.m.count(c), nil
}

// dial is a DialContext that counts.
func (m *meter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return m.count(c), nil
}

// asCaller and asServer give the counts with Sent toward the server.
func (m *meter) asCaller() record.Wire {
	return record.Wire{Conns: m.conns.Load(), Sent: m.written.Load(), Received: m.read.Load(), Open: m.open.Load()}
}

func (m *meter) asServer() record.Wire {
	return record.Wire{Conns: m.conns.Load(), Sent: m.read.Load(), Received: m.written.Load(), Open: m.open.Load()}
}

// readUsage reads what the operating system has charged this process with.
// The sum of user and system time is exact; their parts are what the kernel's
// clock ticks sampled.
func readUsage() (record.Usage, error) {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return record.Usage{}, fmt.Errorf("read own CPU time: %w", err)
	}
	peak, err := peakRSS()
	return record.Usage{
		CPUUserS:   float64(r.Utime.Nano()) / 1e9,
		CPUSystemS: float64(r.Stime.Nano()) / 1e9,
		PeakRSS:    peak,
	}, err
}

// peakRSS reads VmHWM of proc(5). Getrusage's ru_maxrss would count the memory
// of the process that started this one, until it executed its own program.
func peakRSS() (int64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("read own peak memory: %w", err)
	}
	for s := bufio.NewScanner(bytes.NewReader(status)); s.Scan(); {
		fields := bytes.Fields(s.Bytes())
		if len(fields) == 3 && string(fields[0]) == "VmHWM:" {
			kib, err := strconv.ParseInt(string(fields[1]), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("read own peak memory: no VmHWM in /proc/self/status")
}
