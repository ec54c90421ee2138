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
	{"a call refused unread leaves its connection for others", unary, refusedUnread(refuses)},
	{"a long call refused unread hears of it", unary, refusedLong(refuses)},
	{"a call refused before it is handed over leaves its connection for others", unary, refusedUnread(early{})},
	{"a long call refused before it is handed over hears of it", unary, refusedLong(early{})},
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

// early refuses as soon as it is asked, which is best, or when it is handed a
// call that nobody asked about.
type early struct{ conformance.Handler }

func (early) Refuse(m *rpc.Method) error {
	if m == conformance.Find {
		return nil
	}
	return overload
}

func (e early) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	if err := e.Refuse(m); err != nil {
		return err
	}
	return e.Handler.Handle(ctx, m, s)
}

func refusedUnread(by rpc.Handler) func(*testing.T, *suite) {
	const calls = 20
	return func(t *testing.T, s *suite) {
		srv, c := s.start(t, by)
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
}

func refusedLong(by rpc.Handler) func(*testing.T, *suite) {
	return func(t *testing.T, s *suite) {
		_, c := s.start(t, by)
		for range 3 {
			in := &conformance.EchoRequest{Item: &conformance.Item{Text: strings.Repeat("a", tooLong)}}
			_, err := call(patient(t), c, conformance.Echo, in)
			wantFailure(t, err, overload)
			wantFound(t, c)
		}
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
