package connect

import (
	"io"

	"connectrpc.com/connect"

	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/protocol"
)

// stock is the coding that connect offers unless it is told not to.
const stock = "gzip"

// handlerCompression makes a handler take and give the stack's coding alone.
func handlerCompression(o protocol.Options) []connect.HandlerOption {
	options := []connect.HandlerOption{connect.WithCompression(stock, nil, nil)}
	if o.Compressor != nil {
		options = append(options, connect.WithCompression(o.Compressor.Spec().Name,
			newDecompressor(o.Compressor), newCompressor(o.Compressor)))
	}
	return options
}

// clientCompression makes a client send and ask for the stack's coding alone.
func clientCompression(o protocol.Options) []connect.ClientOption {
	options := []connect.ClientOption{connect.WithAcceptCompression(stock, nil, nil)}
	if o.Compressor != nil {
		name := o.Compressor.Spec().Name
		options = append(options,
			connect.WithAcceptCompression(name, newDecompressor(o.Compressor), newCompressor(o.Compressor)),
			connect.WithSendCompression(name))
	}
	return options
}

func newCompressor(c compress.Compressor) func() connect.Compressor {
	return func() connect.Compressor { return c.NewWriter() }
}

func newDecompressor(c compress.Compressor) func() connect.Decompressor {
	return func() connect.Decompressor { return &decompressor{Reader: c.NewReader()} }
}

// decompressor is a reader that connect keeps in a pool: between two messages
// connect closes it and resets it to nothing, which is no stream of any coding.
type decompressor struct{ compress.Reader }

func (d *decompressor) Close() error { return nil }

func (d *decompressor) Reset(r io.Reader) error { return d.Reader.Reset(r) }
