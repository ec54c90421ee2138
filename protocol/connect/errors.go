package connect

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// sendable gives a handler's error as connect sends it: the two number codes
// alike.
func sendable(err error) *connect.Error {
	e := rpc.ErrorOf(err)
	out := connect.NewError(connect.Code(e.Code), errors.New(e.Message))
	if details := protocol.Details(e); len(details) > 0 {
		return withDetails(out, details)
	}
	if strings.TrimSpace(e.Message) != e.Message {
		// The trailer of gRPC-Web loses space at a message's ends. With a detail
		// the message goes in binary form too, which is read first.
		out.AddDetail(noDetail)
	}
	return out
}

// withDetails gives e with details. gRPC-Web then sends its message as a string
// of protobuf's too.
func withDetails(e *connect.Error, details []proto.Message) *connect.Error {
	if text := strings.ToValidUTF8(e.Message(), string(utf8.RuneError)); text != e.Message() {
		e = connect.NewError(e.Code(), errors.New(text))
	}
	for _, d := range details {
		packed, err := connect.NewErrorDetail(d)
		if err != nil {
			panic("pack texts that are valid UTF-8: " + err.Error())
		}
		e.AddDetail(packed)
	}
	return e
}

// wholeAnswer is sendable for a call whose failure Connect answers with a status
// of HTTP, which says when to try again in HTTP's way too.
func wholeAnswer(err error, peer connect.Peer) error {
	out := sendable(err)
	if wait := rpc.ErrorOf(err).RetryAfter; wait > 0 && peer.Protocol == connect.ProtocolConnect {
		out.Meta().Set(protocol.RetryAfterField, protocol.FormatRetryAfter(wait))
	}
	return out
}

// noDetail is an empty detail; making one of an empty message cannot fail.
var noDetail, _ = connect.NewErrorDetail(new(emptypb.Empty))

// answerOf gives an error of connect's as an answer.
func answerOf(err error) *rpc.Error {
	var e *connect.Error
	if !errors.As(err, &e) {
		return rpc.ErrorOf(err)
	}
	out := &rpc.Error{Code: rpc.Code(e.Code()), Message: e.Message()}
	for _, d := range e.Details() {
		if detail, err := d.Value(); err == nil { // else of a type unknown here
			protocol.TakeDetail(out, detail)
		}
	}
	if out.RetryAfter == 0 && connect.IsWireError(err) {
		// What stands before a server answers in HTTP's way alone.
		out.RetryAfter = protocol.ParseRetryAfter(e.Meta().Get(protocol.RetryAfterField), e.Meta().Get("Date"), time.Now())
	}
	return protocol.TooLongAs(out, beyondLimit)
}

// beyondLimit is how connect tells of a message that is too long.
// Source: connectrpc.com/connect v1.21.1, envelope.go and protocol_connect.go.
var beyondLimit = regexp.MustCompile(`^(?:compressed )?message (?:size \d+ )?(?:is larger than configured max|exceeds sendMaxBytes) (\d+)`)

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
