package tunnel_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/link/tunnel"
)

const ms = time.Millisecond

// open makes a tunnel for a test, which is skipped where this user may not.
func open(t testing.TB, s link.Spec) link.Network {
	t.Helper()
	n, err := tunnel.Open(s, 1)
	if errors.Is(err, link.ErrNotPermitted) {
		t.Skipf("no tunnel can be made here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// listen listens on the far side.
func listen(t testing.TB, n link.Network) net.Listener {
	t.Helper()
	var l net.Listener
	err := n.Start(func() (err error) {
		l, err = net.Listen("tcp", n.Listen())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// echo answers what comes on the far side, and gives where.
func echo(t testing.TB, n link.Network) string {
	t.Helper()
	l := listen(t, n)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	addr, err := n.Reach(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func dial(t testing.TB, addr string) *net.TCPConn {
	t.Helper()
	c, err := (&net.Dialer{Timeout: 30 * time.Second}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c.(*net.TCPConn)
}

// exchange sends bytes, and wants them back.
func exchange(t testing.TB, addr string, n int) {
	t.Helper()
	c := dial(t, addr)
	sent := make([]byte, n)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range sent {
		sent[i] = byte(random.Uint32())
	}
	go func() {
		_, _ = c.Write(sent)
		_ = c.CloseWrite()
	}()
	if got, err := io.ReadAll(c); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came back of %d, equal %t, %v", len(got), n, bytes.Equal(got, sent), err)
	}
}

func TestTCPCrosses(t *testing.T) {
	for name, s := range map[string]link.Spec{
		"as it is":     {},
		"with a delay": {RoundTrip: 4 * ms},
		"with a rate":  {Rate: 100e6, RoundTrip: 2 * ms},
		"with jitter":  {Rate: 100e6, RoundTrip: 4 * ms, Jitter: 2 * ms},
		"with losses":  {RoundTrip: ms, Loss: 0.05},
	} {
		t.Run(name, func(t *testing.T) {
			n := open(t, s)
			addr := echo(t, n)
			for _, size := range []int{0, 1, 1 << 18} {
				exchange(t, addr, size)
			}
			u := n.Used()
			if least := int64(2 * (1 << 18) / link.Packet); u.Packets < least || u.Bytes < 2<<18 || u.CPUS <= 0 || u.Seconds <= 0 {
				t.Errorf("has used %+v, and carried at least %d packets", u, least)
			}
			if lossy := s.Loss > 0; lossy != (u.Lost > 0) {
				t.Errorf("%d packets of %d are lost", u.Lost, u.Packets)
			}
			if longest := u.Bytes / u.Packets; longest > link.Packet {
				t.Errorf("packets of %d bytes on average", longest)
			}
		})
	}
}

// TestTheRoundTripIsNoShorter asserts what a busy machine cannot break: nothing
// comes back before the link's time.
func TestTheRoundTripIsNoShorter(t *testing.T) {
	const trip = 20 * ms
	addr := echo(t, open(t, link.Spec{RoundTrip: trip}))
	began := time.Now()
	c := dial(t, addr)
	connected := time.Since(began)
	began = time.Now()
	one := []byte{1}
	if _, err := c.Write(one); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c, one); err != nil {
		t.Fatal(err)
	}
	if answered := time.Since(began); connected < trip || answered < trip {
		t.Errorf("connected within %v, answered within %v; the round trip is %v", connected, answered, trip)
	}
}

// TestAQueueIsBounded sends faster than the link, by a protocol that never backs
// off.
func TestAQueueIsBounded(t *testing.T) {
	s := link.Spec{Rate: 1e6}
	n := open(t, s)
	c, err := net.Dial("udp4", strings.Replace(n.Listen(), ":0", ":9", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	const packet, many = 1400, 500
	for range many {
		_, _ = c.Write(make([]byte, packet)) // refused once the far side has said that nobody listens
	}
	deadline := time.Now().Add(10 * time.Second)
	for n.Used().Packets < many && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	u := n.Used()
	lasted := time.Duration(u.Seconds * float64(time.Second))
	if most := int64(s.Queue()/packet) + int64(lasted/(packet*8*time.Microsecond)) + 1; many-u.Dropped > most || u.Dropped == 0 {
		t.Errorf("of %d packets %d met a full queue; it holds %d", many, u.Dropped, most)
	}
}

func TestTunnelsDoNotMeet(t *testing.T) {
	const many = 5
	seen := map[string]bool{}
	for range many {
		n := open(t, link.Spec{})
		if seen[n.Listen()] {
			t.Fatalf("two tunnels at %s", n.Listen())
		}
		seen[n.Listen()] = true
		exchange(t, echo(t, n), 1<<16)
	}
}

func TestAServerThatIgnoresWhereToListenIsNamed(t *testing.T) {
	n := open(t, link.Spec{})
	for _, addr := range []string{"127.0.0.1:80", "[::]:80", "localhost:80", ""} {
		if got, err := n.Reach(t.Context(), addr); err == nil || !strings.Contains(err.Error(), "cannot be reached across the link") {
			t.Errorf("%q is reached at %q, %v", addr, got, err)
		}
	}
}

// TestProcessesAreFarAndLeaveNothing starts a shell on the far side, where only
// the far device and the loopback are, and no device of the near side.
func TestProcessesAreFarAndLeaveNothing(t *testing.T) {
	n := open(t, link.Spec{})
	var out bytes.Buffer
	cmd := exec.Command("cat", "/proc/self/net/dev")
	cmd.Stdout = &out
	if err := errors.Join(n.Start(cmd.Start), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "far0:") || !strings.Contains(out.String(), "lo:") || strings.Contains(out.String(), "tare") {
		t.Errorf("a process on the far side sees\n%s", &out)
	}
	if err := n.Start(func() error { return errSome }); !errors.Is(err, errSome) {
		t.Errorf("the error of a start is %v", err)
	}
	m, err := tunnel.Open(link.Spec{RoundTrip: time.Second}, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("udp4", strings.Replace(m.Listen(), ":0", ":9", 1)) // so that a packet is held
	if err == nil {
		_, err = c.Write([]byte("x"))
	}
	stood := stands(t, m)
	if err = errors.Join(err, c.Close(), m.Close()); err != nil {
		t.Fatal(err)
	}
	if !stood || stands(t, m) {
		t.Errorf("a device leads to the far side before Close: %t, after it: %t", stood, stands(t, m))
	}
}

var errSome = errors.New("some error")

// stands says whether a device of this side leads to the far side of n.
func stands(t *testing.T, n link.Network) bool {
	t.Helper()
	all, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(a netlink.Addr) bool {
		return a.Peer != nil && a.Peer.IP.String()+":0" == n.Listen()
	})
}

// TestNoThreadStaysFar: what was in the namespace is back, and nothing holds on to
// it once the tunnel is closed.
func TestNoThreadStaysFar(t *testing.T) {
	n := open(t, link.Spec{})
	before := spaces(t)
	m, err := tunnel.Open(link.Spec{RoundTrip: ms}, 1)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("true")
	if err := errors.Join(m.Start(cmd.Start), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	exchange(t, echo(t, m), 1<<10)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if after := spaces(t); !slices.Equal(before, after) {
		t.Errorf("threads and descriptors were in %v, and are in %v", before, after)
	}
	exchange(t, echo(t, n), 1<<10)
}

// spaces are the network namespaces that threads of this process are in, and
// those that it has descriptors of.
func spaces(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"/proc/self/task/*/ns/net", "/proc/self/fd/*"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			to, err := os.Readlink(path) // a thread or a descriptor may be gone
			if err == nil && strings.HasPrefix(to, "net:") {
				all = append(all, to)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestAFarSideThatDiesResetsItsCallers(t *testing.T) {
	n := open(t, link.Spec{RoundTrip: 2 * ms})
	l := listen(t, n)
	c := dial(t, l.Addr().String())
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.(*net.TCPConn).SetLinger(0), s.Close(), l.Close()); err != nil { // as the kernel does for a process that is killed
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("read of a dead server gives %v", err)
	}
	if c, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("a dead server is dialled", c.Close())
	}
}
