package tunnel

import (
	"os"
	"testing"
	"time"

	"github.com/tare-bench/tare/link"
)

// TestNoPacketOvertakes: one that is due at once waits for those that are held.
func TestNoPacketOvertakes(t *testing.T) {
	out, to, err := os.Pipe() // in place of a device
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = out.Close(), to.Close() }()
	l := &lane{to: int(to.Fd()), way: link.NewWay(link.Spec{}, 1)}
	const ipv4, ipv6 = 4 << 4, 6 << 4
	l.held.push([]byte{ipv4, 1}, time.Second)
	l.take([]byte{ipv4, 2}, 2*time.Second)
	l.take([]byte{ipv6, 3}, 2*time.Second) // is no concern of the link
	f := new(forwarder)
	f.zero = time.Now().Add(-time.Minute)
	if err := f.turn(l, false); err != nil {
		t.Fatal(err)
	}
	l.take([]byte{ipv4, 4}, 3*time.Second)
	got := make([]byte, 6)
	if n, err := out.Read(got); err != nil || string(got[:n]) != string([]byte{ipv4, 1, ipv4, 2, ipv4, 4}) {
		t.Errorf("%v arrives, %v", got[:n], err)
	}
	if n := l.counted.packets.Load(); n != 2 {
		t.Errorf("%d packets are counted", n)
	}
}
