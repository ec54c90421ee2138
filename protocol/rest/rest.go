// Package rest carries calls as plain HTTP: a method is a route, a message is a
// body, or path and query, a failure is a status with problem details. It is
// what one would write by hand with net/http and http.ServeMux, with any codec.
//
// A stream of messages is newline-delimited JSON where the codec writes JSON
// and nothing is compressed, otherwise each message stands behind its length.
// A deadline crosses in the field Grpc-Timeout, which gateways from REST to gRPC
// (grpc-gateway) read: HTTP has no field of its own for it.
package rest

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// What stacks may set.
var (
	version   = setting.OneOf("http", "HTTP version", http1, http2)
	keepAlive = setting.OneOf("keepalive", "whether a connection carries more than one call", "on", keepAliveOff)
	conns     = protocol.ConnsSetting(protocol.ConnsPool)
)

const (
	http1        = "1.1"
	http2        = "2"
	keepAliveOff = "off"
)

// timeoutField carries how long the caller still waits, as in gRPC.
const timeoutField = "Grpc-Timeout"

// Protocol is HTTP by net/http.
type Protocol struct{}

// New gives the protocol.
func New() Protocol { return Protocol{} }

// Spec says what the protocol is.
func (Protocol) Spec() protocol.Spec {
	return protocol.Spec{
		Name: "rest", Module: "std", About: "HTTP routes, by net/http",
		Codecs:   protocol.AnyCodec,
		Settings: []setting.Setting{version, keepAlive, conns},
		Carries:  carries, Transport: transport,
	}
}

func transport(o protocol.Options) protocol.Transport {
	t := protocol.Transport{HTTP: o.Settings[version.Name], HTTPBy: version.Name, Conns: connsOf(o), CallsPerConn: 1}
	if t.HTTP == http2 {
		t.CallsPerConn = streamsPerConn
	}
	if o.Settings[keepAlive.Name] == keepAliveOff {
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

// protocols are the HTTP versions of both sides: the one that is set, without
// TLS, HTTP/2 with prior knowledge.
func protocols(v setting.Values) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(v[version.Name] == http1)
	p.SetUnencryptedHTTP2(v[version.Name] == http2)
	return p
}

// endpoint is a method as both sides know it.
type endpoint struct {
	route
	method              *rpc.Method
	in, out             codec.Binding
	media               string // of a whole message
	streamIn, streamOut framing
	coding              *coding // nil: messages are not compressed
	fields              protocol.Crossing
	maxMessage          int
}

// bind gives the endpoints of svc's methods.
func bind(svc *rpc.Service, o protocol.Options) ([]*endpoint, error) {
	var c *coding
	if o.Compressor != nil {
		c = newCoding(o.Compressor)
	}
	fields, err := o.Crossing()
	if err != nil {
		return nil, err
	}
	spec := o.Codec.Spec()
	var all []*endpoint
	for _, m := range svc.Methods {
		e := &endpoint{method: m, media: spec.Media, coding: c, fields: fields, maxMessage: o.MaxMessage}
		e.streamIn, e.streamOut = framingsOf(spec, c)
		if e.route, err = routeOf(m); err != nil {
			return nil, err
		}
		if e.in, err = o.Codec.Bind(m.In); err != nil {
			return nil, fmt.Errorf("bind request of %s: %w", m.Path(), err)
		}
		if e.out, err = o.Codec.Bind(m.Out); err != nil {
			return nil, fmt.Errorf("bind reply of %s: %w", m.Path(), err)
		}
		all = append(all, e)
	}
	return all, nil
}
