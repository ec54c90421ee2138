package lean

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tare-bench/tare/rpc"
)

// conn is one connection, opened when a call needs it and as often as that.
type conn struct {
	loop       *loop
	index      int   // among the loop's
	age        int32 // counts sockets: an event of an earlier one is void
	fd         int
	state      state
	connecting bool  // the socket is not connected yet
	offered    bool  // is among loop.open
	dirty      bool  // is among loop.dirty
	opener     *slot // the call that waits for the connection to open
	failure    error // why it was last closed
	speaks     machine

	in       []byte // in[from:to] was read, and is not used up
	from, to int
	out      []byte // out[sent:] is to be written
	sent     int
	stuck    bool // waits until the socket takes more
}

type state uint8

const (
	closed  state = iota
	opening       // connects, or waits for the server's first word
	usable
)

// machine speaks one version of HTTP on a connection. It reads what feed gives
// it and queues what it says in the connection's out. It ends calls by
// loop.answered and loop.end.
type machine interface {
	// reset readies it for a new socket. It says whether the connection is
	// usable at once, or only when the machine calls conn.use.
	reset() bool
	// room says whether it can begin another call.
	room() bool
	begin(s *slot)
	// feed takes what was read and not used up, and says how much it has used.
	// An error is the connection's end.
	feed(in []byte) (used int, err error)
	// drained queues more, once all was written, if there is more to say.
	drained()
	// hungUp takes the last words of a server that has closed its side.
	hungUp(in []byte) error
	// forget gives up a call; not ok says that the connection cannot go on.
	forget(s *slot) (ok bool)
	// lost ends all calls on the connection with err.
	lost(err error)
}

// Reads begin with this much room, which doubles as answers need it.
const smallRead = 16 << 10

func newConn(l *loop, index, calls int) *conn {
	c := &conn{loop: l, index: index, fd: -1, in: make([]byte, smallRead)}
	if l.client.config.Carriage.HTTP2 {
		c.speaks = newHTTP2(c, calls)
	} else {
		c.speaks = &http1{conn: c, answer: response{limit: l.client.config.MaxMessage}}
	}
	return c
}

func (c *conn) room() bool { return c.state == closed || c.state == usable && c.speaks.room() }

// begin makes the call of s, once the connection is open.
func (c *conn) begin(s *slot) {
	if c.state == closed {
		c.opener = s
		c.connect()
		return
	}
	c.speaks.begin(s)
	c.touch()
}

// touch has out written before the loop waits.
func (c *conn) touch() {
	if !c.dirty {
		c.dirty = true
		c.loop.dirty = append(c.loop.dirty, c)
	}
}

// connect opens a socket. If it fails at once, the next flush tells; if it is
// not open at once, an event will tell.
func (c *conn) connect() {
	c.state, c.failure = opening, nil
	fd, pending, err := connect(c.loop.client.addr)
	if err == nil {
		c.fd, c.connecting = fd, pending
		c.loop.client.wire.conns.Add(1)
		err = c.loop.poll.add(fd, c.index, c.age, pending)
	}
	switch {
	case err != nil:
		c.failure = fmt.Errorf("connect to %s: %w", c.loop.client.config.Addr, err)
		c.touch()
	case pending:
		c.stuck = true
	default:
		c.greet()
	}
}

// handle does what an event asks for.
func (c *conn) handle(e event) {
	if c.stuck && e.writable {
		c.stuck = false
		if c.connecting {
			c.connecting = false
			if err := connected(c.fd); err != nil {
				c.lose(fmt.Errorf("connect to %s: %w", c.loop.client.config.Addr, err))
				return
			}
			c.greet()
		}
		c.poll(false)
		c.flush()
	}
	if e.readable && c.fd >= 0 {
		c.receive()
	}
}

// greet begins to speak on a new socket.
func (c *conn) greet() {
	if c.speaks.reset() {
		c.use()
	}
	c.touch()
}

