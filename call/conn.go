package call

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// client is an HTTP client that knows what its server begins to say.
type client struct {
	*http.Client
	meter  meter
	http2  bool
	secure bool
}

// What a server is that cannot be understood.
var (
	errHTTP1 = errors.New("the server answers by HTTP/1.1, and not by HTTP/2")
	errHTTP2 = errors.New("the server answers by HTTP/2, and not by HTTP/1.1")
	errTLS   = errors.New("the server answers by TLS")
)

// Do makes a request.
func (c *client) Do(r *http.Request) (*http.Response, error) {
	answer, err := c.Client.Do(r)
	if err == nil {
		return answer, nil
	}
	if wrong := c.misheard(); wrong != nil {
		return nil, wrong // which net/http tells in one of many ways
	}
	return nil, err
}

// misheard says what the server speaks, if that is what went wrong.
func (c *client) misheard() error {
	const (
		settings, frameHeader = 4, 9 // of HTTP/2: RFC 9113, 4.1 and 6.5
		alert, version        = 21, 3
	)
	c.meter.mu.Lock()
	defer c.meter.mu.Unlock()
	heard := c.meter.heard
	switch {
	case c.secure:
		return nil // all is of TLS
	case len(heard) > 1 && heard[0] == alert && heard[1] == version:
		return errTLS
	case c.http2 && bytes.HasPrefix(heard, []byte("HTTP/1.")):
		return errHTTP1
	case !c.http2 && len(heard) >= frameHeader && heard[0] == 0 && heard[3] == settings && binary.BigEndian.Uint32(heard[5:]) == 0:
		return errHTTP2
	}
	return nil
}

// patience is how long a client of HTTP/2 waits for the server's first word.
const patience = time.Second

// conn counts its bytes, and has client and server speak in turn at first, so
// that a server of another protocol is known by what it says and not by how the
// connection then breaks. It reads nothing before it has written, since net/http
// would complain that nobody asked. In HTTP/2, where the server has to begin
// too, it writes once and then waits for that, as grpc-go's clients do.
type conn struct {
	net.Conn
	meter        *meter
	waits        bool // for the server's beginning
	asked, heard mark
}

// mark is something that happens once.
type mark struct {
	once sync.Once
	done chan struct{}
}

func newMark() mark { return mark{done: make(chan struct{})} }

func (m *mark) set() { m.once.Do(func() { close(m.done) }) }

func (m *mark) isSet() bool {
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}

func (c *conn) Read(b []byte) (int, error) {
	<-c.asked.done
	n, err := c.Conn.Read(b)
	c.meter.hear(b[:n])
	c.heard.set()
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	if c.waits && c.asked.isSet() {
		select {
		case <-c.heard.done:
		case <-time.After(patience):
		}
	}
	c.asked.set()
	n, err := c.Conn.Write(b)
	c.meter.sent.Add(int64(n))
	return n, err
}

func (c *conn) Close() error {
	c.asked.set()
	c.heard.set()
	return c.Conn.Close()
}
