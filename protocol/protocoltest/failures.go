package protocoltest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tare-bench/tare/codec"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

var failureChecks = []check{
	{"every code crosses with its message", unary, codes},
	{"what a failure says beside its message crosses", unary, details},
	{"what a failed stream says beside its message crosses", serverStream, streamDetails},
	{"what a failure says beside its message is bounded", unary, boundedDetails},
	{"an error that is not an rpc.Error is UNKNOWN with its text", unary, foreign},
	{"a handler that gives no reply to a unary call is INTERNAL", unary, noReply},
	{"a request that cannot be parsed is INVALID_ARGUMENT", unary, garbage},
	{"a streamed request that cannot be parsed is INVALID_ARGUMENT", clientStream, garbageStream},
	{"a reply that cannot be parsed is an error", unary, garbageReply},
	{"an unknown method is UNIMPLEMENTED or NOT_FOUND", unary, unknownMethod},
}

// failTexts are messages that headers, trailers and JSON get wrong.
var failTexts = []string{
	"",
	"account 7 has no money",
	"Zoë hat kein Geld: 日本語 🜚 \u2028",
	"100% of %20 and %zz, 5 %",
	"\"quoted\" \\ and\r\nover\tlines\x00\x7f",
	" space at both ends ",
}

func codes(t *testing.T, s *suite) {
	_, c := s.start(t, conformance.Handler{})
	for code := rpc.Canceled; code <= rpc.Unauthenticated; code++ {
		for _, text := range failTexts {
			in := &conformance.EchoRequest{FailCode: int32(code), FailMessage: text}
			out, err := call(patient(t), c, conformance.Echo, in)
			if e := wantAnswer(t, err, code); e.Message != text {
				t.Errorf("%s: message is %q, want %q", code, e.Message, text)
			}
			wantReplies(t, out)
		}
	}
}

// detailed are failures that say more than a message.
var detailed = []*rpc.Error{
	{Code: rpc.InvalidArgument, Message: "lines[0].quantity: must be greater than 0, and 1 more", Violations: []rpc.Violation{
		{Field: "lines[0].quantity", Description: "must be greater than 0", Reason: "INT32_GT_LTE"},
		{Field: `counts["Zoë \"日本\"\n"]`, Description: "100% of\r\n<>&", Reason: "X"},
	}},
	{Code: rpc.InvalidArgument, Violations: []rpc.Violation{{Description: "of no field"}}},
	{Code: rpc.ResourceExhausted, Message: " too many calls ", RetryAfter: 50 * time.Millisecond},
	{Code: rpc.Unavailable, Message: "circuit is open", RetryAfter: time.Minute + time.Nanosecond},
	{Code: rpc.FailedPrecondition, Violations: []rpc.Violation{{Field: "a"}}, RetryAfter: time.Second},
	{Code: rpc.NotFound, Message: "no such account"}, // none after one with some
}

func details(t *testing.T, s *suite) {
	next := make(chan *rpc.Error, 1)
	_, c := s.start(t, rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { return <-next }))
	for _, failure := range detailed {
		next <- failure
		_, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{})
		wantFailure(t, err, failure)
	}
}

func streamDetails(t *testing.T, s *suite) {
	next := make(chan *rpc.Error, 1)
	_, c := s.start(t, rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, st rpc.Stream) error {
		if err := st.Send(&conformance.ExpandResponse{}); err != nil {
			return err
		}
		return <-next
	}))
	for _, failure := range detailed {
		next <- failure
		out, err := call(patient(t), c, conformance.Expand, &conformance.ExpandRequest{})
		wantReplies(t, out, &conformance.ExpandResponse{})
		wantFailure(t, err, failure)
	}
}

// boundedDetails has a handler say more than any header holds, and what is not
// text.
func boundedDetails(t *testing.T, s *suite) {
	long := rpc.Violation{Field: strings.Repeat("é", 1e5), Description: strings.Repeat("d", 1e5), Reason: "\xff"}
	failure := &rpc.Error{Code: rpc.InvalidArgument, Message: "\xff", Violations: slices.Repeat([]rpc.Violation{long}, 1e4)}
	_, c := s.start(t, rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { return failure }))
	_, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{})
	e := wantAnswer(t, err, rpc.InvalidArgument)
	if len(e.Violations) == 0 || !strings.HasPrefix(e.Violations[0].Field, "ééé") || e.Message != "\uFFFD" {
		t.Errorf("%d violations of %q, want some", len(e.Violations), e.Message)
	}
}

func wantFailure(t *testing.T, err error, want *rpc.Error) {
	t.Helper()
	got := wantAnswer(t, err, want.Code)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("failure differs (-want +got):\n%s", diff)
	}
}

func foreign(t *testing.T, s *suite) {
	_, c := s.start(t, rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
		return errors.New("disk is full")
	}))
	_, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{})
	if e := wantAnswer(t, err, rpc.Unknown); e.Message != "disk is full" {
		t.Errorf("message is %q", e.Message)
	}
}

func noReply(t *testing.T, s *suite) {
	_, c := s.start(t, rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { return nil }))
	_, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{})
	wantAnswer(t, err, rpc.Internal)
}

func garbage(t *testing.T, s *suite) {
	srv, good := s.start(t, conformance.Handler{})
	o := s.options()
	o.Codec = s.stack.garbled()
	bad := s.dialWith(t, srv.addr(), o)
	_, err := call(patient(t), bad, conformance.Echo, &conformance.EchoRequest{})
	wantAnswer(t, err, rpc.InvalidArgument)
	wantEcho(t, good, conformance.Ordinary())
}

func garbageStream(t *testing.T, s *suite) {
	srv := s.serve(t, conformance.Handler{})
	o := s.options()
	o.Codec = s.stack.garbled()
	bad := s.dialWith(t, srv.addr(), o)
	_, err := call(patient(t), bad, conformance.Collect, &conformance.CollectRequest{})
	wantAnswer(t, err, rpc.InvalidArgument)
}

func garbageReply(t *testing.T, s *suite) {
	o := s.options()
	o.Codec = s.stack.garbled()
	srv := s.serveWith(t, conformance.Handler{}, conformance.Service, o)
	c := s.dial(t, srv.addr())
	out, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{Item: conformance.Ordinary()})
	if err == nil {
		t.Errorf("no error, but %v", out)
	}
}

func unknownMethod(t *testing.T, s *suite) {
	fewer := &rpc.Service{Name: conformance.Service.Name, Methods: []*rpc.Method{conformance.Expand}}
	srv := s.serveWith(t, conformance.Handler{}, fewer, s.options())
	c := s.dial(t, srv.addr())
	_, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{})
	code := rpc.Unimplemented
	if rpc.ErrorOf(err) != nil && rpc.ErrorOf(err).Code == rpc.NotFound {
		code = rpc.NotFound
	}
	wantAnswer(t, err, code)
}

// garbled is a codec whose bytes are no message of any codec's.
type garbled struct{ codec.Codec }

func (g garbled) Bind(t *rpc.Type) (codec.Binding, error) {
	b, err := g.Codec.Bind(t)
	return garbledBinding{b}, err
}

type garbledBinding struct{ codec.Binding }

func (garbledBinding) Append(dst []byte, _ any) ([]byte, error) {
	// Neither JSON nor protobuf: a field number beyond any varint.
	const noise = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
	return append(dst, noise...), nil
}