// use says that calls can be made.
func (c *conn) use() {
	c.state = usable
	if s := c.opener; s != nil {
		c.opener = nil
		c.begin(s)
	}
}

func (c *conn) poll(writable bool) {
	if err := c.loop.poll.watch(c.fd, c.index, c.age, writable); err != nil {
		c.lose(err)
	}
}

// flush writes until all is written or the socket takes no more.
func (c *conn) flush() {
	if c.failure != nil && c.state == opening {
		c.lose(c.failure)
		return
	}
	for c.fd >= 0 && !c.stuck {
		if c.sent == len(c.out) {
			c.out, c.sent = c.out[:0], 0
			if c.speaks.drained(); len(c.out) == 0 {
				return
			}
		}
		n, err := write(c.fd, c.out[c.sent:])
		if errors.Is(err, errAgain) {
			c.stuck = true
			c.poll(true)
			return
		}
		if err != nil {
			c.unwritable(err)
			return
		}
		c.sent += n
		c.loop.client.wire.sent.Add(int64(n))
	}
}

// unwritable loses the connection, but not what the server said before it
// closed its side: why it would read no more.
func (c *conn) unwritable(err error) {
	c.out, c.sent = c.out[:0], 0
	age := c.age
	if c.receive(); c.fd >= 0 && c.age == age {
		c.lose(fmt.Errorf("write to %s: %w", c.loop.client.config.Addr, err))
	}
}

// receive reads all there is, and feeds it to the machine.
func (c *conn) receive() {
	for age := c.age; c.fd >= 0 && c.age == age; {
		c.makeRoom()
		space := c.in[c.to:]
		n, err := read(c.fd, space)
		if errors.Is(err, errAgain) {
			return
		}
		c.loop.tick()
		if err == nil && n == 0 {
			if err = c.speaks.hungUp(c.in[c.from:c.to]); err == nil {
				err = io.EOF
			}
		}
		if err != nil {
			c.lose(fmt.Errorf("read from %s: %w", c.loop.client.config.Addr, err))
			return
		}
		c.loop.client.wire.received.Add(int64(n))
		c.to += n
		if c.feed(); n < len(space) {
			return
		}
	}
}

func (c *conn) feed() {
	used, err := c.speaks.feed(c.in[c.from:c.to])
	if c.fd < 0 {
		return
	}
	if err != nil {
		c.lose(err)
		return
	}
	if c.from += used; c.from == c.to {
		c.from, c.to = 0, 0
	}
	if len(c.out) > 0 {
		c.touch()
	}
}

// makeRoom leaves space behind what was read.
func (c *conn) makeRoom() {
	if c.to < len(c.in) {
		return
	}
	into := c.in
	if c.from < len(c.in)/2 {
		into = make([]byte, 2*len(c.in))
	}
	c.to = copy(into, c.in[c.from:c.to])
	c.in, c.from = into, 0
}

// abandon gives up the call of s, which its caller ends.
func (c *conn) abandon(s *slot) {
	if c.opener == s {
		c.opener = nil
		c.hangUp()
		return
	}
	if !c.speaks.forget(s) {
		c.hangUp()
		return
	}
	c.touch()
}

// lose closes the connection because of err, which ends the calls on it.
func (c *conn) lose(err error) {
	c.hangUp()
	e := rpc.TransportError(context.Background(), err)
	c.failure = e
	if s := c.opener; s != nil {
		c.opener = nil
		c.loop.end(s, e)
	}
	c.speaks.lost(e)
	c.loop.offer(c)
}

// hangUp closes the socket. The next call opens another.
func (c *conn) hangUp() {
	if c.fd >= 0 {
		shut(c.fd)
	}
	c.fd, c.state = -1, closed
	c.age++
	c.out, c.sent, c.stuck, c.connecting = nil, 0, false, false
	c.from, c.to = 0, 0
}
