// Package wire reads Protocol Buffers' binary form as far as the bytes tell,
// for a person to look at: without a schema as a tree of numbered fields, with
// one as JSON and whatever the schema does not know. It takes gRPC's frames
// apart too. What is cut off or garbage is read up to the byte that is wrong.
//
// It knows no service and opens no connection.
package wire

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// Limits on what is looked into, so that no input takes long or much memory.
const (
	maxDepth  = 100     // as protobuf's own parsers have it in C++ and Java
	maxFields = 1 << 18 // more lines than anybody reads
)

// Error says where input stops making sense.
type Error struct {
	At  int // byte, from 0
	Why string
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.At, e.Why) }

// Field is one field of a message, as the bytes tell it.
type Field struct {
	Number protowire.Number
	Type   protowire.Type
	Value  uint64  // of a varint and of the fixed types
	Bytes  []byte  // of the type with a length
	Fields []Field // of a group, and of Bytes where they may be a message
	Nested bool    // Bytes are a message, as far as they tell
	Cut    bool    // Bytes should be more
}

// Parse reads a message. With an error, which is an *Error, it gives the fields
// before it.
func Parse(b []byte) ([]Field, error) {
	p := parser{all: b, budget: maxFields}
	fields, err := p.message(0, len(b), 0)
	if err != nil {
		return fields, err
	}
	return fields, nil
}

// parser reads all; positions are its indices, so that errors are true of the
// whole input at every depth.
type parser struct {
	all    []byte
	budget int // fields that may still be read
}

func (p *parser) message(at, end, depth int) (fields []Field, err *Error) {
	for at < end {
		f, next, err := p.field(at, end, depth)
		if f != nil {
			fields = append(fields, *f)
		}
		if err != nil {
			return fields, err
		}
		if f == nil {
			return fields, &Error{at, "a group ends that did not begin"}
		}
		at = next
	}
	return fields, nil
}

// field reads one field. It gives none where a group ends.
func (p *parser) field(at, end, depth int) (f *Field, next int, err *Error) {
	if p.budget--; p.budget < 0 {
		return nil, at, &Error{at, fmt.Sprintf("more than %d fields", maxFields)}
	}
	number, kind, n := protowire.ConsumeTag(p.all[at:end])
	if n < 0 {
		return nil, at, &Error{at, "no field begins: " + reason(n)}
	}
	f, value := &Field{Number: number, Type: kind}, at+n
	rest := p.all[value:end]
	switch kind {
	case protowire.VarintType:
		f.Value, n = protowire.ConsumeVarint(rest)
	case protowire.Fixed64Type:
		f.Value, n = protowire.ConsumeFixed64(rest)
	case protowire.Fixed32Type:
		var v uint32
		v, n = protowire.ConsumeFixed32(rest)
		f.Value = uint64(v)
	case protowire.BytesType:
		return p.bytes(f, value, end, depth+1)
	case protowire.StartGroupType:
		next, err = p.group(f, value, end, depth+1)
		return f, next, err
	case protowire.EndGroupType:
		return nil, value, nil
	default:
		return nil, at, &Error{at, fmt.Sprintf("field %d has wire type %d, which there is not", number, kind)}
	}
	if n < 0 {
		return nil, at, &Error{value, fmt.Sprintf("field %d: its %s: %s", number, typeNames[kind], reason(n))}
	}
	return f, value + n, nil
}

// bytes reads a field with a length; of one that is cut off, what there is.
func (p *parser) bytes(f *Field, at, end, depth int) (*Field, int, *Error) {
	length, n := protowire.ConsumeVarint(p.all[at:end])
	if n < 0 {
		return nil, at, &Error{at, fmt.Sprintf("field %d: its length: %s", f.Number, reason(n))}
	}
	at += n
	left := uint64(end - at)
	f.Cut = length > left
	f.Bytes = p.all[at : at+int(min(length, left))]
	p.lookInside(f, at, depth)
	if f.Cut {
		return f, at, &Error{at, fmt.Sprintf("field %d says that it has %d bytes, and %d are left", f.Number, length, left)}
	}
	return f, at + len(f.Bytes), nil
}

func (p *parser) group(f *Field, at, end, depth int) (int, *Error) {
	if depth > maxDepth {
		return at, &Error{at, fmt.Sprintf("groups within groups, more than %d deep", maxDepth)}
	}
	for at < end {
		inner, next, err := p.field(at, end, depth)
		if inner != nil {
			f.Fields = append(f.Fields, *inner)
		}
		if err != nil {
			return next, err
		}
		if inner == nil {
			if number, _, _ := protowire.ConsumeTag(p.all[at:end]); number != f.Number {
				return next, &Error{at, fmt.Sprintf("group %d ends, and it is group %d that is open", number, f.Number)}
			}
			return next, nil
		}
		at = next
	}
	return at, &Error{at, fmt.Sprintf("group %d does not end", f.Number)}
}

// reason gives protowire's error in its own words: protobuf's runtime puts its
// name and one of two kinds of space before them.
func reason(n int) string {
	return strings.TrimLeft(strings.TrimPrefix(protowire.ParseError(n).Error(), "proto:"), " \u00a0")
}

// lookInside guesses whether a field's bytes are a message. Short text is one by
// chance, as "hi" and "email" are; but of text that a length within it fits,
// hardly any.
func (p *parser) lookInside(f *Field, at, depth int) {
	if len(f.Bytes) == 0 || depth > maxDepth {
		return
	}
	inner, err := p.message(at, at+len(f.Bytes), depth)
	if err != nil && !f.Cut {
		return
	}
	f.Fields = inner
	f.Nested = len(inner) > 0 && all(inner, hasLikelyNumber) && (!isText(f.Bytes) || !f.Cut && all(inner, hasLength))
}

func all(fields []Field, holds func(Field) bool) bool {
	return !slices.ContainsFunc(fields, func(f Field) bool { return !holds(f) })
}

func hasLength(f Field) bool { return f.Type == protowire.BytesType }

// hasLikelyNumber is of numbers that people give: those of extensions, which are
// the highest, begin with five digits.
func hasLikelyNumber(f Field) bool { return f.Number < 100_000 }

// isText says whether bytes are what a person would call text.
func isText(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
		b = b[n:]
	}
	return true
}

// packed reads bytes as the values of a packed field of a fixed size, or as
// varints where size is 0. It is nil where they are none.
func packed(b []byte, size int) (values []uint64) {
	for len(b) > 0 {
		var v uint64
		var n int
		switch size {
		case 8:
			v, n = protowire.ConsumeFixed64(b)
		case 4:
			var short uint32
			short, n = protowire.ConsumeFixed32(b)
			v = uint64(short)
		default:
			v, n = protowire.ConsumeVarint(b)
		}
		if n < 0 {
			return nil
		}
		values, b = append(values, v), b[n:]
	}
	return values
}

// plausible says whether a floating-point number is one that somebody would
// send: bytes of another meaning are as a rule far larger or smaller.
func plausible(x float64) bool {
	const least, most = 1e-9, 1e12
	a := math.Abs(x)
	return x == 0 || a >= least && a <= most
}
