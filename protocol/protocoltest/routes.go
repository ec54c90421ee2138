package protocoltest

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

// routeChecks have requests that stand in paths and queries where there are
// such. Elsewhere they are messages as others are.
var routeChecks = []check{
	{"a request for paths and queries comes equal", unary, find},
	{"a request for a path and a body comes equal", unary, amend},
	{"a stream follows a request for a query", serverStream, follow},
	{"a request without what its path needs is INVALID_ARGUMENT", unary, findNothing},
}

func find(t *testing.T, s *suite) {
	_, c := s.start(t, conformance.Handler{})
	for _, in := range conformance.Asked() {
		out, err := call(patient(t), c, conformance.Find, in)
		named := !s.stack.Codec.Spec().ClosedEnums || !in.Mood.Unnamed() && !slices.ContainsFunc(in.Moods, conformance.Mood.Unnamed)
		if digits := !math.IsNaN(in.Ratio) && !math.IsInf(in.Ratio, 0); err != nil && (!digits || !named) {
			continue // as a codec without a form for it may
		}
		if err != nil {
			t.Fatalf("find %q: %v", in.Name, err)
		}
		wantReplies(t, out, &conformance.FindResponse{Found: in})
	}
}

func amend(t *testing.T, s *suite) {
	_, c := s.start(t, conformance.Handler{})
	for _, item := range []*conformance.Item{nil, {}, conformance.Ordinary()} {
		in := &conformance.AmendRequest{Name: "a/b c?d", Item: item}
		out, err := call(patient(t), c, conformance.Amend, in)
		if err != nil {
			t.Fatal(err)
		}
		wantReplies(t, out, &conformance.AmendResponse{Name: in.Name, Item: item})
		if in.Name != "a/b c?d" || in.Item != item {
			t.Errorf("the caller's message is %v now", in)
		}
	}
}

func follow(t *testing.T, s *suite) {
	_, c := s.start(t, conformance.Handler{})
	after := int64(-3)
	for _, in := range []*conformance.FollowRequest{{}, {Count: 3}, {Count: 100, After: &after}, {Count: 1, After: new(int64)}} {
		out, err := call(patient(t), c, conformance.Follow, in)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(0)
		if in.After != nil {
			n = *in.After
		}
		var want []any
		for range in.Count {
			n++
			want = append(want, &conformance.FollowResponse{Number: n})
		}
		wantReplies(t, out, want...)
	}
}

// findNothing has a request refused by the server's rules, or by the path, in
// which nothing would stand.
func findNothing(t *testing.T, s *suite) {
	_, c := s.start(t, rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, st rpc.Stream) error {
		if _, err := st.Recv(); err != nil {
			return err
		}
		return &rpc.Error{Code: rpc.InvalidArgument, Violations: []rpc.Violation{{Field: "name"}}}
	}))
	_, err := call(patient(t), c, conformance.Find, &conformance.FindRequest{})
	e := wantAnswer(t, err, rpc.InvalidArgument)
	if len(e.Violations) != 1 || e.Violations[0].Field != "name" {
		t.Errorf("violations are %v, want one of name", e.Violations)
	}
}
