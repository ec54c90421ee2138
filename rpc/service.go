// Package rpc describes a service neutrally: its methods, their kinds and
// routes, its message types, what a handler is and what its errors mean.
//
// It knows no codec, no protocol and no transport. A workload declares a
// Service and answers it with a Handler; a protocol carries calls to a Handler
// that stands elsewhere, and is therefore one itself.
package rpc

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"
)

// Kind says on which sides of a method messages stream.
type Kind uint8

// The four kinds of method.
const (
	Unary Kind = iota
	ServerStream
	ClientStream
	Bidi
)

// String gives the kind's name as reports and errors print it.
func (k Kind) String() string {
	switch k {
	case Unary:
		return "unary"
	case ServerStream:
		return "server stream"
	case ClientStream:
		return "client stream"
	case Bidi:
		return "bidirectional stream"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// StreamsIn says whether the caller may send more than one message.
func (k Kind) StreamsIn() bool { return k == ClientStream || k == Bidi }

// StreamsOut says whether the handler may send more than one message.
func (k Kind) StreamsOut() bool { return k == ServerStream || k == Bidi }

// Service is a named set of methods. It is read-only once declared.
type Service struct {
	Name    string // full protobuf name: "tare.payments.v1.PaymentService"
	Methods []*Method
}

// Method is one method of a service. It is read-only once declared, and its
// address is its identity: handlers may switch on it.
type Method struct {
	Service string // full protobuf name of the service
	Name    string // "MakePayment"
	Kind    Kind
	// Route is a pattern of http.ServeMux: "POST /v1/payments",
	// "GET /v1/orders/{order_id}". {x} is a whole segment and holds the field x
	// of In, which is one plain value. The other fields are the body, or for a
	// verb without one the query, by their names in JSON or in the schema: as
	// google.api.http has it with body "*", or none.
	Route   string
	In, Out *Type
}

// Path is the method's path in gRPC and Connect: "/SERVICE/NAME".
func (m *Method) Path() string { return "/" + m.Service + "/" + m.Name }

// Type is a message type in its two shared forms: the plain Go struct that
// handlers and workloads use, and the generated protobuf message, which is the
// schema of record. Codecs with a schema of their own bind to it by Name.
//
// A plain value is always a pointer to the struct. ToProto and FromProto read
// every field and may share memory that neither side changes afterwards.
type Type struct {
	Name      string // full protobuf name
	New       func() any
	NewProto  func() proto.Message
	ToProto   func(plain any) proto.Message
	FromProto func(proto.Message) any
	// Outline gives of ToProto's message what its rules read, where they leave out
	// most of it: lists in their length, say, whose elements are held to rules one by
	// one. Nil: all of it.
	Outline func(plain any) proto.Message
}

// Outlined gives the type with an Outline.
func (t *Type) Outlined(outline func(plain any) proto.Message) *Type {
	with := *t
	with.Outline = outline
	return &with
}

// NewType makes a Type of plain struct P and generated message M out of the
// two functions that map one to the other.
func NewType[P any, M proto.Message](to func(*P) M, from func(M) *P) *Type {
	var zero M
	return &Type{
		Name:      string(zero.ProtoReflect().Descriptor().FullName()),
		New:       func() any { return new(P) },
		NewProto:  func() proto.Message { return zero.ProtoReflect().New().Interface() },
		ToProto:   func(plain any) proto.Message { return to(plain.(*P)) },
		FromProto: func(m proto.Message) any { return from(m.(M)) },
	}
}

// Handler answers calls. Handle reads what the caller sends and sends what
// answers it, then returns nil, or the error that ends the call. It is called
// concurrently, and must return soon after ctx ends.
//
// On a server it is the application. On a client it is a connection that
// carries the call to the application: see protocol.Conn.
type Handler interface {
	Handle(ctx context.Context, m *Method, s Stream) error
}

// Stream is one call's messages, as plain values, seen from the Handler.
//
// Recv gives the next message that the caller sent, or io.EOF after the last;
// any other error ends the call. Send gives the caller one message; what was
// sent must not be changed afterwards. Recv may run beside Send, but neither
// beside itself.
type Stream interface {
	Recv() (any, error)
	Send(any) error
}

// Refuser is a Handler that can say of a call, before it is handed it, that it
// would not take it on. A server asks as early as its library lets it, so that a
// refusal costs next to nothing, and answers with the error. It hands over every
// other call; Handle may still refuse it.
type Refuser interface {
	Handler
	// Refuse gives the *Error that a call of m would end with, or nil. It is called
	// concurrently, and never blocks.
	Refuse(m *Method) error
}

// Refusal is h's Refuse, and nil where h has none.
func Refusal(h Handler, m *Method) error {
	if r, ok := h.(Refuser); ok {
		return r.Refuse(m)
	}
	return nil
}

// HandlerFunc is a function as a Handler.
type HandlerFunc func(ctx context.Context, m *Method, s Stream) error

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, m *Method, s Stream) error { return f(ctx, m, s) }
