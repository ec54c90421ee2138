package rest

import (
	"errors"
	"io"
	"net/http"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// incoming is a request that brings one message. Its body's bytes are taken
// before the call is handled, and parsed when they are asked for.
//
// So a call that is refused unasked costs no parsing, its connection is good
// for another, and net/http, which looks at a connection of HTTP/1.1 only once
// the body is read, tells at once if the caller goes away. A long body is not
// taken unasked: net/http throws away up to 256 KiB of it, or else closes the
// connection.
type incoming struct {
	*server
	w      http.ResponseWriter
	r      *http.Request
	buf    *buffer
	packed bool // the body is compressed
	held   bool // the body stands in buf
	taken  bool
}

// unasked is how long a body may be that is taken before it is asked for: what
// a stream of HTTP/2 takes too, before anybody asks.
const unasked = 64 << 10

// open looks at the header, and takes the body if it is short.
func (q *incoming) open() error {
	if q.bodyless {
		return q.wantNoBody()
	}
	if err := wantMedia(q.r.Header, q.media); err != nil {
		return err
	}
	var err error
	if q.packed, err = q.server.packed(q.r.Header); err != nil {
		return err
	}
	if length := q.r.ContentLength; length < 0 || length > unasked {
		return nil
	}
	return q.take()
}

func (q *incoming) wantNoBody() error {
	switch {
	case q.r.ContentLength != 0:
		return rpc.Errorf(rpc.InvalidArgument, "%s takes no body", q.pattern())
	case len(q.r.URL.RawQuery) > q.maxMessage:
		return refusal{protocol.TooLong(q.maxMessage), http.StatusRequestURITooLong}
	}
	return nil
}

// take reads the body into buf.
func (q *incoming) take() error {
	q.held = true
	limit := q.maxMessage
	if q.packed {
		limit = packedLimit(limit)
	}
	err := q.buf.fill(q.r.Body, q.r.ContentLength, limit)
	if errors.Is(err, errTooLong) {
		linger(q.w, q.r)
	}
	if err != nil {
		return q.unread(err)
	}
	return nil
}

// next gives the message, and then io.EOF. buf is free for use afterwards.
func (q *incoming) next() (any, error) {
	if q.taken {
		return nil, io.EOF
	}
	q.taken = true
	if !q.targeted() {
		return q.parseBody()
	}
	in := q.method.In
	m := in.NewProto()
	if !q.bodyless {
		plain, err := q.parseBody()
		if err != nil {
			return nil, err
		}
		m = in.ToProto(plain)
	}
	if err := q.readTarget(m.ProtoReflect(), q.r); err != nil {
		return nil, err
	}
	return in.FromProto(m), nil
}

func (q *incoming) parseBody() (any, error) {
	if !q.held {
		if err := q.take(); err != nil {
			return nil, err
		}
	}
	src := q.buf.b
	if q.packed {
		plain := newBuffer()
		defer plain.free()
		if err := q.coding.unpack(plain, src, q.maxMessage); err != nil {
			return nil, q.unread(err)
		}
		src = plain.b
	}
	native, err := q.in.Parse(src)
	if err != nil {
		return nil, rpc.Errorf(rpc.InvalidArgument, "parse %s: %v", q.method.In.Name, err)
	}
	return q.in.Plain(native), nil
}

// leave lets the answer reach a caller whose body was not asked for. net/http
// sees to it where it would keep the connection. A caller that waits to be told
// to go on sends nothing, and need not be told.
func (q *incoming) leave() {
	if !q.bodyless && !q.held && q.r.Close && q.r.Header["Expect"] == nil {
		linger(q.w, q.r)
	}
}

// linger lets the answer reach a caller that is still sending: a connection that
// is closed with bytes unread is reset, and the answer lost. net/http keeps it
// half open for a moment once a MaxBytesReader has met its limit.
func linger(w http.ResponseWriter, r *http.Request) {
	_, _ = http.MaxBytesReader(w, r.Body, 0).Read(make([]byte, 1))
}

// unread is why a body was not read.
func (s *server) unread(err error) error {
	if errors.Is(err, errTooLong) {
		return refusal{protocol.TooLong(s.maxMessage), http.StatusRequestEntityTooLarge}
	}
	return rpc.Errorf(rpc.InvalidArgument, "read body: %v", err)
}

// unaryCall is a unary call as its handler holds it.
type unaryCall struct {
	incoming
	reply   any
	replies int
}

func (c *unaryCall) Recv() (any, error) { return c.next() }

func (c *unaryCall) Send(plain any) error {
	c.reply = plain
	c.replies++
	return nil
}
