package rest

import (
	"errors"
	"io"
	"sync"

	"github.com/tare-bench/tare/rpc"
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

func tooLong(limit int) *rpc.Error {
	return rpc.Errorf(rpc.ResourceExhausted, "message is longer than %d bytes", limit)
}

// fill reads r to its end. length is how long it says it is, or negative where
// it does not say; errTooLong means more than limit.
func (b *buffer) fill(r io.Reader, length int64, limit int) error {
	if length > int64(limit) {
		return errTooLong
	}
	b.b = b.b[:0]
	if length > int64(cap(b.b)) {
		b.b = make([]byte, 0, length)
	}
	for {
		if len(b.b) == cap(b.b) {
			b.b = append(b.b, 0)[:len(b.b)]
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

// body is a request's body out of a pooled buffer. net/http may read it for
// some time after the answer is there, and again if it repeats the request, so
// the buffer is freed when the call and all readers have let it go.
type body struct {
	*buffer
	mu      sync.Mutex
	holders int
}

func newBody() *body { return &body{buffer: newBuffer(), holders: 1} }

func (b *body) reader() io.ReadCloser {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.holders++
	return &bodyReader{body: b}
}

func (b *body) release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop()
}

func (b *body) drop() {
	b.holders--
	if b.holders == 0 {
		b.free()
		b.buffer = nil
	}
}

type bodyReader struct {
	body   *body
	at     int
	closed bool
}

// Read holds the lock as it copies: net/http closes a body that another of its
// goroutines may be reading.
func (r *bodyReader) Read(p []byte) (int, error) {
	r.body.mu.Lock()
	defer r.body.mu.Unlock()
	if r.closed || r.at == len(r.body.b) {
		return 0, io.EOF
	}
	n := copy(p, r.body.b[r.at:])
	r.at += n
	return n, nil
}

func (r *bodyReader) Close() error {
	r.body.mu.Lock()
	defer r.body.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.body.drop()
	}
	return nil
}
