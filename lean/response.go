package lean

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"unsafe"

	"golang.org/x/net/http/httpguts"

	"github.com/tare-bench/tare/protocol"
)

// response parses one HTTP/1.1 response as it comes. It works in the buffer
// that it is read into: it puts names of fields in lower case and chunks of a
// body together, and keeps no pointer to it, so that the buffer may move.
// Source: RFC 9112.
type response struct {
	limit int // longest body

	stage  stage
	head   bool // answers HEAD: has no body
	at     int  // buf[:at] is parsed
	seen   int  // buf[at:seen] holds no end of a line
	status int
	older  bool // HTTP/1.0, which has no chunks
	fields []field
	size   int // of all lines: what is not body

	framing  framing
	left     int // of the body or the chunk
	from, to int // buf[from:to] is the body so far
	closes   bool

	shown []protocol.Field // scratch
}

// field is where a field's name and value are.
type field struct{ name, nameEnd, value, valueEnd int }

type stage uint8

const (
	inStatus stage = iota
	inHeader
	inBody
	inChunkSize
	inChunk
	inChunkEnd
	inTrailer
	complete
)

type framing uint8

const (
	untilClose framing = iota
	byLength
	chunked
)

// maxHead is how much is taken besides the body, in bytes: header, interim
// responses, trailer.
const maxHead = 256 << 10

var errLongHead = errors.New("the response's header is too long")

// maxSize allows chunks of a single byte, and little more for their framing.
func (r *response) maxSize() int { return maxHead + 6*(r.to-r.from) }

func (r *response) reset(head bool) {
	*r = response{limit: r.limit, head: head, fields: r.fields[:0], shown: r.shown[:0]}
}

