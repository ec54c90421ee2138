package relay_test

import (
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/tare-bench/tare/link"
)

// BenchmarkBulk sends bytes one way over one connection, and says how fast they
// come and what carrying them costs, the bench's own reading and writing included:
//
//	go test ./link/relay -bench Bulk -benchtime 1x
func BenchmarkBulk(b *testing.B) {
	for _, text := range []string{"10mbit,0ms", "100mbit,0ms", "1gbit,0ms", "100mbit,10ms", "0ms"} {
		b.Run(text, func(b *testing.B) {
			s, err := link.Parse(text)
			if err != nil {
				b.Fatal(err)
			}
			n := open(b, s)
			c := dial(b, serve(b, n, func(c *net.TCPConn) {
				block := make([]byte, 1<<17)
				for err := error(nil); err == nil; {
					_, err = c.Write(block)
				}
			}))
			const settle, lasts = time.Second, 4 * time.Second
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
				b.ReportMetric(8*float64(bytes)/took.Seconds()/1e6, "Mbit/s")
				b.ReportMetric(100*(n.Used().CPUS-before.CPUS)/took.Seconds(), "cpu-%")
			}
		})
	}
}

// BenchmarkEcho sends one byte and waits until it is back:
//
//	go test ./link/relay -bench Echo -benchtime 100x
func BenchmarkEcho(b *testing.B) {
	for _, trip := range []time.Duration{0, 10 * ms, 100 * ms} {
		b.Run(trip.String(), func(b *testing.B) {
			c := dial(b, serve(b, open(b, link.Spec{RoundTrip: trip}), echo))
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
