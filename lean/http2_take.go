package lean

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"golang.org/x/net/http2/hpack"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

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
