// Package gzip is the content coding gzip by the standard library, at its
// default level: what grpc-go, connect-go and services on net/http have unless
// they choose otherwise. Faster libraries exist, and would be another entry.
package gzip

import (
	"compress/gzip"
	"io"

	"github.com/tare-bench/tare/compress"
)

// Compressor is compress/gzip.
type Compressor struct{}

// Spec says what the compressor is.
func (Compressor) Spec() compress.Spec {
	return compress.Spec{Name: "gzip", Module: "std", About: "compress/gzip at its default level"}
}

// NewWriter makes a writer.
func (Compressor) NewWriter() compress.Writer { return gzip.NewWriter(io.Discard) }

// NewReader makes a reader.
func (Compressor) NewReader() compress.Reader { return new(gzip.Reader) }
