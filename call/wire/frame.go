package wire

import (
	"encoding/binary"
	"fmt"
)

// Flags of a frame.
// Source: github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md and PROTOCOL-WEB.md;
// connectrpc.com/docs/protocol, "Streaming RPCs".
const (
	flagCompressed = 1 << 0
	flagEnd        = 1 << 1 // Connect: JSON that ends a stream
	flagTrailer    = 1 << 7 // gRPC-Web: fields that end a stream
	prefixBytes    = 5      // flags and length
)

// frame is a message, or what ends a stream, as gRPC, gRPC-Web and streams of
// Connect send it.
type frame struct {
	at, start int // bytes of the input: of the frame, and of its content
	flags     byte
	content   []byte
}

// frames takes b apart. With an error it gives the frames before it, and of one
// that is cut off what there is.
func frames(b []byte) (all []frame, err *Error) {
	for at := 0; at < len(b); {
		rest := b[at:]
		if len(rest) < prefixBytes {
			return all, &Error{at, fmt.Sprintf("a frame begins with %d bytes, and %d are left", prefixBytes, len(rest))}
		}
		f := frame{at: at, start: at + prefixBytes, flags: rest[0]}
		if f.flags&^(flagCompressed|flagEnd|flagTrailer) != 0 {
			return all, &Error{at, fmt.Sprintf("no frame has the flags %#02x; the input may not be of frames", f.flags)}
		}
		length := uint64(binary.BigEndian.Uint32(rest[1:]))
		content := rest[prefixBytes:]
		f.content = content[:min(length, uint64(len(content)))]
		all = append(all, f)
		if length > uint64(len(content)) {
			return all, &Error{at, fmt.Sprintf("a frame says that it has %d bytes, and %d are left", length, len(content))}
		}
		at += prefixBytes + len(f.content)
	}
	return all, nil
}
