package port

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// conn is an accepted connection. Its first bytes may have been read before, and
// its handshake is done.
type conn struct {
	net.Conn
	read  []byte               // before, and not by Read
	acks  *ackFilter           // nil: none is withheld
	state *tls.ConnectionState // nil without TLS
	left  func()               // is called once it is closed

	mu      sync.Mutex
	hurried bool
}

func (c *conn) Read(p []byte) (int, error) {
	if c.acks != nil {
		return c.acks.Read(p)
	}
	return c.next(p)
}

// next reads as Read does, the port's own acknowledgement included.
func (c *conn) next(p []byte) (int, error) {
	if len(c.read) == 0 {
		c.read = nil
		return c.Conn.Read(p)
	}
	n := copy(p, c.read)
	c.read = c.read[n:]
	return n, nil
}

func (c *conn) Close() error {
	err := c.Conn.Close()
	c.left()
	return err
}

// CloseWrite lets an answer reach a caller that is still sending: net/http asks
// for it.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// secure puts TLS, whose handshake is done, in the place of the bare connection.
func (c *conn) secure(by *tls.Conn, state *tls.ConnectionState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Conn, c.state = by, state
}

// SetReadDeadline changes nothing once the connection is hurried.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hurried {
		return nil
	}
	return c.Conn.SetReadDeadline(t)
}

// SetWriteDeadline changes nothing once the connection is hurried.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hurried {
		return nil
	}
	return c.Conn.SetWriteDeadline(t)
}

// SetDeadline is SetReadDeadline and SetWriteDeadline.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// hurry ends every read that would wait, and soon every write.
func (c *conn) hurry() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hurried = true
	now := time.Now()
	_ = c.Conn.SetReadDeadline(now) // it is closed, or will be
	_ = c.Conn.SetWriteDeadline(now.Add(untilCut))
}

// secured is a conn whose user asks itself for the state of TLS.
type secured struct{ *conn }

func (s secured) ConnectionState() tls.ConnectionState { return *s.state }

// ackFilter reads what a client of HTTP/2 sends, without its first
// acknowledgement of settings: it is that of the port's, and net/http's server
// ends a connection that acknowledges more settings than the server has sent.
type ackFilter struct {
	from    func([]byte) (int, error)
	pass    int    // bytes that follow and are not looked at
	head    []byte // of a frame, as far as it is there
	give    []byte // what head held, to be read
	through bool   // nothing is withheld any more
}

func newAckFilter(from func([]byte) (int, error)) *ackFilter {
	return &ackFilter{from: from, pass: len(http2.ClientPreface), head: make([]byte, 0, frameHeader)}
}

func (f *ackFilter) Read(p []byte) (int, error) {
	for {
		switch {
		case len(p) == 0:
			return 0, nil
		case len(f.give) > 0:
			n := copy(p, f.give)
			f.give = f.give[n:]
			return n, nil
		case f.through:
			return f.from(p)
		case f.pass > 0:
			n, err := f.from(p[:min(len(p), f.pass)])
			f.pass -= n
			return n, err
		}
		if err := f.frame(); err != nil {
			return 0, err
		}
	}
}

// frame reads the header of a frame. What of it is there when the connection
// ends is given.
func (f *ackFilter) frame() error {
	n, err := f.from(f.head[len(f.head):frameHeader])
	f.head = f.head[:len(f.head)+n]
	switch {
	case len(f.head) == frameHeader:
		f.judge()
		return nil
	case errors.Is(err, io.EOF):
		f.give, f.head, f.through = f.head, f.head[:0], true
		return nil
	}
	return err
}

func (f *ackFilter) judge() {
	head, err := http2.ReadFrameHeader(bytes.NewReader(f.head))
	ack := err == nil && head.Type == http2.FrameSettings && head.Flags.Has(http2.FlagSettingsAck) && head.Length == 0
	f.through = ack
	if !ack {
		f.give, f.pass = f.head, int(head.Length)
	}
	f.head = f.head[:0]
}
