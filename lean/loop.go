package lean

import (
	"context"
	"time"

	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// loop is one thread's share of a client: some connections, and during a trial
// some slots. All it holds is touched by the goroutine in run alone.
type loop struct {
	client *Client
	poll   *poller
	conns  []*conn
	// open are the connections that can take a call, the one used last on top:
	// calls go where the last answer came from, and so share its next write.
	open  []*conn
	dirty []*conn // have something to write

	*trial
	now     time.Duration // since the trial began, as last read
	free    queue         // slots without a call, the longest free first
	waiting queue         // slots whose call has begun and has no connection
	oldest  *slot         // of the calls in flight, in the order of their start
	newest  *slot
	// The pace's next call, taken while a slot is free and before it is due.
	next struct {
		n     int
		due   time.Duration
		taken bool
	}
	over   bool // the pace hands out no more
	freed  bool // a slot fell free since calls were last begun
	totals Totals
}

// trial is what the loops of one Drive have in common.
type trial struct {
	pace  *load.Pace
	call  func(n int) *Call
	rec   load.Recorder
	began time.Time
}

// slot is one call at a time.
type slot struct {
	id           int
	n            int
	call         *Call
	intended     time.Duration
	start        time.Duration
	free         time.Duration // since when, while it is
	waited       bool
	conn         *conn // nil while the call waits for one
	older, newer *slot
	stream       stream // HTTP/2
}

var errDeadline = rpc.ErrorOf(context.DeadlineExceeded)

func newLoop(client *Client, conns, perConn int) (*loop, error) {
	poll, err := newPoller()
	if err != nil {
		return nil, err
	}
	l := &loop{client: client, poll: poll}
	for i := range conns {
		c := newConn(l, i, perConn)
		l.conns = append(l.conns, c)
		l.offer(c)
	}
	return l, nil
}

// connect opens every connection.
func (l *loop) connect(ctx context.Context) error {
	for _, c := range l.conns {
		c.connect()
	}
	l.flush()
	for {
		pending := 0
		for _, c := range l.conns {
			if c.state == closed {
				return c.failure
			}
			if c.state == opening {
				pending++
			}
		}
		if pending == 0 {
			return nil
		}
		if _, err := l.turn(-1); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return rpc.ErrorOf(ctx.Err())
		}
	}
}

// settle handles what befell idle connections since they were last used.
func (l *loop) settle() error {
	for {
		n, err := l.turn(0)
		if n == 0 || err != nil {
			return err
		}
	}
}

// ready gives the loop its slots for a trial: n of them, from number first.
func (l *loop) ready(t *trial, first, n int) {
	l.trial, l.now = t, 0
	l.free, l.waiting = newQueue(n), newQueue(n)
	l.oldest, l.newest = nil, nil
	l.next.taken, l.over, l.totals = false, false, Totals{}
	for i := range n {
		l.free.push(&slot{id: first + i})
	}
	l.freed = true
}

// run makes the trial's calls. A loop that ready was not called for has none.
func (l *loop) run(ctx context.Context) error {
	if l.trial == nil {
		return nil
	}
	defer func() { l.trial = nil }()
	if l.pace.Open() {
		punctual()
	}
	l.tick() // connections were looked after since the trial began
	for {
		l.begin()
		if l.over && l.oldest == nil {
			return nil
		}
		if _, err := l.turn(l.timeout()); err != nil {
			l.fail(rpc.TransportError(ctx, err))
			return err
		}
		if ctx.Err() != nil {
			l.over = true
			l.fail(rpc.ErrorOf(ctx.Err()))
		}
		for s := l.oldest; s != nil && s.start+l.client.config.Deadline <= l.now; s = l.oldest {
			l.abandon(s, errDeadline)
		}
	}
}

// turn waits for events, at most for d (below 0: however long), handles them,
// and says how many there were.
func (l *loop) turn(d time.Duration) (n int, err error) {
	events, err := l.poll.wait(d)
	if err != nil {
		return 0, err
	}
	l.tick()
	for _, e := range events {
		c := l.conns[e.conn]
		if c.age != e.age { // of a socket that is closed by now
			continue
		}
		c.handle(e)
		l.offer(c)
		l.begin()
	}
	return len(events), nil
}

// tick reads the clock.
func (l *loop) tick() {
	if l.trial != nil {
		l.now = time.Since(l.began)
	}
}

