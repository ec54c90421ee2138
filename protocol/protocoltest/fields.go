package protocoltest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

var fieldChecks = []check{
	{"the header fields that are named cross with every kind of call", nil, beside(fieldsCross)},
	{"header fields that are not named do not cross", unary, otherFields},
	{"a header field that no header can hold is INVALID_ARGUMENT", unary, beside(badFields)},
	{"a name that is no field's own is an error", nil, badNames},
	{"what is said not to cross does not", unary, nothingBeside},
}

var crossing = []string{"traceparent", "authorization", "x-request-id", "baggage"}

// carried are the fields of one call, and more than a header's usual length.
var carried = []rpc.Field{
	{Name: "traceparent", Value: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	{Name: "authorization", Value: `Bearer a.b-c/d+e~= "f", g; h\`},
	{Name: "baggage", Value: strings.Repeat("k=v,", 2047) + "k=v"},
}

func (s *suite) crossingOptions() protocol.Options {
	o := s.options()
	o.Fields = crossing
	return o
}

// telling answers as h does, and tells which fields came with each call.
func telling(h rpc.Handler) (rpc.Handler, <-chan []rpc.Field) {
	told := make(chan []rpc.Field, 1)
	return rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, st rpc.Stream) error {
		told <- rpc.FieldsIn(ctx)
		return h.Handle(ctx, m, st)
	}), told
}

func fieldsCross(t *testing.T, s *suite) {
	h, told := telling(conformance.Handler{})
	srv := s.serveWith(t, h, conformance.Service, s.crossingOptions())
	c := s.dialWith(t, srv.addr(), s.crossingOptions())
	ctx := rpc.WithFieldsOut(patient(t), append(carried, rpc.Field{Name: "x-other", Value: "a"})...)
	for _, m := range conformance.Service.Methods {
		if s.carries(m.Kind) != nil {
			continue
		}
		in := m.In.New()
		switch in := in.(type) {
		case *conformance.FindRequest:
			in.Name = "a"
		case *conformance.AmendRequest:
			in.Name = "a"
		}
		if _, err := call(ctx, c, m, in); err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		if got := await(t, told, "the handler"); !slices.Equal(byName(got), byName(carried)) {
			t.Errorf("%s came with %.300v, want %.300v", m.Name, got, carried)
		}
	}
	if _, err := call(patient(t), c, conformance.Echo, &conformance.EchoRequest{}); err != nil {
		t.Fatal(err)
	}
	if got := await(t, told, "the handler"); len(got) != 0 {
		t.Errorf("a call without fields came with %v", got)
	}
}

func byName(fields []rpc.Field) []rpc.Field {
	return slices.SortedFunc(slices.Values(fields), func(a, b rpc.Field) int { return strings.Compare(a.Name, b.Name) })
}

func otherFields(t *testing.T, s *suite) {
	h, told := telling(conformance.Handler{})
	for name, sides := range map[string][2]protocol.Options{
		"the client": {s.crossingOptions(), s.options()},
		"the server": {s.options(), s.crossingOptions()},
	} {
		srv := s.serveWith(t, h, conformance.Service, sides[0])
		c := s.dialWith(t, srv.addr(), sides[1])
		if _, err := call(rpc.WithFieldsOut(patient(t), carried...), c, conformance.Echo, &conformance.EchoRequest{}); err != nil {
			t.Fatal(err)
		}
		if got := await(t, told, "the handler"); len(got) != 0 {
			t.Errorf("%s names no fields, and %v came", name, got)
		}
	}
}

func badFields(t *testing.T, s *suite) {
	srv := s.serveWith(t, conformance.Handler{}, conformance.Service, s.crossingOptions())
	c := s.dialWith(t, srv.addr(), s.crossingOptions())
	for _, value := range []string{"a\r\nx-evil: b", "a\x00", "Zoë", " a", strings.Repeat("a", 8193)} {
		ctx := rpc.WithFieldsOut(patient(t), rpc.Field{Name: "x-request-id", Value: value})
		_, err := call(ctx, c, conformance.Echo, &conformance.EchoRequest{})
		if e := wantAnswer(t, err, rpc.InvalidArgument); !strings.Contains(e.Message, "x-request-id") {
			t.Errorf("the error does not name the field: %v", e)
		}
	}
	wantEcho(t, c, conformance.Ordinary())
}

// nothingBeside holds a protocol to a lack that it declares, so that it declares
// none that it has not.
func nothingBeside(t *testing.T, s *suite) {
	if s.protocol.Spec().CanCross(s.settings) == nil {
		t.Skip("deadlines and fields cross")
	}
	came := make(chan int, 1)
	srv := s.serveWith(t, rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, st rpc.Stream) error {
		n := len(rpc.FieldsIn(ctx))
		if _, ok := ctx.Deadline(); ok {
			n++
		}
		came <- n
		return conformance.Handler{}.Handle(ctx, m, st)
	}), conformance.Service, s.crossingOptions())
	c := s.dialWith(t, srv.addr(), s.crossingOptions())
	if _, err := call(rpc.WithFieldsOut(patient(t), carried...), c, conformance.Echo, &conformance.EchoRequest{}); err != nil {
		t.Fatal(err)
	}
	if n := await(t, came, "the handler"); n != 0 {
		t.Errorf("%d fields and deadlines came, and none is said to cross", n)
	}
}

func badNames(t *testing.T, s *suite) {
	for _, name := range []string{"", "X-Request-Id", "x request", "grpc-timeout", "content-type", "connect-protocol-version", "te", "trace-bin"} {
		o := s.options()
		o.Fields = []string{name}
		if c, err := s.protocol.Dial(t.Context(), "127.0.0.1:1", conformance.Service, o); err == nil {
			_ = c.Close()
			t.Errorf("a client takes %q for a field", name)
		}
		if err := s.protocol.Serve(t.Context(), listen(t), conformance.Service, conformance.Handler{}, o); err == nil {
			t.Errorf("a server takes %q for a field", name)
		}
	}
}
