package relay_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/link/relay"
)

const ms = time.Millisecond

func open(t testing.TB, s link.Spec) link.Network {
	t.Helper()
	n, err := relay.Open(s, 1)
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

// serve has each connection that crosses the link answered by f, and gives where
// to dial.
func serve(t testing.TB, n link.Network, f func(c *net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", n.Listen())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f(c.(*net.TCPConn))
		}
	}()
	addr, err := n.Reach(t.Context(), l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func echo(c *net.TCPConn) {
	_, _ = io.Copy(c, c)
	_ = c.Close()
}

func dial(t testing.TB, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	return c.(*net.TCPConn)
}

func TestBytesCross(t *testing.T) {
	for name, s := range map[string]link.Spec{
		"as they are":  {},
		"with a delay": {RoundTrip: 4 * ms},
		"with a rate":  {Rate: 100e6, RoundTrip: 2 * ms},
		"with jitter":  {Rate: 100e6, RoundTrip: 4 * ms, Jitter: 2 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			n := open(t, s)
			addr := serve(t, n, echo)
			sizes := []int{0, 1, 1 << 18, 6 << 20}
			if s.Rate > 0 {
				sizes = sizes[:3]
			}
			var all sync.WaitGroup
			total := 0
			for _, size := range sizes {
				total += 2 * size
				all.Go(func() { exchange(t, dial(t, addr), size) })
			}
			all.Wait()
			if u := n.Used(); u.Bytes != int64(total) || u.Seconds <= 0 || u.CPUS <= 0 {
				t.Errorf("has used %+v for %d bytes", u, total)
			}
		})
	}
}

// exchange sends bytes and ends, and wants them back, and the end.
func exchange(t testing.TB, c *net.TCPConn, n int) {
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

// TestTimesAreNoShorter asserts what a busy machine cannot break: a new connection
// has its answer after two round trips, the next answer takes one.
func TestTimesAreNoShorter(t *testing.T) {
	const trip = 20 * ms
	n := open(t, link.Spec{RoundTrip: trip})
	c := dial(t, serve(t, n, echo))
	began := time.Now()
	one := []byte{1}
	for i, least := range []time.Duration{2 * trip, 3 * trip, 4 * trip} {
		if _, err := c.Write(one); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, one); err != nil {
			t.Fatal(err)
		}
		// The connection opens a little before the clock starts.
		if took := time.Since(began); took < least-ms {
			t.Errorf("answer %d after %v, want no less than %v", i, took, least)
		}
	}
	speaks := serve(t, n, func(c *net.TCPConn) { _, _ = c.Write([]byte{1}) })
	began = time.Now()
	if _, err := io.ReadFull(dial(t, speaks), one); err != nil || time.Since(began) < 2*trip {
		t.Errorf("a server that speaks first is heard after %v, %v; want no less than %v", time.Since(began), err, 2*trip)
	}
}

// TestConnectionsShareTheRate: many connections get no more through than one.
func TestConnectionsShareTheRate(t *testing.T) {
	const rate, each, many = 8e6, 100_000, 4 // 100 ms for each
	addr := serve(t, open(t, link.Spec{Rate: rate}), func(c *net.TCPConn) {
		_, _ = c.Write(make([]byte, each))
		_ = c.Close()
	})
	began := time.Now()
	var all sync.WaitGroup
	for range many {
		all.Go(func() {
			if n, err := io.Copy(io.Discard, dial(t, addr)); n != each || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
	all.Wait()
	if took, least := time.Since(began), time.Duration(many*each*8/rate*float64(time.Second)); took < least {
		t.Errorf("%d connections took %v, want no less than %v", many, took, least)
	}
}

// TestAHandshakeHoldsUpNobodyElse: what waits for its connection takes no time of
// the link from what is said after it on one that is open.
func TestAHandshakeHoldsUpNobodyElse(t *testing.T) {
	came := make(chan byte)
	addr := serve(t, open(t, link.Spec{Rate: 1e9, RoundTrip: 400 * ms}), func(c *net.TCPConn) {
		for b := []byte{0}; ; {
			if _, err := io.ReadFull(c, b); err != nil {
				return
			}
			came <- b[0]
		}
	})
	say := func(c *net.TCPConn, b byte) {
		if _, err := c.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	c := dial(t, addr)
	say(c, 'a')
	if got := <-came; got != 'a' {
		t.Fatalf("%c came", got)
	}
	say(dial(t, addr), 'c')
	say(c, 'b')
	if got := <-came; got != 'b' {
		t.Errorf("%c came first", got)
	}
	<-came
}

func TestAStalledReaderHoldsItsWriterBack(t *testing.T) {
	const most = 64 << 20
	wrote := make(chan int64, 1)
	addr := serve(t, open(t, link.Spec{}), func(c *net.TCPConn) {
		_ = c.SetWriteDeadline(time.Now().Add(time.Second)) // long enough for a relay without bounds to take it all
		n, _ := io.CopyN(c, zeros{}, most)
		wrote <- n
	})
	_ = dial(t, addr) // and reads nothing
	if n := <-wrote; n == most {
		t.Errorf("%d bytes were taken, though nobody reads", n)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func TestResetsCross(t *testing.T) {
	n := open(t, link.Spec{RoundTrip: 2 * ms})
	seen := make(chan error, 1)
	addr := serve(t, n, func(c *net.TCPConn) {
		_, err := io.Copy(io.Discard, c)
		seen <- err
	})
	c := dial(t, addr)
	if _, err := c.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.SetLinger(0), c.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-seen; !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the server sees %v of a reset", err)
	}
	addr = serve(t, n, func(c *net.TCPConn) {
		_ = c.SetLinger(0)
		_ = c.Close()
	})
	if _, err := dial(t, addr).Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the caller sees %v of a reset", err)
	}
}

func TestAServerThatIsGoneResetsItsCallers(t *testing.T) {
	n := open(t, link.Spec{RoundTrip: 2 * ms})
	l, err := net.Listen("tcp", n.Listen())
	if err != nil {
		t.Fatal(err)
	}
	addr, err := n.Reach(t.Context(), l.Addr().String())
	if err = errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, addr).Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the caller sees %v", err)
	}
}

func TestCloseBreaksWhatIsOpenAndLeavesNothing(t *testing.T) {
	n, err := relay.Open(link.Spec{RoundTrip: time.Second, Rate: 1e6}, 1)
	if err != nil {
		t.Fatal(err)
	}
	addr := serve(t, n, echo)
	busy, fresh := dial(t, addr), dial(t, addr)
	if _, err := busy.Write(make([]byte, 1<<16)); err != nil { // half a second's
		t.Fatal(err)
	}
	if _, err := io.ReadFull(busy, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil { // waits for each of its goroutines
		t.Error(err)
	}
	for _, c := range []*net.TCPConn{busy, fresh} {
		if _, err := io.Copy(io.Discard, c); err == nil {
			t.Error("a connection outlives its link in good order")
		}
	}
	if c, err := net.Dial("tcp", addr); err == nil {
		t.Error("a link that is closed is dialled", c.Close())
	}
}

func TestWhatARelayCannotDoIsRefused(t *testing.T) {
	_, err := relay.Open(link.Spec{Loss: 0.01}, 1)
	if err == nil || !strings.Contains(err.Error(), "leave out the loss, or have by=tunnel") {
		t.Errorf("a link with losses: %v", err)
	}
	n := open(t, link.Spec{})
	for _, addr := range []string{"", "127.0.0.1", "198.19.0.2:80", "localhost:80"} {
		if _, err := n.Reach(t.Context(), addr); err == nil || !strings.Contains(err.Error(), "cannot be reached across the link") {
			t.Errorf("a server at %q: %v", addr, err)
		}
	}
}
