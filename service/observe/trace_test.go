package observe_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	codecjson "github.com/tare-bench/tare/codec/json"
	codecproto "github.com/tare-bench/tare/codec/proto"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/connect"
	"github.com/tare-bench/tare/protocol/grpc"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/protocol/rest"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/observe"
	"github.com/tare-bench/tare/setting"
)

// spans keeps what it is sent, in the order in which spans ended.
type spans struct {
	mu  sync.Mutex
	all tracetest.SpanStubs
}

func (s *spans) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, tracetest.SpanStubsFromReadOnlySpans(spans)...)
	return nil
}

func (*spans) Shutdown(context.Context) error { return nil }

// of gives the one span of a kind, once its observer is closed.
func (s *spans) of(t *testing.T, kind trace.SpanKind) tracetest.SpanStub {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	found := slices.DeleteFunc(slices.Clone(s.all), func(one tracetest.SpanStub) bool { return one.SpanKind != kind })
	if len(found) != 1 {
		t.Fatalf("%d spans of kind %s, want one: %+v", len(found), kind, s.all)
	}
	return found[0]
}

// traced gives an observer, and a function that closes it and gives its spans.
func traced(t *testing.T, c observe.Config) (*observe.Observer, func() *spans) {
	t.Helper()
	kept := &spans{}
	c.Spans = kept
	o, err := observe.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return o, func() *spans {
		t.Helper()
		if err := o.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		return kept
	}
}

// What a caller's trace looks like.
const (
	callersTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	callersSpan  = "00f067aa0ba902b7"
	callersState = "vendor=opaque"
	callersBag   = "tenant=blue"
	callersID    = "req-4711"
)

var callersFields = []rpc.Field{
	{Name: "traceparent", Value: "00-" + callersTrace + "-" + callersSpan + "-01"},
	{Name: "tracestate", Value: callersState},
	{Name: "baggage", Value: callersBag},
	{Name: "x-request-id", Value: callersID},
}

func TestSpanSaysWhatBecameOfACall(t *testing.T) {
	for code, test := range map[rpc.Code]struct{ server, client otelcodes.Code }{
		rpc.OK:       {otelcodes.Unset, otelcodes.Unset},
		rpc.NotFound: {otelcodes.Unset, otelcodes.Error}, // the caller's mistake, not the server's
		rpc.Internal: {otelcodes.Error, otelcodes.Error},
	} {
		o, closed := traced(t, observe.Config{})
		back := o.Client(conformance.Handler{}, observe.Remote{System: "grpc", Addr: "192.0.2.1:443"}, conformance.Service)
		ctx := rpc.WithPeer(t.Context(), "192.0.2.2:4711")
		_ = echoed(ctx, o.Server(back, conformance.Service), code)
		kept := closed()
		server, client := kept.of(t, trace.SpanKindServer), kept.of(t, trace.SpanKindClient)
		if server.Parent.IsValid() || client.Parent.SpanID() != server.SpanContext.SpanID() {
			t.Errorf("the attempt is not below the call: %v", client.Parent)
		}
		for _, span := range []tracetest.SpanStub{server, client} {
			if want := "tare.conformance.v1.ConformanceService/Echo"; span.Name != want {
				t.Errorf("the span is %q, want %q", span.Name, want)
			}
			wantAttribute(t, span, "rpc.method", "tare.conformance.v1.ConformanceService/Echo")
			wantAttribute(t, span, "rpc.response.status_code", code.String())
		}
		if server.Status.Code != test.server || client.Status.Code != test.client {
			t.Errorf("%s is %v to the server and %v to the client", code, server.Status.Code, client.Status.Code)
		}
		wantAttribute(t, server, "network.peer.address", "192.0.2.2")
		wantAttribute(t, client, "server.address", "192.0.2.1")
		wantAttribute(t, client, "server.port", "443")
		wantAttribute(t, client, "rpc.system.name", "grpc")
		if code == rpc.NotFound && client.Status.Description != "" {
			t.Errorf("the span tells what was sent: %q", client.Status.Description)
		}
	}
}

func wantAttribute(t *testing.T, span tracetest.SpanStub, name, value string) {
	t.Helper()
	i := slices.IndexFunc(span.Attributes, func(a attribute.KeyValue) bool { return string(a.Key) == name })
	if i < 0 || span.Attributes[i].Value.String() != value {
		t.Errorf("%s is not %q, in %v", name, value, span.Attributes)
	}
}

