package lean

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"

	"golang.org/x/net/http2/hpack"

	"github.com/tare-bench/tare/protocol"
)

const (
	// window is what a server may send on a connection or stream before it
	// hears from us: so much that it never waits.
	window = 1 << 30
	// outSoon is how much of bodies is queued before it is written, so that
	// large ones take turns and are not copied whole.
	outSoon = 256 << 10
	// outLimit is how much a server may have us answer that does not read.
	outLimit = 16 << 20
)

// http2 speaks HTTP/2 with prior knowledge: many calls at a time. Frames are
// read where they lie, and written when all that was read is used up.
type http2 struct {
	conn  *conn
	calls int // the connection's share of those in flight

	streams map[uint32]*slot
	nextID  uint32
	pending []*slot // with body left to send
	window  int64   // for bodies to the server
	eaten   int     // of what came, since the server last heard of it

	maxStreams uint32 // the server's settings
	maxFrame   int
	newWindow  int64
	settled    bool // they have come
	leaving    bool // the server takes no more calls here

	encoded bytes.Buffer
	encoder *hpack.Encoder
	// blocks are headers as they are sent once the server's table holds all of
	// their fields. They are good as long as the table does not change.
	blocks map[*head][]byte

	decoder *hpack.Decoder
	decoded int    // bytes of the header that is being decoded
	into    *slot  // whose it is, if anybody's
	block   []byte // a header's fragments, until its last
	open    frame  // the frame that began it
}

// stream is a slot's call as HTTP/2 sees it.
type stream struct {
	id     uint32
	window int64
	unsent []byte
	status int
	fields []protocol.Field
	body   []byte
	broken error // what is wrong with its header
}

func newHTTP2(c *conn, calls int) *http2 { return &http2{conn: c, calls: calls} }

func (h *http2) reset() (usable bool) {
	*h = http2{
		conn: h.conn, calls: h.calls, nextID: 1,
		streams: make(map[uint32]*slot, h.calls), blocks: make(map[*head][]byte),
		window: firstWindow, newWindow: firstWindow,
		maxStreams: math.MaxUint32, maxFrame: maxFrameRead,
	}
	h.encoder = hpack.NewEncoder(&h.encoded)
	h.decoder = hpack.NewDecoder(4096, h.field)
	h.decoder.SetMaxStringLength(maxHead)
	out := append(h.conn.out, preface...)
	out = appendFrame(out, frameSettings, 0, 0, 12)
	out = binary.BigEndian.AppendUint16(out, settingPush)
	out = binary.BigEndian.AppendUint32(out, 0)
	out = binary.BigEndian.AppendUint16(out, settingWindow)
	out = binary.BigEndian.AppendUint32(out, window)
	h.conn.out = appendWindow(out, 0, window-firstWindow)
	return false
}

func (h *http2) room() bool {
	return !h.leaving && len(h.streams) < h.calls && uint32(len(h.streams)) < h.maxStreams
}

func (h *http2) begin(s *slot) {
	st := &s.stream
	*st = stream{
		id: h.nextID, window: h.newWindow, unsent: s.call.body,
		fields: st.fields[:0], body: st.body[:0],
	}
	h.streams[st.id] = s
	h.nextID += 2
	h.leaving = h.leaving || h.nextID > maxStreamID
	h.header(s)
	if len(st.unsent) > 0 && !h.send(s) {
		h.pending = append(h.pending, s)
	}
}

// header queues the header of s's call.
func (h *http2) header(s *slot) {
	block := h.encode(s.call.head)
	kind, flags := byte(frameHeaders), byte(0)
	if len(s.call.body) == 0 {
		flags = flagEndStream
	}
	for {
		n := min(len(block), h.maxFrame)
		if n == len(block) {
			flags |= flagEndHeaders
		}
		h.conn.out = appendFrame(h.conn.out, kind, flags, s.stream.id, n)
		h.conn.out = append(h.conn.out, block[:n]...)
		if block = block[n:]; len(block) == 0 {
			return
		}
		kind, flags = frameContinuation, 0
	}
}

// encode gives the header block of a call. The first to send a field puts it in
// the server's table, as Go's own clients do, so that the server has as little
// to read afterwards.
func (h *http2) encode(head *head) []byte {
	if block, ok := h.blocks[head]; ok {
		return block
	}
	h.encoded.Reset()
	for _, f := range head.fields {
		_ = h.encoder.WriteField(f) // a buffer takes all
	}
	block := h.encoded.Bytes()
	for _, b := range block {
		if b < 0x80 || b == 0xff { // not just a number of the table, in one byte
			clear(h.blocks)
			return block
		}
	}
	h.blocks[head] = bytes.Clone(block)
	return block
}

// send queues as much of s's body as may be sent, and says whether that is all.
func (h *http2) send(s *slot) (all bool) {
	st, c := &s.stream, h.conn
	for len(st.unsent) > 0 && len(c.out)-c.sent < outSoon {
		n := int(min(int64(len(st.unsent)), int64(h.maxFrame), h.window, st.window))
		if n <= 0 {
			return false
		}
		flags := byte(0)
		if n == len(st.unsent) {
			flags = flagEndStream
		}
		c.out = appendFrame(c.out, frameData, flags, st.id, n)
		c.out = append(c.out, st.unsent[:n]...)
		st.unsent = st.unsent[n:]
		st.window -= int64(n)
		h.window -= int64(n)
	}
	return len(st.unsent) == 0
}

func (h *http2) drained() {
	for n := len(h.pending); n > 0; n-- { // each once, in turn
		s := h.pending[0]
		h.pending = append(h.pending[:0], h.pending[1:]...)
		if !h.send(s) {
			h.pending = append(h.pending, s)
		}
	}
}

func (h *http2) forget(s *slot) (ok bool) {
	h.conn.out = appendReset(h.conn.out, s.stream.id, cancelled)
	h.remove(s)
	return !h.over()
}

// over says that the connection has had its last call.
func (h *http2) over() bool {
	return len(h.streams) == 0 && (h.leaving || !h.conn.loop.client.config.Carriage.KeepAlive)
}

// remove takes s off the connection.
func (h *http2) remove(s *slot) {
	delete(h.streams, s.stream.id)
	for i, p := range h.pending {
		if p == s {
			h.pending = append(h.pending[:i], h.pending[i+1:]...)
			break
		}
	}
}

func (h *http2) hungUp([]byte) error { return nil }

func (h *http2) lost(err error) {
	for _, s := range h.streams {
		h.remove(s)
		h.conn.loop.end(s, err)
	}
}

func (h *http2) feed(in []byte) (used int, err error) {
	for {
		f, size, ok, err := parseFrame(in[used:])
		if err != nil {
			return used, err
		}
		if !ok {
			break
		}
		if err := h.take(f); err != nil {
			return used, err
		}
		if used += size; h.settled && h.over() {
			h.conn.hangUp()
			return used, nil
		}
	}
	if len(h.conn.out)-h.conn.sent > outLimit {
		return used, errors.New("the server does not read what it asked for")
	}
	if len(h.pending) > 0 {
		h.conn.touch()
	}
	return used, nil
}
