package memory

const sequenceChunk = 4096

// sequence is a list without pointers, counted from 1, that grows without
// being copied: a copy of millions would stall every caller.
type sequence[T any] struct {
	chunks []*[sequenceChunk]T
	n      int64
}

func (s *sequence[T]) len() int64 { return s.n }

func (s *sequence[T]) add(v T) {
	if s.n%sequenceChunk == 0 {
		s.chunks = append(s.chunks, new([sequenceChunk]T))
	}
	s.n++
	*s.at(s.n) = v
}

// at gives the place of entry i, which is between 1 and len.
func (s *sequence[T]) at(i int64) *T { return &s.chunks[(i-1)/sequenceChunk][(i-1)%sequenceChunk] }

// waiting is an order by the instant, in microseconds, from which it waits.
type waiting struct{ created, number int64 }

func (w waiting) before(o waiting) bool {
	return w.created < o.created || w.created == o.created && w.number < o.number
}

// queue is a binary heap, the oldest first. (container/heap would allocate for
// each entry.)
type queue []waiting

func (q *queue) push(w waiting) {
	h := append(*q, w)
	i := len(h) - 1
	for i > 0 && w.before(h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = w
	*q = h
}

func (q *queue) pop() waiting {
	h := *q
	top, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	if len(h) > 0 {
		h.sink(0, last)
	}
	*q = h
	return top
}

// sink puts w at i, or below where older ones are.
func (q queue) sink(i int, w waiting) {
	for {
		child := 2*i + 1
		if child+1 < len(q) && q[child+1].before(q[child]) {
			child++
		}
		if child >= len(q) || !q[child].before(w) {
			q[i] = w
			return
		}
		q[i] = q[child]
		i = child
	}
}

// keep drops all entries that are not wanted.
func (q *queue) keep(wanted func(waiting) bool) {
	h := (*q)[:0]
	for _, w := range *q {
		if wanted(w) {
			h = append(h, w)
		}
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.sink(i, h[i])
	}
	*q = h
}
