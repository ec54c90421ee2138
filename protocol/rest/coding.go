package rest

import (
	"bytes"
	"strings"
	"sync"

	"github.com/tare-bench/tare/compress"
)

// coding is a content coding with its writers and readers pooled.
type coding struct {
	name    string
	writers sync.Pool
	readers sync.Pool
}

func newCoding(c compress.Compressor) *coding {
	return &coding{
		name:    c.Spec().Name,
		writers: sync.Pool{New: func() any { return c.NewWriter() }},
		readers: sync.Pool{New: func() any { return c.NewReader() }},
	}
}

// pack appends src, compressed, to dst.
func (c *coding) pack(dst *buffer, src []byte) error {
	w := c.writers.Get().(compress.Writer)
	defer c.writers.Put(w)
	w.Reset(dst)
	if _, err := w.Write(src); err != nil {
		return err
	}
	return w.Close()
}

// unpack fills dst with what src expands to; errTooLong means more than limit.
func (c *coding) unpack(dst *buffer, src []byte, limit int) error {
	r := c.readers.Get().(compress.Reader)
	defer c.readers.Put(r)
	if err := r.Reset(bytes.NewReader(src)); err != nil {
		return err
	}
	return dst.fill(r, -1, limit)
}

// packedLimit is how long a compressed message may be that may expand to limit:
// a coding makes what it cannot compress a little longer.
func packedLimit(limit int) int { return limit + limit/64 + 1024 }

// offered says whether an Accept-Encoding takes a coding. Weights are ignored:
// clients that know the coding and would rather not have it do not name it.
func offered(accept, name string) bool {
	for accept != "" {
		var one string
		one, accept, _ = strings.Cut(accept, ",")
		one, _, _ = strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(one), name) {
			return true
		}
	}
	return false
}
