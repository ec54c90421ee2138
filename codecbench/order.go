package codecbench

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/tare-bench/tare/record"
)

// Turn is one contender with one kind of message.
type Turn struct{ Message, Codec int }

// Order is whose turn it is in a round, all at once: drawn from the seed in each
// round of an even number, and the reverse of that in the next, so that a steady
// drift cancels.
func Order(seed uint64, block, round, messages, codecs int) []Turn {
	var turns []Turn
	for m := range messages {
		for k := range codecs {
			turns = append(turns, Turn{m, k})
		}
	}
	random := rand.New(rand.NewPCG(seed, uint64(block)<<32|uint64(round/2)))
	random.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	if round%2 == 1 {
		slices.Reverse(turns)
	}
	return turns
}

// Rounds is how many rounds of a block fill a time on the clock, all contenders
// with all messages together: in pairs, an order and its reverse, and one at least.
func Rounds(total, slice time.Duration, blocks, turns int) int {
	round := slice * time.Duration(blocks*turns*len(record.Steps))
	return 2 * max(1, int(total/(2*round)))
}
