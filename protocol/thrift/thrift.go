// Package thrift carries calls as Apache Thrift does over TCP: each message is
// a frame, a connection carries one call at a time, and a client keeps several.
// Frames hold what generated code would write, so that Thrift's own clients and
// servers of any language are at the other end. It takes Thrift's codecs alone.
//
// Framed transport has no place beside a message: neither deadlines nor header
// fields cross, and nothing is compressed. Nor has Thrift streams.
package thrift

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

var conns = protocol.ConnsSetting(protocol.ConnsPool)

// Protocol is Thrift's framed transport, by Apache's library.
type Protocol struct{}

// New gives the protocol.
func New() Protocol { return Protocol{} }

const noCompressor = "framed transport has none"

// Spec says what the protocol is.
func (Protocol) Spec() protocol.Spec {
	return protocol.Spec{
		Name: "thrift", Module: "github.com/apache/thrift", About: "Thrift's calls in frames over TCP",
		Codecs:   slices.Sorted(maps.Keys(envelopes)),
		Settings: []setting.Setting{conns},
		Carries:  carries, Beside: beside, Uncompressed: noCompressor,
		Transport: func(o protocol.Options) protocol.Transport {
			return protocol.Transport{Conns: o.Conns(), CallsPerConn: 1}
		},
	}
}

func carries(k rpc.Kind, _ setting.Values) error {
	if k != rpc.Unary {
		return fmt.Errorf("%s: Thrift's calls have one request and one reply", k)
	}
	return nil
}

var errFramesAlone = errors.New("Thrift's frames hold messages alone: no deadline and no header field crosses") //nolint:staticcheck // a name

func beside(setting.Values) error { return errFramesAlone }

// method is a method as both sides know it.
type method struct {
	*rpc.Method
	in, out codec.Binding
}

// service is what a server or a client is given.
type service struct {
	name       string // as Thrift has it, without a package
	methods    map[string]*method
	envelope   *envelope
	maxMessage int
}

// bind readies the methods of svc that Thrift carries.
func bind(svc *rpc.Service, o protocol.Options) (*service, error) {
	// What crosses is nothing, but names that no protocol takes are wrong here too.
	if _, err := o.Crossing(); err != nil {
		return nil, err
	}
	if o.Compressor != nil {
		return nil, fmt.Errorf("compress by %s: %s", o.Compressor.Spec().Name, noCompressor)
	}
	name := o.Codec.Spec().Name
	e, ok := envelopes[name]
	if !ok {
		return nil, fmt.Errorf("codec %s is none of Thrift's, which are %v", name, slices.Sorted(maps.Keys(envelopes)))
	}
	s := &service{
		name:     svc.Name[strings.LastIndexByte(svc.Name, '.')+1:],
		methods:  make(map[string]*method, len(svc.Methods)),
		envelope: e, maxMessage: o.MaxMessage,
	}
	for _, m := range svc.Methods {
		if m.Kind != rpc.Unary {
			continue
		}
		bound := &method{Method: m}
		var err error
		if bound.in, err = o.Codec.Bind(m.In); err != nil {
			return nil, fmt.Errorf("bind request of %s: %w", m.Path(), err)
		}
		if bound.out, err = o.Codec.Bind(m.Out); err != nil {
			return nil, fmt.Errorf("bind reply of %s: %w", m.Path(), err)
		}
		s.methods[m.Name] = bound
	}
	return s, nil
}

// method finds a method by the name that a message bears. One for a
// multiplexed processor has its service's before a colon.
func (s *service) method(name string) (*method, bool) {
	m, ok := s.methods[strings.TrimPrefix(name, s.name+":")]
	return m, ok
}

// limitReplies has replies that are longer than a message may be refused.
func (s *service) limitReplies() {
	for _, m := range s.methods {
		m.out = limited{m.out, s.maxMessage}
	}
}

// limited writes no message that is longer than may be sent: the error is what the
// caller is told.
type limited struct {
	codec.Binding
	longest int
}

func (b limited) Append(dst []byte, native any) ([]byte, error) {
	out, err := b.Binding.Append(dst, native)
	if err == nil && len(out)-len(dst) > b.longest {
		return dst, protocol.TooLong(b.longest)
	}
	return out, err
}