func TestPanicEndsItsSpan(t *testing.T) {
	o, closed := traced(t, observe.Config{})
	_ = echoed(t.Context(), o.Server(rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error { panic("x") })), rpc.OK)
	if span := closed().of(t, trace.SpanKindServer); span.Status.Code != otelcodes.Error {
		t.Errorf("the span of a panic ended with %v", span.Status)
	}
}

func TestExemplarLeadsToATrace(t *testing.T) {
	o, _ := traced(t, observe.Config{})
	_ = echoed(rpc.WithFieldsIn(t.Context(), callersFields), o.Server(conformance.Handler{}, conformance.Service), rpc.OK)
	text := scrape(t, o, "application/openmetrics-text; version=1.0.0")
	wantSubstring(t, line{"metrics": text}, "metrics", `# {trace_id="`+callersTrace+`"}`)
}

// stack is a protocol with a codec.
type stack struct {
	protocol protocol.Protocol
	options  protocol.Options
}

// stacks are those that a call and its trace must look the same on.
func stacks(t *testing.T) map[string]stack {
	t.Helper()
	all := map[string]stack{
		"rest":     {rest.New(), protocol.Options{Codec: codecjson.Codec{}}},
		"grpc":     {grpc.New(), protocol.Options{Codec: codecproto.Codec{}}},
		"connect":  {connect.New(), protocol.Options{Codec: codecproto.Codec{}}},
		"grpc-web": {connect.NewWeb(), protocol.Options{Codec: codecproto.Codec{}}},
	}
	for name, s := range all {
		settings, err := setting.Resolve(s.protocol.Spec().Settings, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.options.Settings, s.options.InFlight, s.options.MaxMessage = settings, 1, protocol.DefaultMaxMessage
		s.options.Fields = observe.Fields
		s.options.DialContext = new(net.Dialer).DialContext
		all[name] = s
	}
	return all
}

// serve has h answer over the stack until the test ends, and gives a connection
// to it and its address.
func (s stack) serve(t *testing.T, h rpc.Handler) (rpc.Handler, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.protocol.Serve(ctx, l, conformance.Service, h, s.options) }()
	conn, err := s.protocol.Dial(ctx, l.Addr().String(), conformance.Service, s.options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return conn, l.Addr().String()
}

// TestOneTraceHoldsAllServices has a driver call one service that calls another,
// each with an observer of its own.
func TestOneTraceHoldsAllServices(t *testing.T) {
	for name, s := range stacks(t) {
		t.Run(name, func(t *testing.T) {
			var backsFields []rpc.Field
			backLines, backLog := logLines(t, "debug")
			back, backClosed := traced(t, observe.Config{Log: backLog, RequestIDs: true})
			toBack, backAddr := s.serve(t, back.Server(rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, st rpc.Stream) error {
				backsFields = rpc.FieldsIn(ctx)
				return conformance.Handler{}.Handle(ctx, m, st)
			}), conformance.Service))

			frontLines, frontLog := logLines(t, "debug")
			front, frontClosed := traced(t, observe.Config{Log: frontLog, RequestIDs: true})
			toFront, _ := s.serve(t, front.Server(
				front.Client(toBack, observe.Remote{Addr: backAddr}, conformance.Service), conformance.Service))

			if err := echoed(rpc.WithFieldsOut(t.Context(), callersFields...), toFront, rpc.NotFound); rpc.ErrorOf(err).Code != rpc.NotFound {
				t.Fatal(err)
			}
			spansOfFront, spansOfBack := frontClosed(), backClosed()
			chain := []tracetest.SpanStub{
				spansOfFront.of(t, trace.SpanKindServer), spansOfFront.of(t, trace.SpanKindClient), spansOfBack.of(t, trace.SpanKindServer),
			}
			parent := callersSpan
			for i, span := range chain {
				if got := span.SpanContext.TraceID().String(); got != callersTrace {
					t.Errorf("span %d is in trace %s, want the caller's", i, got)
				}
				if got := span.Parent.SpanID().String(); got != parent {
					t.Errorf("span %d is below %s, want %s", i, got, parent)
				}
				if got := span.SpanContext.TraceState().String(); got != callersState {
					t.Errorf("span %d has state %q, want the caller's", i, got)
				}
				parent = span.SpanContext.SpanID().String()
			}
			for name, value := range map[string]string{"baggage": callersBag, "x-request-id": callersID} {
				if i := slices.IndexFunc(backsFields, func(f rpc.Field) bool { return f.Name == name }); i < 0 || backsFields[i].Value != value {
					t.Errorf("%s does not come through: %v", name, backsFields)
				}
			}
			for service, lines := range map[string][]line{"front": frontLines(), "back": backLines()} {
				last := lines[len(lines)-1]
				want(t, last, "code", "NOT_FOUND", "trace_id", callersTrace, "request_id", callersID)
				if last["span_id"] == nil {
					t.Errorf("%s does not log its span: %v", service, last)
				}
			}
		})
	}
}

