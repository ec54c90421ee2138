package lean

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"golang.org/x/net/http2/hpack"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Numbers of RFC 9113.
const (
	preface      = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	frameHeader  = 9
	maxFrameRead = 16384 // we ask for no more
	firstWindow  = 65535
	maxStreamID  = math.MaxInt32

	flagAck        = 0x1
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20

	cancelled = 0x8 // an error code
)

// Kinds of frame, and settings.
const (
	frameData = iota
	frameHeaders
	framePriority
	frameReset
	frameSettings
	framePushPromise
	framePing
	frameGoAway
	frameWindow
	frameContinuation
)

const (
	settingTableSize  = 1
	settingPush       = 2
	settingMaxStreams = 3
	settingWindow     = 4
	settingMaxFrame   = 5
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

// frame is one frame; its payload is good until the next is read.
type frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
}

func (f frame) has(flag byte) bool { return f.flags&flag != 0 }

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
		used += size
	}
	if len(h.conn.out)-h.conn.sent > outLimit {
		return used, errors.New("the server does not read what it asked for")
	}
	if len(h.pending) > 0 {
		h.conn.touch()
	}
	if h.settled && h.over() {
		h.conn.hangUp()
	}
	return used, nil
}

// parseFrame reads one frame; not ok says that it is not all there.
func parseFrame(in []byte) (f frame, size int, ok bool, err error) {
	if len(in) < frameHeader {
		return f, 0, false, nil
	}
	n := int(in[0])<<16 | int(in[1])<<8 | int(in[2])
	if n > maxFrameRead {
		return f, 0, false, fmt.Errorf("a frame of %d bytes: not HTTP/2, or longer than allowed", n)
	}
	size = frameHeader + n
	if len(in) < size {
		return f, 0, false, nil
	}
	return frame{
		kind: in[3], flags: in[4], stream: binary.BigEndian.Uint32(in[5:]) & maxStreamID,
		payload: in[frameHeader:size:size],
	}, size, true, nil
}

// takers take each kind of frame. A nil one is let pass: RFC 9113, section 5.5.
var takers = [...]func(*http2, frame) error{
	frameData:         (*http2).takeData,
	frameHeaders:      (*http2).takeHeaders,
	frameReset:        (*http2).takeReset,
	frameSettings:     (*http2).takeSettings,
	framePushPromise:  func(*http2, frame) error { return errors.New("a push, which was declined") },
	framePing:         (*http2).takePing,
	frameGoAway:       (*http2).takeGoAway,
	frameWindow:       (*http2).takeWindow,
	frameContinuation: (*http2).takeContinuation,
}

func (h *http2) take(f frame) error {
	if h.open.stream != 0 && (f.kind != frameContinuation || f.stream != h.open.stream) {
		return errors.New("a frame amid a header")
	}
	if !h.settled && f.kind != frameSettings {
		return errors.New("the server does not begin with its settings")
	}
	if int(f.kind) >= len(takers) || takers[f.kind] == nil {
		return nil
	}
	return takers[f.kind](h, f)
}

// called finds the call of a frame; nil for one that is over.
func (h *http2) called(f frame) (*slot, error) {
	if f.stream%2 == 0 || f.stream >= h.nextID {
		return nil, fmt.Errorf("a frame of kind %d on stream %d, where no call is", f.kind, f.stream)
	}
	return h.streams[f.stream], nil
}

// unpad takes off padding.
func (f frame) unpad() ([]byte, error) {
	p := f.payload
	if !f.has(flagPadded) {
		return p, nil
	}
	if len(p) == 0 || int(p[0]) >= len(p) {
		return nil, errors.New("more padding than frame")
	}
	return p[1 : len(p)-int(p[0])], nil
}

