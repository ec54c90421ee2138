package vtproto

import (
	"errors"
	"io"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxDepth is how deep messages may nest, as in Google's runtime. Source:
// protobuf.dev/programming-guides/proto-limits.
const maxDepth = 10_000

var (
	errDeep    = errors.New("messages nest deeper than protobuf allows")
	errNotUTF8 = errors.New("a string is not UTF-8")
	errField   = errors.New("a field has a number that there is not")
)

// shape is where a message has what the generated code does not mind: strings
// that may not be UTF-8, messages that may nest without end, which would end the
// process, and numbers of which it takes a negative zero for one that is absent.
type shape struct {
	fields []field // by number; those beyond are unknown
	signed bool    // a number of that kind is in it, or in a message in it
	idle   bool    // there is neither string nor message in it
}

type field struct {
	text bool
	of   *shape
}

// shapes are those that were made, for messages that hold their own kind.
type shapes map[protoreflect.FullName]*shape

// of gives the shape of a message and of all in it.
func (made shapes) of(d protoreflect.MessageDescriptor) *shape {
	if s, ok := made[d.FullName()]; ok {
		return s
	}
	s := new(shape)
	made[d.FullName()] = s
	idle := true
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		for len(s.fields) <= int(f.Number()) {
			s.fields = append(s.fields, field{})
		}
		switch f.Kind() {
		case protoreflect.StringKind:
			s.fields[f.Number()].text, idle = true, false
		case protoreflect.MessageKind:
			of := made.of(f.Message())
			s.signed = s.signed || of.signed
			if !of.idle {
				s.fields[f.Number()].of, idle = of, false
			}
		case protoreflect.FloatKind, protoreflect.DoubleKind:
			s.signed = s.signed || signable(f)
		}
	}
	s.idle = idle
	return s
}

// signable says of a field that it may hold a negative zero and be taken for
// absent.
func signable(f protoreflect.FieldDescriptor) bool {
	return (f.Kind() == protoreflect.DoubleKind || f.Kind() == protoreflect.FloatKind) && !f.IsList() && !f.HasPresence()
}

// check refuses what Google's runtime would. It is as strict with the form of a
// message: where it understood less than the generated code, that would go on
// unchecked.
func (s *shape) check(src []byte, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	for len(src) > 0 {
		tag, n := varint(src)
		if n < 0 {
			return protowire.ParseError(n)
		}
		number, kind := protowire.DecodeTag(tag)
		if !number.IsValid() {
			return errField
		}
		src = src[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, src); n < 0 {
				return protowire.ParseError(n)
			}
			src = src[n:]
			continue
		}
		length, n := varint(src)
		switch {
		case n < 0:
			return protowire.ParseError(n)
		case length > uint64(len(src)-n): //nolint:gosec // no more than len(src)
			return io.ErrUnexpectedEOF
		}
		value := src[n : n+int(length)] //nolint:gosec // within src
		src = src[n+len(value):]
		if int(number) >= len(s.fields) {
			continue
		}
		switch f := s.fields[number]; {
		case f.text:
			if !utf8.Valid(value) {
				return errNotUTF8
			}
		case f.of != nil:
			if err := f.of.check(value, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// varint reads a number, most of which are of one byte; n is below 0 where none is.
func varint(src []byte) (v uint64, n int) {
	if len(src) > 0 && src[0] < 0x80 {
		return uint64(src[0]), 1
	}
	return protowire.ConsumeVarint(src)
}

// keepSigns puts negative zeros among a message's unknown fields, which the
// generated code writes as they are.
func (s *shape) keepSigns(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case signable(f) && v.Float() == 0 && math.Signbit(v.Float()) && f.Kind() == protoreflect.DoubleKind:
			m.SetUnknown(protowire.AppendFixed64(protowire.AppendTag(m.GetUnknown(), f.Number(), protowire.Fixed64Type), 1<<63))
		case signable(f) && v.Float() == 0 && math.Signbit(v.Float()):
			m.SetUnknown(protowire.AppendFixed32(protowire.AppendTag(m.GetUnknown(), f.Number(), protowire.Fixed32Type), 1<<31))
		case f.IsMap() && f.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				s.keepSigns(v.Message())
				return true
			})
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				s.keepSigns(v.List().Get(i).Message())
			}
		case f.Message() != nil && !f.IsMap():
			s.keepSigns(v.Message())
		}
		return true
	})
}