func TestServiceThatDoesNotTracePassesTheTraceOn(t *testing.T) {
	lines, log := logLines(t, "info")
	var passed []rpc.Field
	o := newObserver(t, observe.Config{Log: log})
	h := o.Server(o.Client(rpc.HandlerFunc(func(ctx context.Context, _ *rpc.Method, _ rpc.Stream) error {
		passed = rpc.FieldsOut(ctx)
		return rpc.Errorf(rpc.NotFound, "no")
	}), observe.Remote{}))
	_ = echoed(rpc.WithFieldsIn(t.Context(), callersFields), h, rpc.OK)
	if !slices.Equal(passed, callersFields) {
		t.Errorf("what is sent on: %v, want what came: %v", passed, callersFields)
	}
	want(t, lines()[0], "trace_id", callersTrace, "span_id", callersSpan, "request_id", callersID)
}

func TestRequestIDIsMadeOnceAndSentOn(t *testing.T) {
	lines, log := logLines(t, "info")
	var sent []string
	o := newObserver(t, observe.Config{Log: log, RequestIDs: true})
	next := o.Client(rpc.HandlerFunc(func(ctx context.Context, _ *rpc.Method, _ rpc.Stream) error {
		for _, f := range rpc.FieldsOut(ctx) {
			sent = append(sent, f.Value)
		}
		return nil
	}), observe.Remote{})
	h := o.Server(rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
		_ = next.Handle(ctx, m, s)
		_ = next.Handle(ctx, m, s)
		o.Log().InfoContext(ctx, "by the way")
		return rpc.Errorf(rpc.NotFound, "no")
	}))
	for range 2 {
		sent = nil
		_ = echoed(t.Context(), h, rpc.OK)
		got := lines()
		if len(sent) != 2 || len(sent[0]) != 32 || sent[0] != sent[1] {
			t.Fatalf("sent %q, want one ID twice", sent)
		}
		want(t, got[0], "msg", "by the way", "request_id", sent[0])
		want(t, got[1], "msg", "call failed", "request_id", sent[0])
	}
	first := sent[0]
	_ = echoed(t.Context(), h, rpc.OK)
	if sent[2] == first {
		t.Error("two calls have one ID")
	}
	sent = nil
	long := rpc.WithFieldsIn(t.Context(), []rpc.Field{{Name: "x-request-id", Value: strings.Repeat("a", 129)}})
	_ = echoed(long, h, rpc.OK)
	if len(sent) != 2 || len(sent[0]) != 32 {
		t.Errorf("an ID of 129 bytes is sent on as %q", sent)
	}
}

func TestCountsAreTheSameForEveryProtocol(t *testing.T) {
	counted := map[string]string{}
	for name, s := range stacks(t) {
		o := newObserver(t, observe.Config{})
		conn, _ := s.serve(t, o.Server(conformance.Handler{}, conformance.Service))
		c := o.Client(conn, observe.Remote{}, conformance.Service)
		for _, code := range []rpc.Code{rpc.OK, rpc.OK, rpc.InvalidArgument, rpc.Unavailable, rpc.DataLoss} {
			if err := echoed(t.Context(), c, code); code != rpc.OK && rpc.ErrorOf(err).Code != code {
				t.Errorf("%s: %v, want %s", name, err, code)
			}
		}
		in := []any{&conformance.ExpandRequest{Item: conformance.Ordinary(), Count: 3, FailCode: int32(rpc.Aborted)}}
		_ = rpc.Call(t.Context(), c, conformance.Expand, in, func(any) error { return nil })
		text := scrape(t, o, "")
		for _, metric := range []string{"started_total", "handled_total", "in_flight", "handling_seconds_count"} {
			counted[name] += only(text, "rpc_server_"+metric) + only(text, "rpc_client_"+metric)
		}
		wantSeries(t, o, `rpc_server_handled_total{code="ABORTED",method="Expand",service="tare.conformance.v1.ConformanceService"} 1`,
			`rpc_client_handled_total{code="OK",method="Echo",service="tare.conformance.v1.ConformanceService"} 2`)
	}
	for name, text := range counted {
		if text != counted["rest"] {
			t.Errorf("%s counts\n%s\nand rest\n%s", name, text, counted["rest"])
		}
	}
}
