package calibrate

import (
	"context"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/tare-bench/tare/record"
)

// kernel is what the kernel counts of a server's connections.
type kernel struct{ sent, received uint64 }

// readKernel adds up the bytes that the kernel has received on connections to a
// port of this machine, at either end: the sent at the server's sockets, the
// received at its callers'. Unlike what was acknowledged, that needs no
// answer from the other side to be up to date.
func readKernel(addr string) (kernel, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return kernel{}, fmt.Errorf("read address of server: %w", err)
	}
	all, err := netlink.SocketDiagTCPInfo(unix.AF_INET)
	if err != nil {
		return kernel{}, fmt.Errorf("ask kernel for its sockets: %w", err)
	}
	var k kernel
	for _, s := range all {
		switch {
		case s.InetDiagMsg == nil || s.TCPInfo == nil || s.InetDiagMsg.State != netlink.TCP_ESTABLISHED:
		case s.InetDiagMsg.ID.SourcePort == at.Port():
			k.sent += s.TCPInfo.Bytes_received
		case s.InetDiagMsg.ID.DestinationPort == at.Port():
			k.received += s.TCPInfo.Bytes_received
		}
	}
	return k, nil
}

// ledger holds what the kernel counts against what driver and server do, trial
// by trial, while all processes stand still.
type ledger struct {
	servers []string // addresses, by scenario
	last    []kernel
	kernel  kernel
	near    record.Wire // as the driver counts
	far     record.Wire // as the server does
	off     float64     // the greatest difference in any trial, at either side
}

func (l *ledger) look(line record.Line) (err error) {
	switch {
	case line.Block != nil:
		for _, peers := range line.Block.Peers {
			k, err := readKernel(peers[1].Addr)
			if err != nil {
				return err
			}
			l.servers, l.last = append(l.servers, peers[1].Addr), append(l.last, k)
		}
	case line.Trial != nil:
		t := line.Trial
		now, err := readKernel(l.servers[t.Scenario])
		if err != nil {
			return err
		}
		l.add(kernel{now.sent - l.last[t.Scenario].sent, now.received - l.last[t.Scenario].received}, t.Wire, t.WireFar)
		l.last[t.Scenario] = now
	}
	return err
}

func (l *ledger) add(k kernel, near, far record.Wire) {
	l.kernel.sent += k.sent
	l.kernel.received += k.received
	l.near, l.far = l.near.Add(near), l.far.Add(far)
	for _, w := range []record.Wire{near, far} {
		l.off = max(l.off, math.Abs(float64(w.Sent)-float64(k.sent)), math.Abs(float64(w.Received)-float64(k.received)))
	}
}

// ping is the size of an HTTP/2 frame by which one end of a connection probes it.
// It may cross after the processes were asked what they have counted and before
// the kernel is; the next trial then has it, if there is one.
const ping = 17

// weighBytes: every byte that a process writes to a connection is received at
// its other end, and the kernel counts those.
func weighBytes(ctx context.Context, s *Scale) ([]Reading, error) {
	var l ledger
	_, err := s.run(ctx, experiment{
		stacks: s.spec.Stacks, inFlight: 4, slice: 200 * time.Millisecond, rounds: 3, blocks: 1,
	}, l.look)
	if err != nil {
		return nil, err
	}
	sent, received := float64(l.kernel.sent), float64(l.kernel.received)
	return []Reading{
		near("sent, as the driver counts", "B", sent, float64(l.near.Sent), ping),
		near("received, as the driver counts", "B", received, float64(l.near.Received), ping),
		near("sent, as the server counts", "B", sent, float64(l.far.Sent), ping),
		near("received, as the server counts", "B", received, float64(l.far.Received), ping),
		within("greatest difference in one trial", "B", 0, l.off, ping),
	}, nil
}
