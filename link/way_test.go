package link_test

import (
	"math"
	"testing"
	"time"

	"github.com/tare-bench/tare/link"
)

func TestWhenPacketsArrive(t *testing.T) {
	type packet struct {
		n       int
		enters  time.Duration
		arrives time.Duration
	}
	for name, c := range map[string]struct {
		spec    link.Spec
		packets []packet
	}{
		"delay alone":                      {link.Spec{RoundTrip: 10 * ms}, []packet{{1500, 0, 5 * ms}, {1500, 0, 5 * ms}, {40, ms, 6 * ms}}},
		"rate alone, one after the other":  {link.Spec{Rate: 12e6}, []packet{{1500, 0, ms}, {1500, 0, 2 * ms}, {750, 0, 2500 * time.Microsecond}}},
		"an idle link saves up nothing":    {link.Spec{Rate: 12e6}, []packet{{1500, 0, ms}, {1500, 10 * ms, 11 * ms}}},
		"rate, then delay":                 {link.Spec{Rate: 12e6, RoundTrip: 40 * ms}, []packet{{1500, 0, 21 * ms}, {1500, 0, 22 * ms}}},
		"a gigabit":                        {link.Spec{Rate: 1e9}, []packet{{1500, 0, 12 * time.Microsecond}, {1500, 0, 24 * time.Microsecond}}},
		"nothing at all":                   {link.Spec{}, []packet{{1500, 3 * ms, 3 * ms}}},
		"a packet that enters while it is": {link.Spec{Rate: 12e6}, []packet{{1500, 0, ms}, {1500, ms / 2, 2 * ms}}},
	} {
		w := link.NewWay(c.spec, 1)
		for i, p := range c.packets {
			got, fate := w.Pass(p.n, p.enters)
			if got != p.arrives || fate != link.Carried {
				t.Errorf("%s: packet %d arrives at %v (fate %d), want %v", name, i, got, fate, p.arrives)
			}
		}
	}
}

// TestTheRateIsKept: whatever enters, what arrives within a time is no more than
// the rate carries, and no less where the queue is never empty.
func TestTheRateIsKept(t *testing.T) {
	for _, rate := range []int64{10e6, 100e6, 1e9} {
		spec := link.Spec{Rate: rate, RoundTrip: 10 * ms}
		w := link.NewWay(spec, 1)
		var bytes, refused int
		for now := time.Duration(0); now < time.Second; now += spec.RoundTrip / 1000 { // twice to 200 times as fast as the link
			for range 1 + int(2*float64(rate)/1e9) {
				arrives, fate := w.Pass(link.Packet, now)
				switch {
				case fate == link.Refused:
					refused++
				case arrives <= time.Second+spec.OneWay():
					bytes += link.Packet
				}
				if waits := w.Waiting(now); waits > spec.Queue() {
					t.Fatalf("%d bytes wait, more than %d", waits, spec.Queue())
				}
			}
		}
		if want := float64(rate) / 8; math.Abs(float64(bytes)-want) > 2*link.Packet {
			t.Errorf("%d bit/s carry %d bytes in a second, want %.0f", rate, bytes, want)
		}
		if refused == 0 {
			t.Errorf("%d bit/s: an endless queue", rate)
		}
	}
}

func TestAFullQueueTakesNoMoreUntilThereIsRoom(t *testing.T) {
	w := link.NewWay(link.Spec{Rate: 12e6}, 1) // 64 packets, each of a millisecond
	for i := range 64 {
		if _, fate := w.Pass(link.Packet, 0); fate != link.Carried {
			t.Fatalf("packet %d is refused", i)
		}
	}
	if _, fate := w.Pass(link.Packet, ms/2); fate != link.Refused {
		t.Errorf("fate %d of a packet too many", fate)
	}
	if arrives, fate := w.Pass(link.Packet, ms); fate != link.Carried || arrives != 65*ms {
		t.Errorf("once there is room it arrives at %v, fate %d", arrives, fate)
	}
	if got := w.Room(); got != ms {
		t.Errorf("room at %v", got)
	}
	w.Send(link.Packet, ms)
	if got := w.Room(); got != 2*ms {
		t.Errorf("room at %v after one more", got)
	}
}

// However many packets are sent, the delay is the same in the mean.
func TestJitterVariesDelayAndKeepsOrder(t *testing.T) {
	spec := link.Spec{RoundTrip: 40 * ms, Jitter: 10 * ms}
	const long = 1000 * time.Second
	for _, apart := range []time.Duration{100 * ms, ms, 500 * time.Microsecond} {
		w := link.NewWay(spec, 7)
		var sum, least, most, last time.Duration = 0, time.Hour, 0, 0
		for now := time.Duration(0); now < long; now += apart {
			arrives, _ := w.Pass(100, now)
			took := arrives - now
			sum, least, most = sum+took, min(least, took), max(most, took)
			if arrives < last {
				t.Fatalf("every %v: the packet of %v overtakes", apart, now)
			}
			last = arrives
		}
		if mean := sum / (long / apart); mean < 19800*time.Microsecond || mean > 20200*time.Microsecond {
			t.Errorf("every %v: mean delay %v, want 20 ms", apart, mean)
		}
		if least < 10*ms || least > 11*ms || most > 30*ms || most < 29*ms {
			t.Errorf("every %v: delays from %v to %v, want 10 to 30 ms", apart, least, most)
		}
	}
}

func TestLossIsAsOftenAsAskedAndTakesItsTime(t *testing.T) {
	w := link.NewWay(link.Spec{Rate: 12e6, Loss: 0.05}, 3)
	const n = 100_000
	lost := 0
	for i := range n {
		arrives, fate := w.Pass(1500, time.Duration(i)*ms)
		if fate == link.Lost {
			lost++
		} else if want := time.Duration(i+1) * ms; fate != link.Carried || arrives != want {
			t.Fatalf("packet %d: fate %d at %v, want %v", i, fate, arrives, want)
		}
	}
	if share := float64(lost) / n; math.Abs(share-0.05) > 0.003 { // 4 standard errors
		t.Errorf("%.4f of the packets are lost, want 0.05", share)
	}
	again := link.NewWay(link.Spec{Rate: 12e6, Loss: 0.05}, 3)
	for i := range n {
		if _, fate := again.Pass(1500, time.Duration(i)*ms); fate == link.Lost {
			lost--
		}
	}
	if lost != 0 {
		t.Errorf("equal seeds lose %d more or fewer packets", lost)
	}
}
