// Package grpc carries calls over gRPC with google.golang.org/grpc: its own
// listener on the server, its own channels on the client, and its pooled
// buffers on both.
//
// Any codec will do: gRPC names it in the content type. Nothing is registered
// with gRPC's process-wide tables of codecs and compressors, so that stacks
// with different ones share a process.
package grpc

import (
	"fmt"

	"google.golang.org/grpc"
	grpcproto "google.golang.org/grpc/encoding/proto"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// channel says how long a client keeps a connection.
var channel = setting.OneOf("channel",
	"a channel that all calls share, or one dialled and closed for each call", "shared", perCall)

const perCall = "per-call"

// Protocol is gRPC over HTTP/2 without TLS.
type Protocol struct{}

// New gives the protocol.
func New() Protocol { return Protocol{} }

// Spec describes gRPC.
func (Protocol) Spec() protocol.Spec {
	return protocol.Spec{
		Name:     "grpc",
		Module:   "google.golang.org/grpc",
		About:    "gRPC over HTTP/2, by grpc-go's own server and client",
		Codecs:   protocol.AnyCodec,
		Settings: []setting.Setting{protocol.ConnsSetting("1"), channel},

		Transport: transport,
	}
}

func transport(o protocol.Options) protocol.Transport {
	t := protocol.Transport{HTTP: "2", Conns: o.SharedConns(streamsPerChannel), CallsPerConn: streamsPerChannel}
	if o.Settings[channel.Name] == perCall {
		t.Conns = 0
	}
	return t
}

// method is a method whose messages are bound to a codec.
type method struct {
	*rpc.Method
	path    string
	desc    *grpc.StreamDesc
	in, out codec.Binding
	fields  protocol.Crossing
	longest int // reply that a server sends
}

func bindMethod(m *rpc.Method, o protocol.Options) (*method, error) {
	fields, err := o.Crossing()
	if err != nil {
		return nil, err
	}
	in, err := o.Codec.Bind(m.In)
	if err != nil {
		return nil, fmt.Errorf("bind request of %s: %w", m.Path(), err)
	}
	out, err := o.Codec.Bind(m.Out)
	if err != nil {
		return nil, fmt.Errorf("bind reply of %s: %w", m.Path(), err)
	}
	desc := &grpc.StreamDesc{
		StreamName:    m.Name,
		ServerStreams: m.Kind.StreamsOut(),
		ClientStreams: m.Kind.StreamsIn(),
	}
	return &method{Method: m, path: m.Path(), desc: desc, in: in, out: out, fields: fields, longest: o.MaxMessage}, nil
}

// contentSubtype is what a client of c puts after "application/grpc+". It is
// empty for gRPC's default, whose users do not spell it.
func contentSubtype(c codec.Codec) string {
	if s := c.Spec().Subtype; s != grpcproto.Name {
		return s
	}
	return ""
}