func (h *http2) takeData(f frame) error {
	s, err := h.called(f)
	if err != nil {
		return err
	}
	// Streams need no such word: a body is shorter than their window.
	if h.eaten += len(f.payload); h.eaten > window/2 {
		h.conn.out = appendWindow(h.conn.out, 0, h.eaten)
		h.eaten = 0
	}
	piece, err := f.unpad()
	if err != nil || s == nil {
		return err
	}
	st := &s.stream
	if st.status == 0 {
		return h.refuse(s, errors.New("a body before its header"))
	}
	if limit := h.conn.loop.client.config.MaxMessage; len(piece) > limit-len(st.body) {
		return h.refuse(s, fmt.Errorf("the answer is longer than %d bytes", limit))
	}
	st.body = append(st.body, piece...)
	if f.has(flagEndStream) {
		h.finish(s)
	}
	return nil
}

// refuse ends a call whose answer is not one, and tells the server.
func (h *http2) refuse(s *slot, err error) error {
	h.forget(s)
	h.conn.loop.end(s, &rpc.Error{Code: rpc.Unavailable, Message: err.Error(), Transport: rpc.Protocol})
	return nil
}

// finish ends a call that was answered.
func (h *http2) finish(s *slot) {
	st := &s.stream
	if len(st.unsent) > 0 { // the server did not wait for all of the body
		h.conn.out = appendReset(h.conn.out, st.id, cancelled)
	}
	h.remove(s)
	h.conn.loop.answered(s, protocol.Answer{Status: st.status, Fields: st.fields, Body: st.body})
}

func (h *http2) takeHeaders(f frame) error {
	if _, err := h.called(f); err != nil {
		return err
	}
	p, err := f.unpad()
	if err != nil {
		return err
	}
	if f.has(flagPriority) {
		if len(p) < 5 {
			return errors.New("a priority cut short")
		}
		p = p[5:]
	}
	if f.has(flagEndHeaders) {
		return h.decode(f, p)
	}
	h.open, h.block = f, append(h.block[:0], p...)
	return nil
}

func (h *http2) takeContinuation(f frame) error {
	if h.open.stream == 0 {
		return errors.New("a header goes on that never began")
	}
	if h.block = append(h.block, f.payload...); len(h.block) > maxHead {
		return errLongHead
	}
	if !f.has(flagEndHeaders) {
		return nil
	}
	begun := h.open
	h.open = frame{}
	return h.decode(begun, h.block)
}

// decode reads a whole header or trailer. That of a call which is over is read
// too, for what it does to the table.
func (h *http2) decode(f frame, block []byte) error {
	s, err := h.called(f)
	if err != nil {
		return err
	}
	trailer := s != nil && s.stream.status != 0
	h.into, h.decoded = s, 0
	_, err = h.decoder.Write(block)
	err = errors.Join(err, h.decoder.Close())
	h.into = nil
	if err != nil {
		return fmt.Errorf("read header: %w", err)
	}
	if h.decoded > maxHead {
		return errLongHead
	}
	h.decoder.SetEmitEnabled(true)
	if s == nil {
		return nil
	}
	st := &s.stream
	switch {
	case st.broken != nil:
		return h.refuse(s, st.broken)
	case trailer && !f.has(flagEndStream):
		return h.refuse(s, errors.New("a second header that is no trailer"))
	case st.status == 0:
		return h.refuse(s, errors.New("a header without a status"))
	case f.has(flagEndStream):
		h.finish(s)
	case st.status < 200: // an interim answer: the one asked for follows
		st.status, st.fields = 0, st.fields[:0]
	}
	return nil
}

// field takes one field of the header that is being decoded.
func (h *http2) field(f hpack.HeaderField) {
	if h.decoded += int(f.Size()); h.decoded > maxHead { // a few bytes may name large fields
		h.decoder.SetEmitEnabled(false)
		return
	}
	if h.into == nil {
		return
	}
	st := &h.into.stream
	if !f.IsPseudo() {
		st.fields = append(st.fields, protocol.Field{Name: f.Name, Value: f.Value})
		return
	}
	n, err := strconv.Atoi(f.Value)
	if f.Name != ":status" || err != nil || n < 100 || n > 999 || st.status != 0 {
		st.broken = fmt.Errorf("%.60s: %.60q in an answer's header", f.Name, f.Value)
		return
	}
	st.status = n
}

func (h *http2) takeReset(f frame) error {
	s, err := h.called(f)
	if err != nil {
		return err
	}
	if len(f.payload) != 4 {
		return errors.New("a reset cut short")
	}
	if s != nil {
		h.remove(s)
		h.conn.loop.end(s, reset("the server reset the stream with code %d", binary.BigEndian.Uint32(f.payload)))
	}
	return nil
}

