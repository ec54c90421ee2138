package tunnel_test

import (
	"io"
	"slices"
	"testing"
	"time"

	"github.com/tare-bench/tare/link"
)

// BenchmarkBulk sends bytes one way over one connection, and says how fast they
// come and what a packet costs this process:
//
//	go test ./link/tunnel -bench Bulk -benchtime 1x
func BenchmarkBulk(b *testing.B) {
	for _, text := range []string{"10mbit,0ms", "100mbit,0ms", "1gbit,0ms", "100mbit,10ms", "1gbit,10ms", "0ms"} {
		b.Run(text, func(b *testing.B) {
			s, err := link.Parse(text)
			if err != nil {
				b.Fatal(err)
			}
			n := open(b, s)
			l := listen(b, n)
			go func() {
				c, err := l.Accept()
				if err != nil {
					return
				}
				block := make([]byte, 1<<17)
				for err == nil {
					_, err = c.Write(block)
				}
			}()
			c := dial(b, l.Addr().String())
			const settle, lasts = 2 * time.Second, 4 * time.Second
			block := make([]byte, 1<<17)
			take := func(d time.Duration) (bytes int, took time.Duration) {
				for began := time.Now(); took < d; took = time.Since(began) {
					got, err := c.Read(block)
					if err != nil {
						b.Fatal(err)
					}
					bytes += got
				}
				return bytes, took
			}
			for b.Loop() {
				take(settle)
				before := n.Used()
				bytes, took := take(lasts)
				after := n.Used()
				packets, cpu := float64(after.Packets-before.Packets), after.CPUS-before.CPUS
				b.ReportMetric(8*float64(bytes)/took.Seconds()/1e6, "Mbit/s")
				b.ReportMetric(packets/took.Seconds(), "packets/s")
				b.ReportMetric(1e9*cpu/packets, "cpu-ns/packet")
				b.ReportMetric(100*cpu/took.Seconds(), "cpu-%")
				b.ReportMetric(float64(after.Dropped-before.Dropped), "dropped")
			}
		})
	}
}

// BenchmarkEcho sends one byte and waits until it is back:
//
//	go test ./link/tunnel -bench Echo -benchtime 100x
func BenchmarkEcho(b *testing.B) {
	for _, trip := range []time.Duration{0, 10 * ms, 100 * ms} {
		b.Run(trip.String(), func(b *testing.B) {
			c := dial(b, echo(b, open(b, link.Spec{RoundTrip: trip})))
			var trips []time.Duration
			one := []byte{1}
			for b.Loop() {
				began := time.Now()
				if _, err := c.Write(one); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c, one); err != nil {
					b.Fatal(err)
				}
				trips = append(trips, time.Since(began))
			}
			slices.Sort(trips)
			b.ReportMetric(trips[len(trips)/2].Seconds()*1e3, "ms-p50")
			b.ReportMetric(trips[len(trips)*99/100].Seconds()*1e3, "ms-p99")
		})
	}
}
