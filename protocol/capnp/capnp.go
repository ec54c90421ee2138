// Package capnp carries calls by Cap'n Proto's RPC over TCP, with the library
// for Go: a service is an interface of schema/capnp, the request is the
// parameters' struct itself, and the answer is a struct with a reply or a
// failure, since an exception of Cap'n Proto is text alone. It takes no other
// codec than Cap'n Proto's.
//
// The protocol has no place beside a message: neither deadlines nor header
// fields cross, and nothing is compressed. A call that its caller gives up is
// given up at the server. Streams are calls of a capability that goes to the
// side that sends, with the library's flow control.
package capnp

import (
	"errors"
	"fmt"

	"capnproto.org/go/capnp/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// conns is one connection unless said otherwise, which is what the library's
// users have: calls share it.
var conns = protocol.ConnsSetting("1")

// callsPerConn is how many calls a connection is good for at a time. The
// library has no bound; it is that which gRPC servers often have.
const callsPerConn = 100

// Protocol is Cap'n Proto's RPC.
type Protocol struct{}

// New gives the protocol.
func New() Protocol { return Protocol{} }

const (
	name         = "capnp"
	noCompressor = "Cap'n Proto's RPC has none"
)

// Spec says what the protocol is.
func (Protocol) Spec() protocol.Spec {
	return protocol.Spec{
		Name: name, Module: "capnproto.org/go/capnp/v3", About: "Cap'n Proto's RPC over TCP; the library is an alpha",
		Codecs:   []string{name},
		Settings: []setting.Setting{conns},
		Beside:   beside, Uncompressed: noCompressor,
		Transport: func(o protocol.Options) protocol.Transport {
			return protocol.Transport{Conns: o.SharedConns(callsPerConn), CallsPerConn: callsPerConn}
		},
	}
}

var errMessagesAlone = errors.New("calls of Cap'n Proto hold messages alone: no deadline and no header field crosses")

func beside(setting.Values) error { return errMessagesAlone }

// Codec is what the protocol asks of its codec beside codec.Codec.
type Codec interface {
	// ID is the ID of what has a full name in the schema.
	ID(fullName string) uint64
}

// Binding is what the protocol asks of its codec's bindings: the messages are
// parts of those of the RPC, and not bytes in them.
type Binding interface {
	// Room is the size of the struct that Put fills.
	Room() capnp.ObjectSize
	Put(to capnp.Struct, plain any) error
	// Take gives what a struct holds, and its size as a message of its own.
	Take(from capnp.Struct) (plain any, size int, err error)
}

// method is a method as both sides know it.
type method struct {
	*rpc.Method
	number capnp.Method
	// What streams are calls of, on capabilities of their own.
	replies, requests, end capnp.Method
	in, out                Binding
}

// service is what a server or a client is given.
type service struct {
	methods    []*method
	maxMessage int
}

// bind readies the methods of svc that are carried.
func bind(svc *rpc.Service, o protocol.Options) (*service, error) {
	// What crosses is nothing, but names that no protocol takes are wrong here too.
	if _, err := o.Crossing(); err != nil {
		return nil, err
	}
	if o.Compressor != nil {
		return nil, fmt.Errorf("compress by %s: %s", o.Compressor.Spec().Name, noCompressor)
	}
	ids, ok := o.Codec.(Codec)
	if !ok {
		return nil, fmt.Errorf("codec %s is not Cap'n Proto's", o.Codec.Spec().Name)
	}
	schema, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(svc.Name))
	if err != nil {
		return nil, fmt.Errorf("find the schema of %s: %w", svc.Name, err)
	}
	declared, ok := schema.(protoreflect.ServiceDescriptor)
	if !ok {
		return nil, fmt.Errorf("%s is not a service in its schema", svc.Name)
	}
	s := &service{maxMessage: o.MaxMessage}
	for _, m := range svc.Methods {
		in := declared.Methods().ByName(protoreflect.Name(m.Name))
		if in == nil {
			return nil, fmt.Errorf("%s is not a method in its schema", m.Path())
		}
		bound := &method{Method: m, number: capnp.Method{
			InterfaceID: ids.ID(svc.Name), MethodID: uint16(in.Index()), //nolint:gosec // few
			InterfaceName: svc.Name, MethodName: m.Name,
		}}
		beside := string(declared.FullName().Parent()) + "." + m.Name
		bound.replies = capnp.Method{InterfaceID: ids.ID(beside + "Replies"), InterfaceName: beside, MethodName: "send"}
		bound.requests = capnp.Method{InterfaceID: ids.ID(beside + "Requests"), InterfaceName: beside, MethodName: "send"}
		bound.end = capnp.Method{InterfaceID: ids.ID(beside + "Requests"), MethodID: 1, InterfaceName: beside, MethodName: "end"}
		if bound.in, err = bindingOf(o, m.In); err != nil {
			return nil, fmt.Errorf("bind request of %s: %w", m.Path(), err)
		}
		if bound.out, err = bindingOf(o, m.Out); err != nil {
			return nil, fmt.Errorf("bind reply of %s: %w", m.Path(), err)
		}
		s.methods = append(s.methods, bound)
	}
	return s, nil
}

func bindingOf(o protocol.Options, t *rpc.Type) (Binding, error) {
	b, err := o.Codec.Bind(t)
	if err != nil {
		return nil, err
	}
	parts, ok := b.(Binding)
	if !ok {
		return nil, fmt.Errorf("%T has no parts of messages", b)
	}
	return parts, nil
}
