package thrift

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"unicode/utf8"

	apache "github.com/apache/thrift/lib/go/thrift"
)

// form is how structs are written. Apache's protocols keep buffers and state,
// which are used again unless a message has failed midway.
type form struct {
	writers, readers sync.Pool
}

type writer struct {
	memory *apache.TMemoryBuffer
	apache.TProtocol
}

type reader struct {
	memory *apache.TMemoryBuffer
	nested *nesting
	apache.TProtocol
}

// unbounded has the library hold no message to a length of its own: protocols
// do that. A container's length is held to the bytes that are left, so what a
// message claims costs no more than what it could bring.
var unbounded = &apache.TConfiguration{MaxMessageSize: math.MaxInt32, MaxFrameSize: math.MaxInt32}

var binary = newForm(
	func(t apache.TTransport) apache.TProtocol { return apache.NewTBinaryProtocolConf(t, unbounded) },
	func(t apache.TTransport, n *nesting) apache.TProtocol {
		return &binaryReader{TBinaryProtocol: apache.NewTBinaryProtocolConf(t, unbounded), nesting: n}
	})

var compact = newForm(
	func(t apache.TTransport) apache.TProtocol { return apache.NewTCompactProtocolConf(t, unbounded) },
	func(t apache.TTransport, n *nesting) apache.TProtocol {
		return &compactReader{TCompactProtocol: apache.NewTCompactProtocolConf(t, unbounded), nesting: n}
	})

func newForm(write func(apache.TTransport) apache.TProtocol, read func(apache.TTransport, *nesting) apache.TProtocol) *form {
	f := new(form)
	f.writers.New = func() any {
		memory := apache.NewTMemoryBuffer()
		return &writer{memory: memory, TProtocol: write(memory)}
	}
	f.readers.New = func() any {
		memory, nested := apache.NewTMemoryBuffer(), new(nesting)
		return &reader{memory: memory, nested: nested, TProtocol: read(memory, nested)}
	}
	return f
}

func (f *form) append(dst []byte, native apache.TStruct) ([]byte, error) {
	w := f.writers.Get().(*writer)
	*w.memory.Buffer = *bytes.NewBuffer(dst)
	err := native.Write(context.Background(), w.TProtocol)
	out := w.memory.Bytes()
	*w.memory.Buffer = bytes.Buffer{}
	if err != nil {
		return dst, err
	}
	f.writers.Put(w)
	return out, nil
}

func (f *form) parse(src []byte, native apache.TStruct) error {
	r := f.readers.Get().(*reader)
	*r.memory.Buffer = *bytes.NewBuffer(src)
	*r.nested = 0
	err := native.Read(context.Background(), r.TProtocol)
	rest := r.memory.Len()
	*r.memory.Buffer = bytes.Buffer{}
	if err != nil {
		return err
	}
	f.readers.Put(r)
	if rest > 0 {
		return fmt.Errorf("%d bytes stand after the message", rest)
	}
	return nil
}

// deepest is how far structs may nest, as the library has it where it skips.
// The stack of a goroutine that follows a message deeper and deeper could not be
// recovered.
const deepest = apache.DEFAULT_RECURSION_DEPTH

var (
	errDeep    = fmt.Errorf("structs nest deeper than %d", deepest)
	errNotUTF8 = errors.New("a string is not UTF-8")
)

// nesting counts the structs that a reader is in.
type nesting int

func (n *nesting) enter() error {
	if *n == deepest {
		return errDeep
	}
	*n++
	return nil
}

// whole refuses what no other codec would take, so that one message is not
// refused on one stack and kept on another.
func whole(s string, err error) (string, error) {
	if err == nil && !utf8.ValidString(s) {
		return "", errNotUTF8
	}
	return s, err
}

type binaryReader struct {
	*apache.TBinaryProtocol
	*nesting
}

func (r *binaryReader) ReadStructBegin(context.Context) (string, error) { return "", r.enter() }

func (r *binaryReader) ReadStructEnd(context.Context) error {
	*r.nesting--
	return nil
}

func (r *binaryReader) ReadString(ctx context.Context) (string, error) {
	return whole(r.TBinaryProtocol.ReadString(ctx))
}

type compactReader struct {
	*apache.TCompactProtocol
	*nesting
}

func (r *compactReader) ReadStructBegin(ctx context.Context) (string, error) {
	if err := r.enter(); err != nil {
		return "", err
	}
	return r.TCompactProtocol.ReadStructBegin(ctx)
}

func (r *compactReader) ReadStructEnd(ctx context.Context) error {
	*r.nesting--
	return r.TCompactProtocol.ReadStructEnd(ctx)
}

func (r *compactReader) ReadString(ctx context.Context) (string, error) {
	return whole(r.TCompactProtocol.ReadString(ctx))
}
