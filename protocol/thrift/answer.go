package thrift

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// answer answers the call in the frame of length n that comes next. An error
// ends the connection.
func (k *session) answer(n int) error {
	s := k.server
	begun, err := k.head(n)
	if err != nil {
		return err
	}
	h, rest, err := s.envelope.read(begun)
	if err != nil {
		return err
	}
	m, ok := s.method(h.name)
	switch {
	case h.kind != apache.CALL:
		return k.decline(n, h, func(dst []byte) ([]byte, error) {
			return s.envelope.appendException(dst, h, apache.INVALID_MESSAGE_TYPE_EXCEPTION, "only calls are answered")
		})
	case !ok:
		asked := h.name
		// A multiplexed client reads no answer that names the service too.
		h.name = asked[strings.LastIndexByte(asked, ':')+1:]
		return k.decline(n, h, func(dst []byte) ([]byte, error) {
			return s.envelope.appendException(dst, h, apache.UNKNOWN_METHOD, fmt.Sprintf("no method %.128q of %s", asked, s.name))
		})
	}
	h.name = m.Name // which is what a multiplexed client expects too
	err = rpc.Refusal(s.handler, m.Method)
	if err == nil && n > s.maxMessage+longestFailure {
		err = protocol.TooLong(s.maxMessage)
	}
	if err != nil {
		return k.decline(n, h, func(dst []byte) ([]byte, error) { return s.envelope.appendFailure(dst, h, err) })
	}
	buf := newBuffer()
	defer buf.free()
	if buf.b, err = k.read(buf.b, n); err != nil {
		return err
	}
	if err := k.relax(); err != nil { // or a look at the peer would end by it
		return err
	}
	out, err := k.handle(m, buf.b[len(begun)-len(rest):])
	if buf.b, err = s.reply(buf.b[:0], h, m, out, err); err != nil {
		return err
	}
	_, err = k.conn.Write(buf.b)
	return err
}

// decline answers before the frame of length n has been read. Its sender reads
// no answer before it has sent all.
func (k *session) decline(n int, h heading, appendTo func([]byte) ([]byte, error)) error {
	if h.kind == apache.ONEWAY {
		return k.discard(n)
	}
	buf := newBuffer()
	defer buf.free()
	var err error
	if buf.b, err = appendTo(buf.b); err != nil {
		return err
	}
	if _, err := k.conn.Write(buf.b); err != nil {
		return err
	}
	return k.discard(n)
}

// handle has a call handled whose arguments are in b, and gives the reply.
func (k *session) handle(m *method, b []byte) (any, error) {
	field, from, err := k.server.envelope.find(b)
	if err == nil && field != requestField {
		err = errNoField
	}
	switch {
	case err != nil:
		return nil, unparsable(err)
	case len(from)-1 > k.server.maxMessage:
		return nil, protocol.TooLong(k.server.maxMessage)
	}
	k.call = incoming{session: k, method: m, from: from}
	defer func() { k.call = incoming{} }()
	if err := k.watched(k.call.handle); err != nil {
		return nil, err
	}
	if n := k.call.replies; n != 1 {
		return nil, rpc.Errorf(rpc.Internal, "%s gave %d replies, want one", m.Path(), n)
	}
	return k.call.out, nil
}

// reply appends the frame that answers a call.
func (s *server) reply(dst []byte, h heading, m *method, out any, err error) ([]byte, error) {
	if err == nil {
		h.kind = apache.REPLY
		encoded, failed := s.envelope.appendMessage(dst, h, "success", successField, m.out, out)
		if failed == nil {
			return encoded, nil
		}
		if err = failed; !errors.As(failed, new(*rpc.Error)) {
			err = rpc.Errorf(rpc.Internal, "encode %s: %v", m.Out.Name, failed)
		}
	}
	return s.envelope.appendFailure(dst, h, err)
}

func unparsable(err error) error {
	return rpc.Errorf(rpc.InvalidArgument, "parse request: %v", err)
}

// incoming is a call as its handler holds it.
type incoming struct {
	*session
	method  *method
	from    []byte // the request, encoded
	taken   bool
	out     any // the reply's native form
	replies int
}

func (c *incoming) handle(ctx context.Context) error {
	return c.server.handler.Handle(ctx, c.method.Method, c)
}

func (c *incoming) Recv() (any, error) {
	if c.taken {
		return nil, io.EOF
	}
	c.taken = true
	native, err := c.server.envelope.parse(c.from, c.method.in)
	if err != nil {
		return nil, unparsable(err)
	}
	return c.method.in.Plain(native), nil
}

func (c *incoming) Send(plain any) error {
	c.out = c.method.out.Native(plain)
	c.replies++
	return nil
}
