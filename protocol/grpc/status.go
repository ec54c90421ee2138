package grpc

import (
	"context"
	"net"
	"regexp"
	"strings"
	"syscall"
	"unicode/utf8"

	statuspb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// statusOf gives a handler's error as grpc-go sends it.
func statusOf(err error) error {
	e := rpc.ErrorOf(err)
	details := protocol.Details(e)
	if len(details) == 0 {
		return status.Error(codes.Code(e.Code), e.Message)
	}
	// Beside details the message goes as a string of protobuf's too.
	s := &statuspb.Status{Code: int32(e.Code), Message: strings.ToValidUTF8(e.Message, string(utf8.RuneError))} //nolint:gosec // a code
	for _, d := range details {
		packed, err := anypb.New(d)
		if err != nil {
			panic("pack texts that are valid UTF-8: " + err.Error())
		}
		s.Details = append(s.Details, packed)
	}
	return status.ErrorProto(s)
}

// answerOf gives an error of grpc-go's as an answer: on the server side the
// caller is gone, or sent what grpc-go refuses.
func answerOf(err error) *rpc.Error {
	s := status.Convert(err)
	e := &rpc.Error{Code: rpc.Code(s.Code()), Message: s.Message()}
	for _, d := range s.Details() { // costs nothing where there are none
		protocol.TakeDetail(e, d)
	}
	return protocol.TooLongAs(e, beyondLimit)
}

// beyondLimit is how grpc-go tells of a message that is too long.
// Source: google.golang.org/grpc v1.85.0, rpc_util.go and stream.go.
var beyondLimit = regexp.MustCompile(`^(?:grpc: )?(?:received message|message after decompression|received message after decompression|trying to send message) larger than max (?:\(\d+ vs\. )?(\d+)\)?$`)

// failureOf gives an error of grpc-go's client side. grpc-go keeps only the
// text of what broke a connection, so what failed is told by that text.
//
// grpc-go itself makes a call anew in two cases, and no more: its stream never
// left the client, or the server said that it had not begun it (GOAWAY,
// REFUSED_STREAM), once. No retry policy is configured. A call that waits for
// a first connection fails with it; one that finds the channel backing off
// after a failure fails at once.
func failureOf(ctx context.Context, err error) error {
	s := status.Convert(err)
	switch code, text := s.Code(), s.Message(); {
	case ctx.Err() != nil && (code == codes.DeadlineExceeded || code == codes.Canceled):
		return rpc.ErrorOf(ctx.Err())
	case code != codes.DeadlineExceeded && hasAnyPrefix(text, broken):
		// The prefix keeps a message that a handler passes on from being taken
		// for a broken connection here, one leg further.
		return &rpc.Error{Code: rpc.Unavailable, Message: "carry call: " + text, Transport: faultOf(text)}
	default:
		return answerOf(err)
	}
}

// broken is how the messages begin that grpc-go's client makes when a
// connection, and not a handler, ends the call.
// Source: google.golang.org/grpc v1.85.0, internal/transport/http2_client.go,
// transport.go and client_stream.go, clientconn.go, rpc_util.go.
var broken = []string{
	"connection error:",
	"error reading from server:",
	"error reading server preface:",
	"closing transport due to:",
	"closing connection since the server is not reading:",
	"transport is closing",
	"the connection is draining",
	"the stream is rejected because server is draining",
	"stream terminated by RST_STREAM",
	"server closed the stream without sending trailers",
	"keepalive ping failed",
	"received goaway",
	"no active streams left",
	"initial http2 frame from server",
	"transport: ",
	"unexpected HTTP status code",
	"malformed header:",
	"a HEADERS frame cannot appear",
	"protocol error:",
	"unexpected EOF",
	"grpc: the client connection is closing",
}

func hasAnyPrefix(text string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// faults says what a message that tells of a broken connection holds.
var faults = []struct {
	text  string
	fault rpc.Fault
}{
	{syscall.ECONNREFUSED.Error(), rpc.Refused},
	{syscall.ECONNRESET.Error(), rpc.Reset},
	{syscall.EPIPE.Error(), rpc.Reset},
	{net.ErrClosed.Error(), rpc.Reset},
	{"EOF", rpc.Reset},
	{"goaway", rpc.Reset},
	{"draining", rpc.Reset},
	{"is closing", rpc.Reset},
	{"RST_STREAM", rpc.Reset},
}

func faultOf(text string) rpc.Fault {
	for _, f := range faults {
		if strings.Contains(text, f.text) {
			return f.fault
		}
	}
	return rpc.Protocol
}
