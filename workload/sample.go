package workload

import "github.com/tare-bench/tare/rpc"

// Sampler is a Workload that gives messages by themselves, as they cross in its
// calls, for who weighs codecs without protocols.
type Sampler interface {
	Workload
	// Samples gives each kind of message; a kind that holds many items has batch
	// of them in each. Equal arguments give equal messages, as if from new.
	Samples(batch int, seed uint64) []Sample
}

// Sample is one kind of message, in several that differ in what they hold: a
// single one, met again and again, would be foretold by the processor.
type Sample struct {
	Name     string // in one word: "record"
	Type     *rpc.Type
	Items    int   // in each message
	Messages []any // plain values; one at least
}
