package port

import (
	"bytes"
	"math"
	"net"
	"slices"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/tare-bench/tare/protocol"
)

const (
	frameHeader  = 9       // bytes before each frame's payload; RFC 9113, 4.1
	longestFrame = 1 << 14 // until settings say otherwise, which the port's do not; 6.5.2
	pingLength   = 8       // 6.7
	priority     = 5       // bytes of it in HEADERS; 6.2
)

// opening is what a connection begins with.
type opening struct {
	read  []byte // what was read, less the pings that were answered
	http2 bool
	media string // the first request's content type, where http2
	agent string // and its user agent
}

// sniff reads a connection as far as it takes to know who is to answer it. A
// client of HTTP/2 may wait for settings before its first request, so that it
// gets some ahead of those of the server that takes over.
//
// Only a connection that fails, and one that takes too long, is an error: for
// what is wrong or longer than is allowed, net/http's server has an answer.
func sniff(c net.Conn, l protocol.Limits) (opening, error) {
	s := &sniffer{conn: c, limits: l, opened: time.Now(), buf: make([]byte, 0, 1024)}
	err := s.preface()
	for known := !s.http2; err == nil && !known; {
		known, err = s.frame()
	}
	if err != nil {
		if s.http2 {
			_ = s.send(goAway) // no request was begun: its client may make it anew
		}
		return opening{}, err
	}
	o := opening{read: s.buf, http2: s.http2}
	o.media, o.agent = s.fields()
	return o, c.SetDeadline(time.Time{})
}

type sniffer struct {
	conn   net.Conn
	limits protocol.Limits
	opened time.Time

	buf     []byte // all that was read
	at      int    // in buf: the frame to read next
	http2   bool   // by the preface
	settled bool   // the client's settings are there
	waiting bool   // no frame has begun
	begun   bool   // the first request's header has
	header  []byte // of it, compressed
	unheard error  // why nothing more can be sent
}

// preface reads until it is clear whether the client speaks HTTP/2, and sends
// settings if it does.
func (s *sniffer) preface() error {
	const preface = http2.ClientPreface
	if err := s.bound(); err != nil {
		return err
	}
	for len(s.buf) < len(preface) {
		if err := s.more(); err != nil {
			return err
		}
		if n := min(len(s.buf), len(preface)); string(s.buf[:n]) != preface[:n] {
			return nil
		}
	}
	s.http2, s.at = true, len(preface)
	return s.send(settings(s.limits))
}

// frame reads one frame, and says whether it was the last that is needed.
func (s *sniffer) frame() (known bool, err error) {
	if err := s.have(frameHeader); err != nil {
		return false, err
	}
	head, err := http2.ReadFrameHeader(bytes.NewReader(s.buf[s.at:]))
	if err != nil {
		return false, err
	}
	whole := frameHeader + int(head.Length)
	if head.Length > longestFrame || s.at+whole > s.limits.HeaderBytes+longestFrame ||
		s.begun != (head.Type == http2.FrameContinuation) || !s.settled && head.Type != http2.FrameSettings {
		return true, nil
	}
	if err := s.have(whole); err != nil {
		return false, err
	}
	frame := s.buf[s.at : s.at+whole]
	switch head.Type {
	case http2.FrameData, http2.FrameRSTStream, http2.FramePushPromise, http2.FrameGoAway:
		return true, nil
	case http2.FrameHeaders, http2.FrameContinuation:
		known = s.block(head, frame[frameHeader:])
	case http2.FrameSettings:
		s.settled = s.settled || !head.Flags.Has(http2.FlagSettingsAck)
	case http2.FramePing:
		if head.Length == pingLength && !head.Flags.Has(http2.FlagPingAck) {
			return false, s.ping(frame)
		}
	}
	s.at += whole
	return known, nil
}