// reset is the error of a call that the server will not answer.
func reset(format string, code uint32) error {
	return &rpc.Error{Code: rpc.Unavailable, Transport: rpc.Reset, Message: fmt.Sprintf(format, code)}
}

func (h *http2) takeSettings(f frame) error {
	if f.stream != 0 || len(f.payload)%6 != 0 || f.has(flagAck) && len(f.payload) > 0 {
		return errors.New("settings that are none")
	}
	if f.has(flagAck) {
		return nil
	}
	for p := f.payload; len(p) > 0; p = p[6:] {
		if err := h.set(binary.BigEndian.Uint16(p), binary.BigEndian.Uint32(p[2:])); err != nil {
			return err
		}
	}
	h.conn.out = appendFrame(h.conn.out, frameSettings, flagAck, 0, 0)
	if !h.settled {
		h.settled = true
		h.conn.use()
	}
	return nil
}

// set takes one of the server's settings; those it does not know do not matter.
func (h *http2) set(setting uint16, v uint32) error {
	switch setting {
	case settingTableSize:
		h.encoder.SetMaxDynamicTableSizeLimit(v)
		h.encoder.SetMaxDynamicTableSize(min(v, 4096))
		clear(h.blocks)
	case settingMaxStreams:
		h.maxStreams = v
	case settingMaxFrame:
		if v < 16384 || v > 1<<24-1 {
			return fmt.Errorf("frames of at most %d bytes", v)
		}
		h.maxFrame = int(v)
	case settingWindow:
		if v > math.MaxInt32 {
			return fmt.Errorf("a window of %d bytes", v)
		}
		for _, s := range h.streams {
			s.stream.window += int64(v) - h.newWindow
		}
		h.newWindow = int64(v)
	}
	return nil
}

func (h *http2) takePing(f frame) error {
	if f.stream != 0 || len(f.payload) != 8 {
		return errors.New("a ping that is none")
	}
	if !f.has(flagAck) {
		h.conn.out = appendFrame(h.conn.out, framePing, flagAck, 0, len(f.payload))
		h.conn.out = append(h.conn.out, f.payload...)
	}
	return nil
}

// takeGoAway ends the calls that the server will not answer. It answers the
// others, and the connection is closed after the last of them.
func (h *http2) takeGoAway(f frame) error {
	if f.stream != 0 || len(f.payload) < 8 {
		return errors.New("a farewell that is none")
	}
	h.leaving = true
	last := binary.BigEndian.Uint32(f.payload) & maxStreamID
	code := binary.BigEndian.Uint32(f.payload[4:])
	for id, s := range h.streams {
		if id > last {
			h.remove(s)
			h.conn.loop.end(s, reset("the server went away with code %d", code))
		}
	}
	return nil
}

func (h *http2) takeWindow(f frame) error {
	if len(f.payload) != 4 {
		return errors.New("a window cut short")
	}
	n := int64(binary.BigEndian.Uint32(f.payload) & math.MaxInt32)
	if f.stream == 0 {
		if h.window += n; n == 0 || h.window > math.MaxInt32 {
			return fmt.Errorf("a window grows by %d to %d bytes", n, h.window)
		}
		return nil
	}
	s, err := h.called(f)
	if err != nil || s == nil {
		return err
	}
	if s.stream.window += n; n == 0 || s.stream.window > math.MaxInt32 {
		return h.refuse(s, fmt.Errorf("a window grows by %d to %d bytes", n, s.stream.window))
	}
	return nil
}

func appendFrame(out []byte, kind, flags byte, stream uint32, size int) []byte {
	out = append(out, byte(size>>16), byte(size>>8), byte(size), kind, flags)
	return binary.BigEndian.AppendUint32(out, stream)
}

func appendWindow(out []byte, stream uint32, n int) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(out, frameWindow, 0, stream, 4), uint32(n))
}

func appendReset(out []byte, stream, code uint32) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(out, frameReset, 0, stream, 4), code)
}
