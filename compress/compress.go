// Package compress says what a compressor is. Each implementation is a folder
// below this one, named as HTTP's Content-Encoding and gRPC's grpc-encoding
// name it, and listed in catalog.
package compress

import "io"

// Spec is what a compressor says of itself.
type Spec struct {
	Name   string // content coding: "gzip"
	Module string // Go module of the library under test, or "std"
	About  string // one line for a person
}

// Compressor makes writers and readers of one content coding. It is safe for
// concurrent use; what it makes is not. Protocols pool what it makes, as each
// library's users have it.
type Compressor interface {
	Spec() Spec
	NewWriter() Writer
	NewReader() Reader
}

// Writer compresses what is written to it into w of the last Reset; Close
// ends the stream and leaves w open. It must be Reset before its first use.
type Writer interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// Reader decompresses r of the last Reset, no further than it is read, so that
// its user bounds what a message expands to. It must be Reset before its first
// use; Reset, or the first Read, fails where r does not begin as the coding does.
type Reader interface {
	io.Reader
	Reset(r io.Reader) error
}
