package lean

import (
	"errors"
	"net/http"
)

// http1 speaks HTTP/1.1: one call at a time.
type http1 struct {
	conn   *conn
	slot   *slot // whose call is under way
	answer response
}

var errUnasked = errors.New("the server speaks without being asked")

func (h *http1) reset() bool { return true }

func (h *http1) room() bool { return h.slot == nil }

func (h *http1) begin(s *slot) {
	h.slot = s
	h.answer.reset(s.call.verb == http.MethodHead)
	h.conn.out, h.conn.sent = s.call.wire, 0
}

func (h *http1) drained() {}

func (h *http1) feed(in []byte) (used int, err error) {
	if h.slot == nil {
		return 0, errUnasked
	}
	done, err := h.answer.parse(in)
	if !done {
		return 0, err
	}
	h.finish(in)
	return h.answer.at, nil
}

// finish ends the call, and the connection where it cannot be used again.
func (h *http1) finish(in []byte) {
	c, s := h.conn, h.slot
	h.slot = nil
	c.loop.answered(s, h.answer.answer(in))
	surplus := h.answer.at < len(in) // nobody asked for it: the next call must not take it for its answer
	if surplus || h.answer.closes || !c.loop.client.config.Carriage.KeepAlive || c.sent < len(c.out) {
		c.hangUp()
	}
}

// hungUp takes an answer that ends where the connection does.
func (h *http1) hungUp(in []byte) error {
	if h.slot != nil && h.answer.end(in) {
		h.finish(in)
	}
	return nil
}

func (h *http1) forget(*slot) bool {
	h.slot = nil
	return false
}

func (h *http1) lost(err error) {
	if s := h.slot; s != nil {
		h.slot = nil
		h.conn.loop.end(s, err)
	}
}
