package thrift

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/tare-bench/tare/codec"
)

// envelope is what stands around a message's struct in one of Thrift's forms:
// the method's name, a number, and the struct of arguments or results whose
// field the message is.
type envelope struct{ pool sync.Pool }

// envelopes are the forms by the codec whose structs stand in them.
var envelopes = map[string]*envelope{
	"thrift": newEnvelope(func(t apache.TTransport) apache.TProtocol {
		return apache.NewTBinaryProtocolConf(t, framed)
	}),
	"thriftcompact": newEnvelope(func(t apache.TTransport) apache.TProtocol {
		return apache.NewTCompactProtocolConf(t, framed)
	}),
}

// framed has the library hold nothing to limits of its own: all that it reads is
// a frame that is here, and has been held to ours.
var framed = &apache.TConfiguration{MaxMessageSize: math.MaxInt32, MaxFrameSize: math.MaxInt32}

// form is a protocol of Apache's over bytes.
type form struct {
	apache.TProtocol
	memory *apache.TMemoryBuffer
}

func newEnvelope(of func(apache.TTransport) apache.TProtocol) *envelope {
	return &envelope{sync.Pool{New: func() any {
		memory := apache.NewTMemoryBuffer()
		return &form{of(memory), memory}
	}}}
}

// over gives a form that reads what stands in b, or appends to it.
func (e *envelope) over(b []byte) *form {
	f := e.pool.Get().(*form)
	*f.memory.Buffer = *bytes.NewBuffer(b)
	return f
}

// put takes a form that has read or written to an end. Others have state left,
// and are not used again.
func (e *envelope) put(f *form) {
	*f.memory.Buffer = bytes.Buffer{}
	e.pool.Put(f)
}

// heading is what a message begins with.
type heading struct {
	name   string
	kind   apache.TMessageType
	number int32
}

// Fields of the structs that generated code has for a method's arguments and
// results.
const (
	requestField = 1
	successField = 0
	failureField = 1
	// stop ends a struct in either form.
	stop = apache.STOP
)

const lengthBytes = 4

// appendMessage appends a frame with native in a field of its heading's struct.
func (e *envelope) appendMessage(dst []byte, h heading, name string, field int16, b codec.Binding, native any) ([]byte, error) {
	return e.appendFrame(dst, h, func(f *form) error {
		if err := f.begin(name, field); err != nil {
			return err
		}
		whole, err := b.Append(f.memory.Bytes(), native)
		if err != nil {
			return err
		}
		*f.memory.Buffer = *bytes.NewBuffer(whole)
		return f.end()
	})
}

// appendStruct is appendMessage for a struct that no codec knows.
func (e *envelope) appendStruct(dst []byte, h heading, name string, field int16, s apache.TStruct) ([]byte, error) {
	return e.appendFrame(dst, h, func(f *form) error {
		return errors.Join(f.begin(name, field), s.Write(context.Background(), f), f.end())
	})
}

// appendFrame appends a frame with what write writes behind the heading.
func (e *envelope) appendFrame(dst []byte, h heading, write func(*form) error) ([]byte, error) {
	start := len(dst)
	f := e.over(append(dst, make([]byte, lengthBytes)...))
	ctx := context.Background()
	if err := f.WriteMessageBegin(ctx, h.name, h.kind, h.number); err != nil {
		return dst, err
	}
	if err := write(f); err != nil {
		return dst, err
	}
	if err := f.WriteMessageEnd(ctx); err != nil {
		return dst, err
	}
	out := f.memory.Bytes()
	e.put(f)
	n := len(out) - start - lengthBytes
	if n > math.MaxInt32 {
		return dst, fmt.Errorf("a frame of %d bytes is longer than Thrift has them", n)
	}
	binary.BigEndian.PutUint32(out[start:], uint32(n)) //nolint:gosec // at most MaxInt32
	return out, nil
}

func (f *form) begin(name string, field int16) error {
	ctx := context.Background()
	if err := f.WriteStructBegin(ctx, ""); err != nil {
		return err
	}
	return f.WriteFieldBegin(ctx, name, apache.STRUCT, field)
}

func (f *form) end() error {
	ctx := context.Background()
	if err := f.WriteFieldEnd(ctx); err != nil {
		return err
	}
	if err := f.WriteFieldStop(ctx); err != nil {
		return err
	}
	return f.WriteStructEnd(ctx)
}

// read gives the heading that b begins with, and what stands behind it.
func (e *envelope) read(b []byte) (h heading, rest []byte, err error) {
	f := e.over(b)
	h.name, h.kind, h.number, err = f.ReadMessageBegin(context.Background())
	if err != nil {
		return h, nil, fmt.Errorf("message of a call: %w", err)
	}
	rest = b[len(b)-f.memory.Len():]
	e.put(f)
	return h, rest, nil
}

var errNoField = errors.New("the message is not there")

// find gives which field with a struct stands first in a struct of arguments or
// results, and what follows: the struct, and then, as generated code writes it,
// nothing but the outer one's end. Of a struct without such a field it is
// errNoField.
func (e *envelope) find(b []byte) (field int16, from []byte, err error) {
	f := e.over(b)
	ctx := context.Background()
	if _, err = f.ReadStructBegin(ctx); err != nil {
		return 0, nil, err
	}
	for {
		_, kind, id, err := f.ReadFieldBegin(ctx)
		if err != nil {
			return 0, nil, err
		}
		switch kind {
		case apache.STRUCT:
			from = b[len(b)-f.memory.Len():]
			if err := f.ReadStructEnd(ctx); err != nil { // what the form keeps of the outer struct
				return 0, nil, err
			}
			e.put(f)
			return id, from, nil
		case apache.STOP:
			return 0, nil, errNoField
		}
		if err := f.Skip(ctx, kind); err != nil {
			return 0, nil, err
		}
	}
}

// parse reads the struct that stands in from, as find gives it. Where other
// fields follow, from clients of a newer schema, its length has to be found.
func (e *envelope) parse(from []byte, b codec.Binding) (native any, err error) {
	if last := len(from) - 1; last >= 0 && from[last] == stop {
		if native, err = b.Parse(from[:last]); err == nil {
			return native, nil
		}
	}
	f := e.over(from)
	if skipped := f.Skip(context.Background(), apache.STRUCT); skipped != nil {
		return nil, errors.Join(err, skipped)
	}
	n := len(from) - f.memory.Len()
	e.put(f)
	return b.Parse(from[:n])
}
