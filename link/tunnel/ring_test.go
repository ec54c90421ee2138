package tunnel

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"
)

// TestRingIsAQueue holds a ring against a plain queue, as it grows and turns.
func TestRingIsAQueue(t *testing.T) {
	var r ring
	var want []held
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 20_000 {
		if grows := i < 10_000; random.Float64() < 0.45 || grows && random.Float64() < 0.2 {
			packet := bytes.Repeat([]byte{byte(i)}, 1+random.IntN(1500))
			r.push(packet, time.Duration(i))
			want = append(want, held{time.Duration(i), bytes.Clone(packet)})
			clear(packet) // the ring has its own
		} else if len(want) > 0 {
			due, ok := r.due()
			if got := r.pop(); !ok || due != want[0].due || !bytes.Equal(got, want[0].packet) {
				t.Fatalf("step %d: got %d bytes due at %d, want %d due at %d", i, len(got), due, len(want[0].packet), want[0].due)
			}
			want = want[1:]
		}
		size := 0
		for _, h := range want {
			size += len(h.packet)
		}
		if r.empty() != (len(want) == 0) || r.size != size {
			t.Fatalf("step %d: empty %t and %d bytes, want %d packets of %d", i, r.empty(), r.size, len(want), size)
		}
	}
}
