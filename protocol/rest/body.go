package rest

import (
	"errors"
	"io"
	"slices"
	"sync"
)

// buffer is pooled: messages of one service are much of a size, and a fresh
// buffer for each is what a large message costs most by.
type buffer struct{ b []byte }

var buffers = sync.Pool{New: func() any { return &buffer{b: make([]byte, 0, 4096)} }}

func newBuffer() *buffer { return buffers.Get().(*buffer) }

func (b *buffer) free() {
	b.b = b.b[:0]
	buffers.Put(b)
}

// Write appends, for compressors.
func (b *buffer) Write(p []byte) (int, error) {
	b.b = append(b.b, p...)
	return len(p), nil
}

var errTooLong = errors.New("message is too long")

// onTrust is how much room a message gets for no more than saying that it is
// long. What is longer gets the rest once so much is there.
const onTrust = 1 << 20

// fill reads r to its end. length is how long it says it is, or negative where
// it does not say; errTooLong means more than limit.
func (b *buffer) fill(r io.Reader, length int64, limit int) error {
	if length > int64(limit) {
		return errTooLong
	}
	b.b = b.b[:0]
	if length > int64(cap(b.b)) {
		b.b = make([]byte, 0, min(length, onTrust))
	}
	for {
		if len(b.b) == cap(b.b) {
			b.b = slices.Grow(b.b, max(1, int(length)-len(b.b)))
		}
		n, err := r.Read(b.b[len(b.b):cap(b.b)])
		b.b = b.b[:len(b.b)+n]
		switch {
		case len(b.b) > limit:
			return errTooLong
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case int64(len(b.b)) == length:
			// All is there; the end still wants to be read, without a longer
			// buffer for it, so that the connection can be used again.
			return drained(r)
		}
	}
}

func drained(r io.Reader) error {
	var none [1]byte
	switch n, err := r.Read(none[:]); {
	case n > 0:
		return errTooLong
	case err == io.EOF:
		return nil
	default:
		return err
	}
}
