package link

import (
	"math/rand/v2"
	"time"
)

// Sizes of a link's queue. Routers at the ends of slow links hold some tens of
// milliseconds; a fast one must take the bursts in which TCP sends.
const (
	Packet      = 1500 // bytes, the longest: what Ethernet carries
	leastQueue  = 64 * Packet
	queuedFor   = 10 * time.Millisecond
	bitsPerByte = 8
)

// Queue is how many bytes may wait for their turn to be sent: the link's
// bandwidth-delay product, so that TCP can fill it, and a buffer of 10 ms at its
// rate or 64 packets, whichever is more.
func (s Spec) Queue() int {
	return s.bytesIn(s.RoundTrip) + max(leastQueue, s.bytesIn(queuedFor))
}

// bytesIn is how many bytes the link's rate carries in a time.
func (s Spec) bytesIn(d time.Duration) int {
	return int(float64(s.Rate) / bitsPerByte * d.Seconds())
}

// sending is how long the link takes to send n bytes.
func (s Spec) sending(n int) time.Duration {
	if s.Rate == 0 {
		return 0
	}
	return time.Duration(float64(n) * bitsPerByte / float64(s.Rate) * float64(time.Second))
}

// Way is one direction of a link: it says of each packet when it arrives. Packets
// are sent one after the other at the link's rate, then take its delay, and arrive
// in the order in which they were sent. Times count from any one moment, and those
// of entering may not fall. It is for one goroutine at a time.
type Way struct {
	spec  Spec
	seed  uint64
	queue int
	idle  time.Duration // when all that entered has been sent
	last  time.Duration // when the last packet arrives
	rand  *rand.Rand    // of losses
	swing swing
}

// NewWay gives a direction of s. Equal seeds lose the same packets.
func NewWay(s Spec, seed uint64) *Way {
	const stream = 3 // apart from those of plans
	return &Way{spec: s, seed: seed, queue: s.Queue(), rand: rand.New(rand.NewPCG(seed, stream)), swing: swing{span: -1}}
}

// Fate is what becomes of a packet.
type Fate int

// Fates of packets.
const (
	Carried Fate = iota
	Lost         // by Spec.Loss, having taken its time on the link
	Refused      // by a full queue
)

// Pass says when a packet of n bytes that enters now arrives, if it does.
func (w *Way) Pass(n int, now time.Duration) (arrives time.Duration, fate Fate) {
	if w.Waiting(now)+n > w.queue && w.spec.Rate > 0 {
		return 0, Refused
	}
	arrives = w.Send(n, now)
	if w.spec.Loss > 0 && w.rand.Float64() < w.spec.Loss {
		return 0, Lost
	}
	return arrives, Carried
}

// Send is Pass for bytes that are neither lost nor refused: whoever sends them
// is to heed Room.
func (w *Way) Send(n int, now time.Duration) (arrives time.Duration) {
	w.idle = max(w.idle, now) + w.spec.sending(n)
	w.last = max(w.last, w.idle+w.spec.OneWay()+w.jitter(w.idle))
	return w.last
}

// swing is how jitter goes from the beginning of a span of time to its end, in
// shares of Spec.Jitter.
type swing struct {
	span     time.Duration // its number; -1 for none yet
	from, to float64
}

// jitter is what is added to the delay of a packet that is sent at a moment. It
// depends on the time and on nothing else, so that whoever sends more packets does
// not meet more of it, and changes by half of the time that passes at most, so that
// no packet overtakes another.
func (w *Way) jitter(at time.Duration) time.Duration {
	const spans = 4 // of the jitter: from one end of it to the other is 2
	if w.spec.Jitter == 0 {
		return 0
	}
	long := spans * w.spec.Jitter
	if k := at / long; k != w.swing.span {
		w.swing = swing{k, w.draw(k), w.draw(k + 1)}
	}
	part := float64(at%long) / float64(long)
	return time.Duration((w.swing.from + part*(w.swing.to-w.swing.from)) * float64(w.spec.Jitter))
}

// draw gives the jitter at the beginning of a span, evenly from -1 to 1.
func (w *Way) draw(span time.Duration) float64 {
	const stream = 1 << 40 // and up: apart from that of losses
	return 2*rand.New(rand.NewPCG(w.seed, stream+uint64(span))).Float64() - 1
}

// Waiting is how many bytes have entered and are not sent yet.
func (w *Way) Waiting(now time.Duration) int {
	if w.idle <= now {
		return 0
	}
	return w.spec.bytesIn(w.idle - now)
}

// Room is when the queue takes more without growing over its bound.
func (w *Way) Room() time.Duration {
	return w.idle - w.spec.sending(w.queue)
}
