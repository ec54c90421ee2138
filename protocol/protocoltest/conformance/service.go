// Package conformance is the service that contract tests carry: one method of
// each kind, a message with each shape of field that codecs get wrong, and
// methods whose routes name fields. Its schema is tare.conformance.v1; its
// messages are plain structs.
//
// It knows no protocol and no codec. protocoltest, codectest and the twins of
// protocols use it.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tare-bench/tare/rpc"
)

const name = "tare.conformance.v1.ConformanceService"

// The methods, one of each kind.
var (
	// Echo answers with what it was sent, fails as it was asked to, or hangs
	// until its caller gives up.
	Echo = &rpc.Method{
		Service: name, Name: "Echo", Kind: rpc.Unary, Route: "POST /v1/echo",
		In:  rpc.NewType(echoRequestToProto, echoRequestFromProto),
		Out: rpc.NewType(echoResponseToProto, echoResponseFromProto),
	}
	// Expand answers with copies of its item, then fails if it was asked to.
	Expand = &rpc.Method{
		Service: name, Name: "Expand", Kind: rpc.ServerStream, Route: "POST /v1/expand",
		In:  rpc.NewType(expandRequestToProto, expandRequestFromProto),
		Out: rpc.NewType(expandResponseToProto, expandResponseFromProto),
	}
	// Collect answers with how many items came, and the last.
	Collect = &rpc.Method{
		Service: name, Name: "Collect", Kind: rpc.ClientStream, Route: "POST /v1/collect",
		In:  rpc.NewType(collectRequestToProto, collectRequestFromProto),
		Out: rpc.NewType(collectResponseToProto, collectResponseFromProto),
	}
	// Converse answers each item as it comes.
	Converse = &rpc.Method{
		Service: name, Name: "Converse", Kind: rpc.Bidi, Route: "POST /v1/converse",
		In:  rpc.NewType(converseRequestToProto, converseRequestFromProto),
		Out: rpc.NewType(converseResponseToProto, converseResponseFromProto),
	}
)

// Service is the conformance service.
var Service = &rpc.Service{Name: name, Methods: []*rpc.Method{Echo, Expand, Collect, Converse, Find, Amend, Follow}}

// Handler answers Service.
type Handler struct{}

// Handle answers one call.
func (Handler) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	switch m {
	case Echo:
		return echo(ctx, s)
	case Expand:
		return expand(s)
	case Collect:
		return collect(s)
	case Converse:
		return converse(s)
	case Find:
		return find(s)
	case Amend:
		return amend(s)
	case Follow:
		return follow(s)
	}
	return rpc.Errorf(rpc.Unimplemented, "no method %s", m.Path())
}

func echo(ctx context.Context, s rpc.Stream) error {
	in, err := receive[*EchoRequest](s)
	if err != nil {
		return err
	}
	if in.Hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if in.FailCode != 0 {
		return &rpc.Error{Code: rpc.Code(in.FailCode), Message: in.FailMessage}
	}
	return s.Send(&EchoResponse{Item: in.Item})
}

func expand(s rpc.Stream) error {
	in, err := receive[*ExpandRequest](s)
	if err != nil {
		return err
	}
	for range in.Count {
		if err := s.Send(&ExpandResponse{Item: in.Item}); err != nil {
			return err
		}
	}
	if in.FailCode != 0 {
		return rpc.Errorf(rpc.Code(in.FailCode), "after %d", in.Count)
	}
	return nil
}

func collect(s rpc.Stream) error {
	out := &CollectResponse{}
	for {
		in, err := receive[*CollectRequest](s)
		if errors.Is(err, io.EOF) {
			return s.Send(out)
		}
		if err != nil {
			return err
		}
		out.Count, out.Last = out.Count+1, in.Item
	}
}

func converse(s rpc.Stream) error {
	for {
		in, err := receive[*ConverseRequest](s)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.Send(&ConverseResponse{Item: in.Item}); err != nil {
			return err
		}
	}
}

func receive[P any](s rpc.Stream) (P, error) {
	var none P
	in, err := s.Recv()
	if err != nil {
		return none, err
	}
	p, ok := in.(P)
	if !ok {
		return none, fmt.Errorf("receive %T: want %T", in, none)
	}
	return p, nil
}
