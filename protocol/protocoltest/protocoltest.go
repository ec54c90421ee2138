// Package protocoltest is the contract of package protocol as tests, over real
// loopback sockets. A protocol's own test hands it each stack that it can be:
//
//	func TestContract(t *testing.T) {
//		protocoltest.Run(t, x.Protocol{}, protocoltest.Stack{Codec: json.Codec{}})
//	}
//
// It knows no protocol and no codec. What it sends is package conformance.
package protocoltest

import (
	"context"
	"slices"
	"testing"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/compress"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

// Stack is what a protocol is tested with.
type Stack struct {
	Codec      codec.Codec
	Compressor compress.Compressor // nil: none
	Settings   map[string]string   // those that differ from what the protocol declares
	// ConnPerCall says that the settings ask for a connection for each call;
	// otherwise "conns" says how many there are, where the protocol declares it.
	ConnPerCall bool
	// Garbled is a codec whose messages are none of Codec's, where the protocol
	// asks more of its codec than package codec does. Nil: one is made of Codec.
	Garbled codec.Codec
}

// garbled gives a codec whose bytes are no message of any codec's.
func (s Stack) garbled() codec.Codec {
	if s.Garbled != nil {
		return s.Garbled
	}
	return garbled{s.Codec}
}

// Run holds p to the contract.
func Run(t *testing.T, p protocol.Protocol, stack Stack) {
	t.Helper()
	settings, err := setting.Resolve(p.Spec().Settings, stack.Settings)
	if err != nil {
		t.Fatal(err)
	}
	s := &suite{protocol: p, stack: stack, settings: settings}
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			for _, k := range c.needs {
				if err := s.carries(k); err != nil {
					t.Skip(err)
				}
			}
			c.run(t, s)
		})
	}
}

// RefusesEarly holds p to asking an rpc.Refuser before it hands over a short call,
// which the contract leaves to what the protocol's library can do.
func RefusesEarly(t *testing.T, p protocol.Protocol, stack Stack) {
	t.Helper()
	settings, err := setting.Resolve(p.Spec().Settings, stack.Settings)
	if err != nil {
		t.Fatal(err)
	}
	handed := rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
		t.Error("a call that would be refused was handed over")
		return overload
	})
	_, c := (&suite{protocol: p, stack: stack, settings: settings}).start(t, refuser{handed})
	_, err = call(patient(t), c, conformance.Echo, &conformance.EchoRequest{Item: conformance.Ordinary()})
	wantFailure(t, err, overload)
}

// refuser refuses every call, and lets its handler have those about which it was
// not asked.
type refuser struct{ rpc.Handler }

func (refuser) Refuse(*rpc.Method) error { return overload }

// check is one clause of the contract, for protocols that carry what it needs.
type check struct {
	name  string
	needs []rpc.Kind
	run   func(*testing.T, *suite)
}

// Kinds that a check needs.
var (
	unary        = []rpc.Kind{rpc.Unary}
	serverStream = []rpc.Kind{rpc.ServerStream}
	clientStream = []rpc.Kind{rpc.ClientStream}
	bidi         = []rpc.Kind{rpc.Bidi}
)

var checks = slices.Concat(messageChecks, streamChecks, failureChecks, lifetimeChecks, wireChecks, frameChecks, mountChecks, routeChecks, fieldChecks, refusalChecks)