// parse goes on with buf, which begins with all of the response that was given
// before. It says whether the response is complete; buf[r.at:] is then not of
// it. Input that is no response is an error.
func (r *response) parse(buf []byte) (done bool, err error) {
	for r.stage != complete {
		switch r.stage {
		case inBody, inChunk:
			if r.takeBody(buf) {
				continue
			}
			if r.to-r.from > r.limit { // of a body that ends with the connection
				return false, r.tooLong()
			}
			return false, nil
		default:
			line, ok, err := r.line(buf)
			if err != nil || !ok {
				return false, err
			}
			if err := r.takeLine(buf, line); err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// line gives the next line without its end, as its place in buf.
func (r *response) line(buf []byte) (l span, ok bool, err error) {
	r.seen = max(r.seen, r.at)
	n := bytes.IndexByte(buf[r.seen:], '\n')
	if n < 0 {
		r.seen = len(buf)
		if r.size+len(buf)-r.at > r.maxSize() {
			return l, false, errLongHead
		}
		return l, false, nil
	}
	l = span{r.at, r.seen + n}
	r.at, r.seen = l.to+1, l.to+1
	if r.size += r.at - l.from; r.size > r.maxSize() {
		return l, false, errLongHead
	}
	if l.to > l.from && buf[l.to-1] == '\r' {
		l.to--
	}
	return l, true, nil
}

// span is a place in the buffer.
type span struct{ from, to int }

func (r *response) takeLine(buf []byte, l span) error {
	line := buf[l.from:l.to]
	switch r.stage {
	case inStatus:
		return r.takeStatus(line)
	case inHeader, inTrailer:
		if len(line) > 0 {
			return r.takeField(buf, l)
		}
		if r.stage == inTrailer {
			r.stage = complete
			return nil
		}
		return r.endHeader()
	case inChunkSize:
		return r.takeChunkSize(line)
	}
	if len(line) > 0 { // inChunkEnd
		return errors.New("a chunk is longer than it says")
	}
	r.stage = inChunkSize
	return nil
}

// takeStatus reads "HTTP/1.1 200 OK".
func (r *response) takeStatus(line []byte) error {
	const version = "HTTP/1."
	n := len(version)
	if len(line) < n+5 || string(line[:n]) != version || line[n]-'0' > 1 || line[n+1] != ' ' ||
		len(line) > n+5 && line[n+5] != ' ' {
		return fmt.Errorf("%.60q is not the status line of HTTP/1.1", line)
	}
	r.status = 0
	for _, digit := range line[n+2 : n+5] {
		if digit-'0' > 9 {
			return fmt.Errorf("%.60q is not the status line of HTTP/1.1", line)
		}
		r.status = r.status*10 + int(digit-'0')
	}
	if r.status < 100 || r.status == http.StatusSwitchingProtocols {
		return fmt.Errorf("status %d was not asked for", r.status)
	}
	r.older = line[n] == '0'
	r.closes = r.older
	r.stage = inHeader
	return nil
}

func (r *response) takeField(buf []byte, l span) error {
	line := buf[l.from:l.to]
	colon := bytes.IndexByte(line, ':')
	if colon < 1 || !lower(line[:colon]) {
		return fmt.Errorf("%.60q is not a header field", line)
	}
	f := field{l.from, l.from + colon, l.from + colon + 1, l.to}
	for f.value < f.valueEnd && blank(buf[f.value]) {
		f.value++
	}
	for f.value < f.valueEnd && blank(buf[f.valueEnd-1]) {
		f.valueEnd--
	}
	value := buf[f.value:f.valueEnd]
	for _, b := range value {
		if b < ' ' && b != '\t' || b == 0x7f {
			return fmt.Errorf("%.60q is not a header field", line)
		}
	}
	r.fields = append(r.fields, f)
	if r.stage == inTrailer {
		return nil
	}
	switch string(line[:colon]) {
	case "content-length":
		return r.takeLength(value)
	case "transfer-encoding":
		if !bytes.EqualFold(value, []byte("chunked")) || r.framing != untilClose || r.older {
			return fmt.Errorf("transfer coding %.60q, or two ways of framing", value)
		}
		r.framing = chunked
	case "connection":
		switch {
		case bytes.EqualFold(value, []byte("close")):
			r.closes = true
		case bytes.EqualFold(value, []byte("keep-alive")):
			r.closes = false
		default:
			r.closes = r.closes || httpguts.HeaderValuesContainsToken([]string{string(value)}, "close")
		}
	}
	return nil
}

func (r *response) takeLength(value []byte) error {
	n, ok := number(value, 10)
	if !ok || r.framing == chunked || r.framing == byLength && r.left != n {
		return fmt.Errorf("content-length %.60q, or two ways of framing", value)
	}
	r.framing, r.left = byLength, n
	return nil
}

// endHeader decides how the body ends: RFC 9112, section 6.3.
func (r *response) endHeader() error {
	r.from, r.to = r.at, r.at
	switch {
	case r.status < 200: // an interim response: the one asked for follows
		at, size := r.at, r.size
		r.reset(r.head)
		r.at, r.size = at, size
	case r.head || r.status == http.StatusNoContent || r.status == http.StatusNotModified:
		r.stage = complete
	case r.framing == chunked:
		r.stage = inChunkSize
	case r.framing == byLength && r.left > r.limit:
		return r.tooLong()
	default:
		r.stage = inBody
		r.closes = r.closes || r.framing == untilClose
	}
	return nil
}

func (r *response) tooLong() error {
	return fmt.Errorf("the answer is longer than %d bytes", r.limit)
}

func (r *response) takeChunkSize(line []byte) error {
	digits := line
	if n := bytes.IndexAny(line, "; \t"); n >= 0 {
		digits = line[:n]
	}
	n, ok := number(digits, 16)
	if !ok {
		return fmt.Errorf("%.60q is not the size of a chunk", line)
	}
	if n > r.limit-(r.to-r.from) {
		return r.tooLong()
	}
	r.left = n
	r.stage = inChunk
	if n == 0 {
		r.stage = inTrailer
	}
	return nil
}

// takeBody takes what is there of the body or chunk. Not ok says that there is
// more to come.
func (r *response) takeBody(buf []byte) (ok bool) {
	n := len(buf) - r.at
	if r.framing != untilClose {
		n = min(n, r.left)
	}
	if r.framing == chunked {
		copy(buf[r.to:], buf[r.at:r.at+n])
	}
	r.at += n
	r.to += n
	r.left -= n
	switch {
	case r.framing == untilClose || r.left > 0:
		return false
	case r.framing == chunked:
		r.stage = inChunkEnd
	default:
		r.stage = complete
	}
	return true
}

// end says whether a response that came as far as buf is complete if nothing
// follows.
func (r *response) end(buf []byte) bool {
	return r.stage == inBody && r.framing == untilClose && r.at == len(buf)
}

// answer shows what was parsed of buf. It is valid as long as buf is.
func (r *response) answer(buf []byte) protocol.Answer {
	r.shown = r.shown[:0]
	for _, f := range r.fields {
		r.shown = append(r.shown, protocol.Field{
			Name: text(buf[f.name:f.nameEnd]), Value: text(buf[f.value:f.valueEnd]),
		})
	}
	return protocol.Answer{Status: r.status, Fields: r.shown, Body: buf[r.from:r.to]}
}

// text is b as a string that lives, and changes, with it.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func blank(b byte) bool { return b == ' ' || b == '\t' }

// lower puts a field's name in lower case and says whether it is one.
func lower(name []byte) bool {
	for i, b := range name {
		l := token[b]
		if l == 0 {
			return false
		}
		name[i] = l
	}
	return true
}

// token gives the lower case of each character that a field's name may hold,
// 0 for any other: RFC 9110, section 5.6.2.
var token = func() (t [256]byte) {
	for _, b := range []byte("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz") {
		t[b] = b
		if 'a' <= b && b <= 'z' {
			t[b-'a'+'A'] = b
		}
	}
	return t
}()

// number reads digits of a base up to 16 and nothing else. It refuses what has
// more than eight of them after leading zeros: longer than any limit.
func number(digits []byte, base int) (n int, ok bool) {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	if len(digits) == 0 || len(digits) > 10 {
		return 0, false
	}
	for _, b := range digits {
		d := int(token[b]) // in lower case
		switch {
		case '0' <= d && d <= '9':
			d -= '0'
		case 'a' <= d && d <= 'f':
			d += 10 - 'a'
		default:
			return 0, false
		}
		if d >= base {
			return 0, false
		}
		n = n*base + d
	}
	return n, true
}
