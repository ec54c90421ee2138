package relay

import (
	"sync"
	"time"
)

// window is how many bytes of one direction of a connection may be on their way:
// as much as TCP itself would let be, so that whoever sends faster waits.
const window = 4 << 20

// piece is what was read at one time, or how reading ended.
type piece struct {
	due   time.Duration
	bytes []byte
	end   error // io.EOF, or what broke the connection
}

// queue holds pieces in order. One goroutine pushes and one pops.
type queue struct {
	mu     sync.Mutex
	change sync.Cond
	pieces []piece
	bytes  int
	closed bool
}

func newQueue() *queue {
	q := new(queue)
	q.change.L = &q.mu
	return q
}

// push waits until the window has room. It is false once the queue is closed.
func (q *queue) push(p piece) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.bytes > window && !q.closed {
		q.change.Wait()
	}
	q.pieces = append(q.pieces, p)
	q.bytes += len(p.bytes)
	q.change.Broadcast()
	return !q.closed
}

// pop waits for a piece. It is false once the queue is closed.
func (q *queue) pop() (piece, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.pieces) == 0 && !q.closed {
		q.change.Wait()
	}
	if q.closed {
		return piece{}, false
	}
	p := q.pieces[0]
	q.pieces[0] = piece{}
	q.pieces = q.pieces[1:]
	q.bytes -= len(p.bytes)
	q.change.Broadcast()
	return p, true
}

// close has whoever waits wait no longer.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.change.Broadcast()
}