// block keeps a part of the first request's header, and says whether it is the
// last.
func (s *sniffer) block(head http2.FrameHeader, payload []byte) bool {
	s.begun = true
	if head.Type == http2.FrameHeaders && head.Flags.Has(http2.FlagHeadersPadded) {
		if len(payload) == 0 || int(payload[0]) >= len(payload) {
			return true
		}
		payload = payload[1 : len(payload)-int(payload[0])]
	}
	if head.Type == http2.FrameHeaders && head.Flags.Has(http2.FlagHeadersPriority) {
		payload = payload[min(priority, len(payload)):]
	}
	s.header = append(s.header, payload...)
	return head.Flags.Has(http2.FlagHeadersEndHeaders) // of CONTINUATION, too
}

// ping answers a ping, and takes it out of what was read. A client may send
// pings long before its first request, and end the connection without an answer.
func (s *sniffer) ping(frame []byte) error {
	answer := bytes.Clone(frame)
	answer[4] = byte(http2.FlagPingAck) // the flags of a frame
	s.buf = slices.Delete(s.buf, s.at, s.at+len(frame))
	return s.send(answer)
}

// send writes to a client, which may read nothing of it.
func (s *sniffer) send(frame []byte) error {
	if s.unheard == nil {
		s.unheard = s.conn.SetWriteDeadline(time.Now().Add(s.limits.HeaderTimeout))
	}
	if s.unheard == nil {
		_, s.unheard = s.conn.Write(frame)
	}
	return s.unheard
}

// fields gives the content type and the user agent in the first request's
// header, "" where they are not there or cannot be read.
func (s *sniffer) fields() (media, agent string) {
	d := hpack.NewDecoder(4096, func(f hpack.HeaderField) { // RFC 9113, 6.5.2
		switch f.Name {
		case "content-type":
			media = f.Value
		case "user-agent":
			agent = f.Value
		}
	})
	d.SetMaxStringLength(s.limits.HeaderBytes)
	if _, err := d.Write(s.header); err != nil || d.Close() != nil {
		return "", ""
	}
	return media, agent
}

// have reads until n bytes from at on are there.
func (s *sniffer) have(n int) error {
	for len(s.buf) < s.at+n {
		if err := s.patience(); err != nil {
			return err
		}
		if err := s.more(); err != nil {
			return err
		}
	}
	return nil
}

// patience gives a frame that has begun, and a request, as long as any header,
// and a connection without either as long as one without calls.
func (s *sniffer) patience() error {
	waiting := s.settled && !s.begun && len(s.buf) == s.at
	if waiting == s.waiting {
		return nil
	}
	s.waiting = waiting
	if waiting {
		return s.conn.SetReadDeadline(s.opened.Add(s.limits.IdleTimeout))
	}
	return s.bound()
}

// bound limits the time of what has begun.
func (s *sniffer) bound() error {
	return s.conn.SetReadDeadline(time.Now().Add(s.limits.HeaderTimeout))
}

// more reads what has come.
func (s *sniffer) more() error {
	if len(s.buf) == cap(s.buf) {
		s.buf = append(s.buf, 0)[:len(s.buf)]
	}
	n, err := s.conn.Read(s.buf[len(s.buf):cap(s.buf)])
	s.buf = s.buf[:len(s.buf)+n]
	if n > 0 {
		return nil // an error comes again
	}
	return err
}

// settings are those of both servers that may take over, as far as they are the
// same.
func settings(l protocol.Limits) []byte {
	return encode(func(f *http2.Framer) error {
		return f.WriteSettings(
			http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: uint32(min(l.Streams, math.MaxInt32))},  //nolint:gosec // bounded
			http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: uint32(min(l.HeaderBytes, math.MaxInt32))}) //nolint:gosec // bounded
	})
}

// goAway says that no request was begun.
var goAway = encode(func(f *http2.Framer) error { return f.WriteGoAway(0, http2.ErrCodeNo, nil) })

func encode(write func(*http2.Framer) error) []byte {
	var b bytes.Buffer
	if err := write(http2.NewFramer(&b, nil)); err != nil {
		panic("write a frame to memory: " + err.Error())
	}
	return b.Bytes()
}
