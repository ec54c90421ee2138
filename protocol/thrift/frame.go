package thrift

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"time"
)

// stall is how long the rest of a frame may bring nothing, as any server that
// faces others must bound it.
const stall = 30 * time.Second

// chunk is how much of a frame is read at a time, so that a length that lies
// costs no more memory than what came.
const chunk = 256 << 10

// frames reads frames from a connection.
type frames struct {
	conn net.Conn
	in   *bufio.Reader
	room [lengthBytes]byte
	// patient says that no deadline is the reader's own to set: the caller has
	// one for all of the call.
	patient bool
	hurried bool // there is a deadline that stall set
}

// length waits for a frame, and gives its length.
func (f *frames) length() (int, error) {
	if _, err := io.ReadFull(f.in, f.room[:1]); err != nil {
		return 0, err
	}
	return f.restOfLength()
}

func (f *frames) restOfLength() (int, error) {
	if f.in.Buffered() < lengthBytes-1 {
		if err := f.hurry(); err != nil {
			return 0, err
		}
	}
	if _, err := io.ReadFull(f.in, f.room[1:]); err != nil {
		return 0, whole(err)
	}
	n := int32(binary.BigEndian.Uint32(f.room[:])) //nolint:gosec // negative is no length
	if n < 0 {
		return 0, fmt.Errorf("a frame of %d bytes: the peer does not send frames", n)
	}
	return int(n), nil
}

// head gives the first bytes of a frame of length n, unread.
func (f *frames) head(n int) ([]byte, error) {
	n = min(n, f.in.Size())
	if f.in.Buffered() < n {
		if err := f.hurry(); err != nil {
			return nil, err
		}
	}
	b, err := f.in.Peek(n)
	return b, whole(err)
}

// read appends n bytes to dst.
func (f *frames) read(dst []byte, n int) ([]byte, error) {
	for n > 0 {
		part := min(n, chunk)
		if f.in.Buffered() < part {
			if err := f.hurry(); err != nil {
				return dst, err
			}
		}
		at := len(dst)
		dst = slices.Grow(dst, part)[:at+part]
		if _, err := io.ReadFull(f.in, dst[at:]); err != nil {
			return dst[:at], whole(err)
		}
		n -= part
	}
	return dst, nil
}

// discard throws n bytes away.
func (f *frames) discard(n int) error {
	for n > 0 {
		if err := f.hurry(); err != nil {
			return err
		}
		part, err := f.in.Discard(min(n, chunk))
		if err != nil {
			return whole(err)
		}
		n -= part
	}
	return nil
}

// hurry bounds the wait for what comes next.
func (f *frames) hurry() error {
	if f.patient {
		return nil
	}
	f.hurried = true
	return f.conn.SetReadDeadline(time.Now().Add(stall))
}

// relax takes hurry back.
func (f *frames) relax() error {
	if !f.hurried {
		return nil
	}
	f.hurried = false
	return f.conn.SetReadDeadline(time.Time{})
}

// whole says of an end within a frame that it is none.
func whole(err error) error {
	if err == io.EOF { //nolint:errorlint // as io has it
		return io.ErrUnexpectedEOF
	}
	return err
}

// buffer is a frame's room, used again.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func newBuffer() *buffer { return buffers.Get().(*buffer) }

func (b *buffer) free() {
	b.b = b.b[:0]
	buffers.Put(b)
}
