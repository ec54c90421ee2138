// Package codec turns messages into bytes and back, through the form that a
// library's users hold: a generated message, a plain struct, a builder.
//
// It knows no protocol and no workload. Protocols carry what a Binding makes;
// each implementation is a folder below this one, run through codectest, and
// listed in catalog.
package codec

import (
	"errors"

	"github.com/tare-bench/tare/rpc"
)

// Spec is what a codec says of itself.
type Spec struct {
	Name    string // as stacks spell it: "json"
	Media   string // media type of a body over HTTP: "application/json"
	Subtype string // in "application/grpc+SUBTYPE" and "application/SUBTYPE" of Connect
	Module  string // Go module of the library under test, or "std"
	About   string // one line for a person
	// Remark is what a reader must know who takes the codec for a better known
	// one; it follows the stack's name in a sentence. "" for none.
	Remark string
	// ClosedEnums says that Append may refuse a number that an enum of the schema
	// has no name for. It never makes it another.
	ClosedEnums bool
}

// ErrUnbound is wrapped by Bind's error for a type that the codec has no form
// for; the plan then leaves the cell out and says why.
var ErrUnbound = errors.New("no form for this type")

// Codec binds to message types. It is safe for concurrent use.
type Codec interface {
	Spec() Spec
	Bind(*rpc.Type) (Binding, error)
}

// Binding is one codec for one message type. Its four steps are the phases
// that reports tell apart. It is safe for concurrent use.
type Binding interface {
	// Native maps a plain value (a pointer to the type's struct) to the
	// codec's own form, sharing memory where that is safe. Where that form is
	// the plain struct, it returns its argument. Phase: map.
	Native(plain any) any
	// Append appends the encoded native to dst. Phase: encode.
	Append(dst []byte, native any) ([]byte, error)
	// Parse reads a whole message. It keeps no reference to src. Input that is
	// not a message of the type is an error, never a panic. Phase: decode.
	Parse(src []byte) (native any, err error)
	// Plain maps back, reading every field. Phase: map.
	Plain(native any) any
}

// Sizer is implemented by a Binding that knows a message's encoded size
// beforehand, so that protocols can encode into a pooled buffer.
type Sizer interface {
	// Size is the number of bytes that Append will append.
	Size(native any) int
	// AppendSized is Append for a message whose Size was just asked for, and
	// that has not changed since: it need not be measured twice. dst has room
	// for it. Where it has no more, one that writes from the end need not move it.
	AppendSized(dst []byte, native any) ([]byte, error)
}

// The methods of Binding and Sizer by their phase, for whoever looks for them
// in the stacks of a profile.
var (
	MapMethods    = []string{"Native", "Plain"}
	EncodeMethods = []string{"Append", "Size", "AppendSized"}
	DecodeMethods = []string{"Parse"}
)
