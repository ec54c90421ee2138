// Package zstd is the content coding zstd by klauspost/compress, at its default
// level. Writers and readers work on their caller's goroutine, so that the CPU
// that a message costs is spent where its call is.
package zstd

import (
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/tare-bench/tare/compress"
)

// maxWindow is the longest window that the content coding allows, so that a
// message cannot make its reader allocate more. Source: RFC 9659, section 3.
const maxWindow = 8 << 20

// Compressor is klauspost/compress/zstd.
type Compressor struct{}

// Spec says what the compressor is.
func (Compressor) Spec() compress.Spec {
	return compress.Spec{
		Name: "zstd", Module: "github.com/klauspost/compress",
		About: "Zstandard at its default level, windows of at most 8 MiB",
	}
}

// NewWriter makes a writer.
func (Compressor) NewWriter() compress.Writer {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(maxWindow))
	if err != nil {
		panic(fmt.Sprintf("zstd: constant options: %v", err))
	}
	return w
}

// NewReader makes a reader. It decodes as it is read, whatever it reads from:
// by default Reset would decode a short bytes.Buffer at once, to any length.
func (Compressor) NewReader() compress.Reader {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecodeBuffersBelow(0))
	if err != nil {
		panic(fmt.Sprintf("zstd: constant options: %v", err))
	}
	return d
}
