package tunnel

import "time"

// ring holds packets in the order in which they are due. It grows to what is held
// at one time, and then allocates no more.
type ring struct {
	slots []held // a circle
	first int    // of count
	count int
	size  int // bytes of all packets
}

type held struct {
	due    time.Duration
	packet []byte // its memory is used again
}

func (r *ring) empty() bool { return r.count == 0 }

// due is when the first packet is due, if there is one.
func (r *ring) due() (time.Duration, bool) {
	if r.empty() {
		return 0, false
	}
	return r.slots[r.first].due, true
}

// push keeps a copy of a packet.
func (r *ring) push(packet []byte, due time.Duration) {
	if r.count == len(r.slots) {
		r.grow()
	}
	h := &r.slots[(r.first+r.count)%len(r.slots)]
	h.due, h.packet = due, append(h.packet[:0], packet...)
	r.count++
	r.size += len(packet)
}

// pop gives the first packet, which is good until the next push.
func (r *ring) pop() []byte {
	packet := r.slots[r.first].packet
	r.first = (r.first + 1) % len(r.slots)
	r.count--
	r.size -= len(packet)
	return packet
}

func (r *ring) grow() {
	const least = 64
	slots := make([]held, max(least, 2*len(r.slots)))
	n := copy(slots, r.slots[r.first:])
	copy(slots[n:], r.slots[:r.first])
	r.slots, r.first = slots, 0
}
