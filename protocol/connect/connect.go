// Package connect carries calls over Connect and over gRPC-Web with
// connectrpc.com/connect: its handlers behind net/http's server, its clients
// on net/http's transport.
//
// Both are spoken over HTTP/1.1 or HTTP/2 without TLS, with any codec.
// Compression is what the stack says on both sides: a client of connect asks
// for gzip unless it is told not to.
package connect

import (
	"errors"
	"fmt"
	"net/http"

	"connectrpc.com/connect"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// Settings of both protocols.
var (
	version   = setting.OneOf("http", "HTTP version", http1, http2)
	keepAlive = setting.OneOf("keepalive", "whether a connection carries more than one call", "on", off)
	conns     = protocol.ConnsSetting(protocol.ConnsPool)
)

const (
	http1 = "1.1"
	http2 = "2"
	off   = "off"
)

// Protocol is Connect or gRPC-Web.
type Protocol struct {
	name, about string
	client      []connect.ClientOption // what makes a client speak it
	framing     framing
}

// New gives Connect.
func New() Protocol {
	return Protocol{
		name:    "connect",
		about:   "the Connect protocol, by connect-go and net/http",
		framing: connectFraming{},
	}
}

// NewWeb gives gRPC-Web.
func NewWeb() Protocol {
	return Protocol{
		name:    "grpcweb",
		about:   "gRPC-Web, by connect-go and net/http",
		client:  []connect.ClientOption{connect.WithGRPCWeb()},
		framing: webFraming{},
	}
}

// Spec describes the protocol.
func (p Protocol) Spec() protocol.Spec {
	return protocol.Spec{
		Name:     p.name,
		Module:   "connectrpc.com/connect",
		About:    p.about,
		Codecs:   protocol.AnyCodec,
		Settings: []setting.Setting{version, conns, keepAlive},
		Carries:  carries, Transport: transport,
	}
}

func transport(o protocol.Options) protocol.Transport {
	t := protocol.Transport{HTTP: o.Settings[version.Name], HTTPBy: version.Name, Conns: kept(o), CallsPerConn: 1}
	if t.HTTP == http2 {
		t.CallsPerConn = streamsPerConn
	}
	if o.Settings[keepAlive.Name] == off {
		t.Conns = 0
	}
	return t
}

var errHalfDuplex = errors.New("HTTP/1.1 does not carry a request and its answer at once")

func carries(k rpc.Kind, v setting.Values) error {
	if k == rpc.Bidi && v[version.Name] == http1 {
		return fmt.Errorf("%s: %w", k, errHalfDuplex)
	}
	return nil
}

// protocols is the one version of HTTP that o asks for.
func protocols(o protocol.Options) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(o.Settings[version.Name] == http1)
	p.SetUnencryptedHTTP2(o.Settings[version.Name] == http2)
	return p
}

// method is a method whose messages are bound to a codec.
type method struct {
	*rpc.Method
	path    string
	in, out codec.Binding
	fields  protocol.Crossing
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
	return &method{Method: m, path: m.Path(), in: in, out: out, fields: fields}, nil
}
