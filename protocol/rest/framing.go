package rest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"

	"github.com/tare-bench/tare/codec"
)

// framing is how messages follow one another in a body.
type framing interface {
	media() string
	// message appends one message to dst.
	message(dst *buffer, b codec.Binding, plain any) error
	// failure appends what ends a stream that fails; body is of a failure.
	failure(dst *buffer, body []byte)
	// next reads one message, or a failure's body, with the help of buf. It
	// gives io.EOF after the last, errTooLong for more than limit bytes.
	next(r *bufio.Reader, buf *buffer, limit int) (payload []byte, failed bool, err error)
}

// framingsOf gives how requests and replies are framed.
func framingsOf(spec codec.Spec, c *coding) (in, out framing) {
	if c == nil && spec.Media == jsonMedia {
		return lines{}, lines{before: []byte(`{"result":`), after: []byte(`}`)}
	}
	f := frames{base: spec.Media, coding: c}
	return f, f
}

// lines is newline-delimited JSON. A reply stands in an object, under "result",
// so that a problem under "error" can end the stream, as grpc-gateway has it.
type lines struct{ before, after []byte }

const failureBefore, failureAfter = `{"error":`, `}`

func (lines) media() string { return "application/x-ndjson" }

func (l lines) message(dst *buffer, b codec.Binding, plain any) error {
	dst.b = append(dst.b, l.before...)
	out, err := b.Append(dst.b, b.Native(plain))
	if err != nil {
		return err
	}
	dst.b = append(append(out, l.after...), '\n')
	return nil
}

func (lines) failure(dst *buffer, body []byte) {
	dst.b = append(append(append(dst.b, failureBefore...), body...), failureAfter+"\n"...)
}

func (l lines) next(r *bufio.Reader, buf *buffer, limit int) ([]byte, bool, error) {
	line, err := readLine(r, buf, limit+len(l.before)+len(l.after))
	switch {
	case err != nil:
		return nil, false, err
	case len(l.before) == 0:
		return line, false, nil
	case !bytes.HasPrefix(line, l.before):
		if problem, ok := bytes.CutPrefix(line, []byte(failureBefore)); ok {
			line = bytes.TrimSuffix(problem, []byte(failureAfter))
		}
		return line, true, nil
	}
	return bytes.TrimSuffix(line[len(l.before):], l.after), false, nil
}

// readLine reads a line without its end; the last may lack one.
func readLine(r *bufio.Reader, buf *buffer, limit int) ([]byte, error) {
	buf.b = buf.b[:0]
	for {
		part, err := r.ReadSlice('\n')
		buf.b = append(buf.b, part...)
		line := bytes.TrimSuffix(buf.b, []byte("\n"))
		switch {
		case len(line) > limit:
			return nil, errTooLong
		case err == nil, err == io.EOF && len(line) > 0:
			return line, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

// frames puts a byte of flags and a big-endian length of four bytes before each
// message, as gRPC and Connect do.
type frames struct {
	base   string
	coding *coding
}

const (
	flagPacked  = 1 // the message is compressed
	flagFailure = 2 // a failure's body; the stream ends
	prefixLen   = 5
)

func (f frames) media() string { return f.base + "; encoding=delimited" }

func (f frames) message(dst *buffer, b codec.Binding, plain any) error {
	at := len(dst.b)
	dst.b = append(dst.b, make([]byte, prefixLen)...)
	if f.coding == nil {
		out, err := b.Append(dst.b, b.Native(plain))
		if err != nil {
			return err
		}
		dst.b = out
		f.prefix(dst.b[at:], 0)
		return nil
	}
	whole := newBuffer()
	defer whole.free()
	var err error
	if whole.b, err = b.Append(whole.b, b.Native(plain)); err != nil {
		return err
	}
	if err := f.coding.pack(dst, whole.b); err != nil {
		return err
	}
	f.prefix(dst.b[at:], flagPacked)
	return nil
}

func (f frames) failure(dst *buffer, body []byte) {
	at := len(dst.b)
	dst.b = append(append(dst.b, make([]byte, prefixLen)...), body...)
	f.prefix(dst.b[at:], flagFailure)
}

// prefix fills in what stands before a message.
func (frames) prefix(frame []byte, flags byte) {
	frame[0] = flags
	binary.BigEndian.PutUint32(frame[1:prefixLen], uint32(len(frame)-prefixLen)) //nolint:gosec // limited to far less
}

func (f frames) next(r *bufio.Reader, buf *buffer, limit int) ([]byte, bool, error) {
	var prefix [prefixLen]byte
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, false, err
	}
	flags, length := prefix[0], int(binary.BigEndian.Uint32(prefix[1:]))
	packed := flags&flagPacked != 0 && f.coding != nil
	most := limit
	if packed {
		most = packedLimit(limit)
	}
	if length > most {
		return nil, false, errTooLong
	}
	if !packed {
		err := buf.take(r, length)
		return buf.b, flags&flagFailure != 0, err
	}
	src := newBuffer()
	defer src.free()
	if err := src.take(r, length); err != nil {
		return nil, false, err
	}
	err := f.coding.unpack(buf, src.b, limit)
	return buf.b, false, err
}

// take reads just n bytes.
func (b *buffer) take(r io.Reader, n int) error {
	b.b = b.b[:0]
	for _, end := range [...]int{min(n, max(cap(b.b), onTrust)), n} {
		at := len(b.b)
		b.b = slices.Grow(b.b, end-at)[:end]
		if _, err := io.ReadFull(r, b.b[at:]); err != nil {
			return io.ErrUnexpectedEOF
		}
	}
	return nil
}
