package codectest

import (
	"strings"
	"testing"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
)

// ByHand is a codec as a user of its library writes it, for one message type:
// what the codec may cost is what this costs.
type ByHand struct {
	Append func(dst []byte, native any) ([]byte, error)
	New    func() any // the native form, empty
	Parse  func(src []byte, native any) error
}

// Twin holds c to allocate no more than its twin for Echo's request, 2 % aside for
// what pools lose to garbage collection. The race detector allocates too: such a
// test must not run under it.
func Twin(t *testing.T, c codec.Codec, twin ByHand) {
	const tolerance, runs = 1.02, 2000
	b := bind(t, c)
	allocations := func(do func() error) float64 {
		once := func() {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}
		once() // pools
		return testing.AllocsPerRun(runs, once)
	}
	for name, item := range map[string]*conformance.Item{
		"ordinary": conformance.Ordinary(),
		"long":     {Text: strings.Repeat("long ", 2_000), Tags: strings.Split(strings.Repeat("tag ", 200), " ")},
	} {
		native := b.Native(&conformance.EchoRequest{Item: item})
		src, err := b.Append(nil, native)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, 0, 2*len(src))
		for step, pair := range map[string][2]func() error{
			"encode": {
				func() error { _, err := b.Append(dst, native); return err },
				func() error { _, err := twin.Append(dst, native); return err },
			},
			"decode": {
				func() error { _, err := b.Parse(src); return err },
				func() error { return twin.Parse(src, twin.New()) },
			},
		} {
			codec, byHand := allocations(pair[0]), allocations(pair[1])
			t.Logf("%s, %s: the codec allocates %v times, its twin %v", name, step, codec, byHand)
			if codec > tolerance*byHand {
				t.Errorf("%s, %s: the codec allocates %v times, its twin %v", name, step, codec, byHand)
			}
		}
	}
}
