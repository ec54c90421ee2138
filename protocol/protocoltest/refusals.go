package protocoltest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

// refusalChecks have calls refused before their requests are asked for, as a
// server does that has more to do than it can.
var refusalChecks = []check{
	{"a call refused unread leaves its connection for others", unary, refusedUnread},
	{"a long call refused unread hears of it", unary, refusedLong},
	{"a stream refused unread hears of it", serverStream, refusedStream},
	{"a caller's stream refused unread hears of it", clientStream, refusedUpload},
}

var overload = &rpc.Error{Code: rpc.ResourceExhausted, Message: "too many calls", RetryAfter: 250 * time.Millisecond}

// refuses refuses every call but those of Find.
var refuses = rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, st rpc.Stream) error {
	if m == conformance.Find {
		return conformance.Handler{}.Handle(ctx, m, st)
	}
	return overload
})

func refusedUnread(t *testing.T, s *suite) {
	const calls = 20
	srv, c := s.start(t, refuses)
	refused := func() {
		for range calls {
			_, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{Item: conformance.Ordinary()})
			wantFailure(t, err, overload)
		}
	}
	refused()
	before := srv.accepted.Load()
	refused()
	if after := srv.accepted.Load(); after != before && !s.stack.ConnPerCall {
		t.Errorf("%d more calls took %d more connections", calls, after-before)
	}
	wantFound(t, c)
}

func refusedLong(t *testing.T, s *suite) {
	_, c := s.start(t, refuses)
	for range 3 {
		in := &conformance.EchoRequest{Item: &conformance.Item{Text: strings.Repeat("a", tooLong)}}
		_, err := call(patient(t), c, conformance.Echo, in)
		wantFailure(t, err, overload)
		wantFound(t, c)
	}
}

func refusedStream(t *testing.T, s *suite) {
	_, c := s.start(t, refuses)
	_, err := call(patient(t), c, conformance.Expand, &conformance.ExpandRequest{Item: conformance.Ordinary(), Count: 1})
	wantFailure(t, err, overload)
	wantFound(t, c)
}

func refusedUpload(t *testing.T, s *suite) {
	_, c := s.start(t, refuses)
	err := c.Handle(patient(t), conformance.Collect, &scripted{recv: func(int) (any, error) {
		return &conformance.CollectRequest{Item: conformance.Ordinary()}, nil // without end
	}})
	wantFailure(t, err, overload)
	wantFound(t, c)
}

func wantFound(t *testing.T, c rpc.Handler) {
	t.Helper()
	if _, err := call(patient(t), c, conformance.Find, &conformance.FindRequest{Name: "a"}); err != nil {
		t.Fatalf("find: %v", err)
	}
}
