package grpc

import (
	"bytes"
	"io"
	"sync"

	"github.com/tare-bench/tare/compress"
)

// compressor is a grpc.Compressor. grpc-go has put encoding.Compressor in its
// place, which can only be registered for the whole process: every other
// channel would then offer the coding, and a stack that does not compress
// must not. On the wire the two are the same.
type compressor struct {
	name    string
	writers sync.Pool // of compress.Writer
}

func newCompressor(c compress.Compressor) *compressor {
	return &compressor{
		name:    c.Spec().Name,
		writers: sync.Pool{New: func() any { return c.NewWriter() }},
	}
}

func (c *compressor) Type() string { return c.name }

func (c *compressor) Do(w io.Writer, p []byte) error {
	writer := c.writers.Get().(compress.Writer)
	defer c.writers.Put(writer)
	writer.Reset(w)
	if _, err := writer.Write(p); err != nil {
		return err
	}
	return writer.Close()
}

// decompressor is a grpc.Decompressor. It stops one byte past max, which is
// enough for grpc-go to refuse the message.
type decompressor struct {
	name    string
	max     int64
	readers sync.Pool // of compress.Reader
	buffers sync.Pool // of *bytes.Buffer
}

func newDecompressor(c compress.Compressor, max int) *decompressor {
	return &decompressor{
		name:    c.Spec().Name,
		max:     int64(max),
		readers: sync.Pool{New: func() any { return c.NewReader() }},
		buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }},
	}
}

func (d *decompressor) Type() string { return d.name }

func (d *decompressor) Do(r io.Reader) ([]byte, error) {
	reader := d.readers.Get().(compress.Reader)
	defer d.readers.Put(reader)
	if err := reader.Reset(r); err != nil {
		return nil, err
	}
	buffer := d.buffers.Get().(*bytes.Buffer)
	defer d.buffers.Put(buffer)
	buffer.Reset()
	if _, err := buffer.ReadFrom(io.LimitReader(reader, d.max+1)); err != nil {
		return nil, err
	}
	return bytes.Clone(buffer.Bytes()), nil
}