// timeout is how long nothing happens unless the server does it.
func (l *loop) timeout() time.Duration {
	if l.freed {
		return 0
	}
	d := time.Duration(-1)
	if l.oldest != nil {
		d = max(0, l.oldest.start+l.client.config.Deadline-l.now)
	}
	if l.next.taken {
		l.tick() // what was done since the last events is not to be waited for again
	}
	if l.next.taken && (d < 0 || l.next.due-l.now < d) {
		d = max(0, l.next.due-l.now)
	}
	return d
}

// begin starts what can be started, and writes it.
func (l *loop) begin() {
	if l.trial == nil {
		l.flush()
		return
	}
	l.freed = false
	for l.waiting.len > 0 && l.dispatch(l.waiting.front()) {
		l.waiting.pop()
	}
	for s := l.take(); s != nil; s = l.take() {
		if !l.dispatch(s) { // then neither had those that wait
			l.waiting.push(s)
			l.totals.Queued++
		}
	}
	l.flush()
}

// take starts the next call of the pace, or returns nil: none is due, or no
// slot is free.
func (l *loop) take() *slot {
	if l.free.len == 0 || l.over {
		return nil
	}
	if !l.next.taken {
		var ok bool
		if l.next.n, l.next.due, ok = l.pace.Take(l.now); !ok {
			l.over = true
			return nil
		}
		l.next.taken = true
	}
	if l.next.due > l.now {
		return nil
	}
	l.next.taken = false
	s := l.free.pop()
	s.n, s.intended, s.start = l.next.n, l.next.due, l.now
	s.waited = s.free <= s.intended
	s.call = l.call(s.n)
	s.older, s.newer = l.newest, nil
	if l.newest != nil {
		l.newest.newer = s
	} else {
		l.oldest = s
	}
	l.newest = s
	l.totals.Started++
	l.totals.LastStart = s.start
	return s
}

// dispatch gives s a connection, if there is one.
func (l *loop) dispatch(s *slot) bool {
	for len(l.open) > 0 {
		c := l.open[len(l.open)-1]
		if c.room() {
			s.conn = c
			c.begin(s)
		}
		if !c.room() {
			c.offered = false
			l.open = l.open[:len(l.open)-1]
		}
		if s.conn != nil {
			return true
		}
	}
	return false
}

// offer lets calls go to c, if it has room.
func (l *loop) offer(c *conn) {
	if !c.offered && c.room() {
		c.offered = true
		l.open = append(l.open, c)
	}
}

// flush writes what is to be written.
func (l *loop) flush() {
	for len(l.dirty) > 0 {
		c := l.dirty[len(l.dirty)-1]
		l.dirty = l.dirty[:len(l.dirty)-1]
		c.dirty = false
		c.flush()
		l.offer(c)
	}
}

// answered ends s with an answer.
func (l *loop) answered(s *slot, a protocol.Answer) { l.end(s, s.call.check(a)) }

// end records the call of s and frees it.
func (l *loop) end(s *slot, err error) {
	if s.older != nil {
		s.older.newer = s.newer
	} else {
		l.oldest = s.newer
	}
	if s.newer != nil {
		s.newer.older = s.older
	} else {
		l.newest = s.older
	}
	l.totals.Elapsed = max(l.totals.Elapsed, l.now)
	l.rec.Record(s.id, load.Observation{
		N: s.n, Intended: s.intended, Start: s.start, End: l.now, Err: err, Waited: s.waited,
	})
	s.conn, s.call, s.free = nil, nil, l.now
	l.free.push(s)
	l.freed = true
}

// abandon ends the call of s, which has no answer yet. Of the calls that wait
// for a connection only the oldest may be abandoned.
func (l *loop) abandon(s *slot, err error) {
	if c := s.conn; c == nil {
		l.waiting.pop()
	} else {
		c.abandon(s)
		l.offer(c)
	}
	l.end(s, err)
}

// fail ends all calls in flight.
func (l *loop) fail(err error) {
	for l.oldest != nil {
		l.abandon(l.oldest, err)
	}
}

func (l *loop) close() error {
	for _, c := range l.conns {
		c.hangUp()
	}
	return l.poll.close()
}

// queue holds slots, first in, first out. It has room for all of a loop's.
type queue struct {
	ring       []*slot
	first, len int
}

func newQueue(n int) queue { return queue{ring: make([]*slot, n)} }

func (q *queue) push(s *slot) {
	q.ring[(q.first+q.len)%len(q.ring)] = s
	q.len++
}

func (q *queue) front() *slot { return q.ring[q.first] }

func (q *queue) pop() *slot {
	s := q.ring[q.first]
	q.first = (q.first + 1) % len(q.ring)
	q.len--
	return s
}
