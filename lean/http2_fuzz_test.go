package lean

import (
	"maps"
	"testing"
)

// FuzzFrames holds that nothing a server says makes the machine panic or end a
// call twice, and that how it comes in pieces does not matter.
func FuzzFrames(f *testing.F) {
	for _, c := range exchanges {
		f.Add(says(c.says), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, piece uint8) {
		var benches [2]*bench
		var errs [2]error
		for i, n := range []int{1 << 20, int(piece) + 1} {
			b := begun(t, 3, []byte("body"))
			errs[i] = b.feed(text, n)
			benches[i] = b
			if b.twice || len(b.ended)+b.loop.inFlight() != 3 {
				t.Fatalf("%d calls ended and %d are under way, of 3", len(b.ended), b.loop.inFlight())
			}
		}
		if (errs[0] == nil) != (errs[1] == nil) || !maps.Equal(benches[0].ended, benches[1].ended) {
			t.Fatalf("whole: %v, %v; in pieces: %v, %v", benches[0].ended, errs[0], benches[1].ended, errs[1])
		}
	})
}
