package msgpack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// The library reads what it is told to, and no more carefully than that: values
// nested deep enough in a field that it does not know end the process, and a
// number beyond int64 comes out as another. So the form of a message is held to
// account before, as the library for CBOR does by itself.

// maxDepth is how deep values may nest, as in encoding/json.
const maxDepth = 10_000

var (
	errNotMap = errors.New("message is not a map of MessagePack")
	errShort  = errors.New("message is cut short")
	errDeep   = fmt.Errorf("values nest deeper than %d", maxDepth)
	errLarge  = errors.New("a number is beyond 64 bits with a sign")
)

// check says what is wrong with the form of a message.
func check(src []byte) error {
	if len(src) == 0 || src[0]&0xf0 != 0x80 && src[0] != 0xde && src[0] != 0xdf { // fixmap, map 16, map 32
		return errNotMap // of all else, the library would take nil and lists
	}
	end, err := skip(src, 0, 0)
	if err == nil && end < len(src) {
		return fmt.Errorf("message ends after %d of %d bytes", end, len(src))
	}
	return err
}

// skip gives where the value ends that begins at a place.
func skip(src []byte, at, depth int) (end int, err error) {
	if at >= len(src) {
		return 0, errShort
	}
	first := src[at]
	f := &forms[first]
	at++
	if len(src)-at < int(f.length) {
		return 0, errShort
	}
	length := f.fixed
	switch f.length {
	case 1:
		length += uint64(src[at])
	case 2:
		length += uint64(binary.BigEndian.Uint16(src[at:]))
	case 4:
		length += uint64(binary.BigEndian.Uint32(src[at:]))
	}
	at += int(f.length)
	if f.pairs {
		length *= 2
	}
	switch {
	case f.wrong:
		return 0, fmt.Errorf("byte %#x begins no value", first)
	case length > uint64(len(src)-at): //nolint:gosec // a value takes a byte at least
		return 0, errShort
	case !f.holds:
		if first == uint64Form && binary.BigEndian.Uint64(src[at:]) > math.MaxInt64 {
			return 0, errLarge
		}
		return at + int(length), nil //nolint:gosec // no more than src has
	case depth == maxDepth:
		return 0, errDeep
	}
	for range length {
		if at, err = skip(src, at, depth+1); err != nil {
			return 0, err
		}
	}
	return at, nil
}

// form is what follows a value's first byte: so many bytes that tell a length,
// and then so many bytes or values. Source: github.com/msgpack/msgpack, spec.md.
type form struct {
	fixed  uint64 // added to the length that is told
	length uint8
	holds  bool // values, and not bytes
	pairs  bool // two values for each of the length that is told
	wrong  bool
}

const uint64Form = 0xcf

var forms = allForms()

func allForms() (all [256]form) {
	for n := range uint64(16) {
		all[0x80+n] = form{fixed: n, holds: true, pairs: true} // fixmap
		all[0x90+n] = form{fixed: n, holds: true}              // fixarray
	}
	for n := range uint64(32) {
		all[0xa0+n] = form{fixed: n} // fixstr
	}
	all[0xc1] = form{wrong: true}
	for i, length := range []uint8{1, 2, 4} {
		all[0xc4+i] = form{length: length}           // bin
		all[0xc7+i] = form{length: length, fixed: 1} // ext, whose type stands before it
		all[0xd9+i] = form{length: length}           // str
	}
	all[0xca], all[0xcb] = form{fixed: 4}, form{fixed: 8} // float
	for i, size := range []uint64{1, 2, 4, 8} {
		all[0xcc+i], all[0xd0+i] = form{fixed: size}, form{fixed: size} // uint, int
	}
	for i, size := range []uint64{1, 2, 4, 8, 16} {
		all[0xd4+i] = form{fixed: 1 + size} // fixext
	}
	for i, length := range []uint8{2, 4} {
		all[0xdc+i] = form{length: length, holds: true}              // array
		all[0xde+i] = form{length: length, holds: true, pairs: true} // map
	}
	return all
}
