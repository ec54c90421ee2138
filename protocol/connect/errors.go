package connect

import (
	"context"
	"errors"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/tare-bench/tare/rpc"
)

// sendable gives a handler's error as connect sends it: the two number codes
// alike.
func sendable(err error) error {
	e := rpc.ErrorOf(err)
	out := connect.NewError(connect.Code(e.Code), errors.New(e.Message))
	if strings.TrimSpace(e.Message) != e.Message {
		// The trailer of gRPC-Web loses space at a message's ends. With a detail
		// the message goes in binary form too, which is read first.
		out.AddDetail(noDetail)
	}
	return out
}

// noDetail is an empty detail; making one of an empty message cannot fail.
var noDetail, _ = connect.NewErrorDetail(new(emptypb.Empty))

// answerOf gives an error of connect's as an answer.
func answerOf(err error) *rpc.Error {
	var e *connect.Error
	if errors.As(err, &e) {
		return &rpc.Error{Code: rpc.Code(e.Code()), Message: e.Message()}
	}
	return rpc.ErrorOf(err)
}

// failureOf gives an error of connect's client side. What the server sent is
// an answer; what connect made itself is read from the code or, where a
// connection failed, from the error that it wraps: connect calls a reset
// connection "cancelled".
func failureOf(ctx context.Context, err error) error {
	if connect.IsWireError(err) {
		return answerOf(err)
	}
	if ctx.Err() != nil {
		return rpc.ErrorOf(ctx.Err())
	}
	if unsent := (encodeError{}); errors.As(err, &unsent) {
		return rpc.Errorf(rpc.Internal, "encode request: %v", unsent)
	}
	switch e := answerOf(err); e.Code {
	case rpc.ResourceExhausted, rpc.Unimplemented, rpc.PermissionDenied, rpc.Unauthenticated:
		return e // a reply beyond the limit; an HTTP status without an error
	case rpc.InvalidArgument:
		return &rpc.Error{Code: rpc.Internal, Message: "parse reply: " + e.Message, Transport: rpc.Protocol}
	}
	return rpc.TransportError(ctx, err)
}
