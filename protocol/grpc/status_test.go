package grpc

import (
	"context"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tare-bench/tare/rpc"
)

func TestFailureOf(t *testing.T) {
	for _, c := range []struct {
		name  string
		code  codes.Code
		text  string
		want  rpc.Code
		fault rpc.Fault
	}{
		{"an answer", codes.NotFound, "no such account", rpc.NotFound, rpc.NoFault},
		{"an answer that a service is down", codes.Unavailable, "store is down", rpc.Unavailable, rpc.NoFault},
		{"nobody listens", codes.Unavailable,
			`connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`,
			rpc.Unavailable, rpc.Refused},
		{"cut while it waits", codes.Unavailable, "error reading from server: EOF", rpc.Unavailable, rpc.Reset},
		{"cut after GOAWAY", codes.Unavailable,
			`closing transport due to: connection error: desc = "error reading from server: EOF", received prior goaway: code: NO_ERROR`,
			rpc.Unavailable, rpc.Reset},
		{"a stream that the server reset", codes.Internal,
			"stream terminated by RST_STREAM with error code: PROTOCOL_ERROR", rpc.Unavailable, rpc.Reset},
		{"not gRPC", codes.Unimplemented,
			`unexpected HTTP status code received from server: 404 (Not Found); transport: received unexpected content-type "text/html"`,
			rpc.Unavailable, rpc.Protocol},
		{"a message beyond the limit", codes.ResourceExhausted, "grpc: received message larger than max (5 vs. 4)",
			rpc.ResourceExhausted, rpc.NoFault},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := rpc.ErrorOf(failureOf(context.Background(), status.Error(c.code, c.text)))
			if got.Code != c.want || got.Transport != c.fault {
				t.Fatalf("got %v with fault %q, want %s with %q", got, got.Transport, c.want, c.fault)
			}
		})
	}
}

// TestForwardedFailureIsAnAnswer has a service pass on what its own call met: to
// its caller that is an answer, as the caller's connection holds.
func TestForwardedFailureIsAnAnswer(t *testing.T) {
	inner := failureOf(context.Background(), status.Error(codes.Unavailable, "error reading from server: EOF"))
	outer := rpc.ErrorOf(failureOf(context.Background(), statusOf(inner)))
	if outer.Code != rpc.Unavailable || outer.Transport != rpc.NoFault {
		t.Errorf("got %v with fault %q, want an answer", outer, outer.Transport)
	}
}
