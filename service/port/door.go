package port

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/tare-bench/tare/protocol"
)

// door lets connections in and hands each to the server that is to answer it.
type door struct {
	limits protocol.Limits
	tls    *tls.Config
	slots  chan struct{} // nil: any number of connections
	web    *handover
	native map[string]*handover // by content type
	shares []string             // how user agents begin that share connections

	mu     sync.Mutex
	shut   bool
	inside map[*conn]struct{} // not handed over yet
	guests sync.WaitGroup     // that are inside
}

// open accepts from l until ctx ends, and then returns nil. Connections that are
// open by then and have been handed over stay so.
func (d *door) open(ctx context.Context, l net.Listener) error {
	unhook := context.AfterFunc(ctx, func() { d.close(l) })
	defer func() {
		if unhook() {
			d.close(l)
		}
		d.guests.Wait()
	}()
	for d.room(ctx) {
		raw, err := protocol.Accept(ctx, l)
		if err == nil {
			d.admit(ctx, raw)
			continue
		}
		d.leave()
		if ctx.Err() != nil {
			break
		}
		return fmt.Errorf("accept: %w", err)
	}
	return nil
}

// room waits until one more connection may be open, and says no once ctx ends.
func (d *door) room(ctx context.Context) bool {
	if d.slots == nil {
		return ctx.Err() == nil
	}
	select {
	case d.slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave makes room again.
func (d *door) leave() {
	if d.slots != nil {
		<-d.slots
	}
}

// admit has a connection handed over without waiting for it.
func (d *door) admit(ctx context.Context, raw net.Conn) {
	c := &conn{Conn: raw, left: sync.OnceFunc(d.leave)}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.shut {
		_ = c.Close()
		return
	}
	d.inside[c] = struct{}{}
	d.guests.Go(func() {
		begins, err := d.ask(ctx, c)
		d.mu.Lock()
		delete(d.inside, c)
		shut := d.shut
		d.mu.Unlock()
		switch {
		case err != nil:
			_ = c.Close() // a caller that has not asked for anything
		case shut:
			if begins.http2 {
				_, _ = c.Write(goAway)
			}
			_ = c.Close()
		default:
			d.handOver(c, begins)
		}
	})
}

// ask finds out what c begins with.
func (d *door) ask(ctx context.Context, c *conn) (opening, error) {
	if d.tls != nil {
		if err := d.shakeHands(ctx, c); err != nil {
			return opening{}, err
		}
	}
	return sniff(c, d.limits)
}

func (d *door) handOver(c *conn, begins opening) {
	c.read = begins.read
	to := d.native[canonical(begins.media)]
	if slices.ContainsFunc(d.shares, func(s string) bool { return strings.HasPrefix(begins.agent, s) }) {
		to = nil
	}
	switch {
	case to != nil && c.state != nil:
		to.give(secured{c})
	case to != nil:
		to.give(c)
	default:
		if begins.http2 {
			c.acks = newAckFilter(c.next)
		}
		d.web.give(c)
	}
}

func (d *door) shakeHands(ctx context.Context, c *conn) error {
	ctx, cancel := context.WithTimeout(ctx, d.limits.HeaderTimeout)
	defer cancel()
	secure := tls.Server(c.Conn, d.tls)
	if err := secure.HandshakeContext(ctx); err != nil {
		var record tls.RecordHeaderError
		if errors.As(err, &record) && record.Conn != nil && speaksHTTP(record.RecordHeader) {
			_, _ = io.WriteString(record.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nThis port takes TLS: use https.\n")
		}
		return err
	}
	state := secure.ConnectionState()
	c.secure(secure, &state)
	return nil
}

// speaksHTTP says whether what should have been a record of TLS is the beginning
// of a request.
func speaksHTTP(begins [5]byte) bool {
	switch string(begins[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "PATCH", "DELET", "PRI *":
		return true
	}
	return false
}

// close ends accepting, and the connections that have not been handed over.
func (d *door) close(l net.Listener) {
	_ = l.Close() // Accept says why it ends
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shut = true
	for c := range d.inside {
		c.hurry()
	}
}

// handover is a listener whose connections were accepted by a door.
type handover struct {
	addr   net.Addr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newHandover(addr net.Addr) *handover {
	return &handover{addr: addr, conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (h *handover) give(c net.Conn) {
	select {
	case h.conns <- c:
	case <-h.closed:
		_ = c.Close()
	}
}

// Accept waits for the next connection, until Close.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close refuses connections.
func (h *handover) Close() error {
	h.once.Do(func() { close(h.closed) })
	return nil
}

// Addr is the door's.
func (h *handover) Addr() net.Addr { return h.addr }
