package observe

import (
	"context"
	"net"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/tare-bench/tare/rpc"
)

// tracing makes spans. A nil one makes none, and costs nothing.
type tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// propagator is W3C's: traceparent, tracestate and baggage.
var propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// serve begins the span of a call that came in. It is nil where tracing is off.
func (t *tracing) serve(ctx context.Context, m *rpc.Method) (context.Context, trace.Span) {
	if t == nil {
		return ctx, nil
	}
	ctx = propagator.Extract(ctx, incoming(ctx))
	attrs := []attribute.KeyValue{semconv.RPCMethod(m.Path()[1:])}
	if host, port, ok := split(peerOf(ctx)); ok {
		attrs = append(attrs, semconv.NetworkPeerAddress(host), semconv.NetworkPeerPort(port))
	}
	return t.tracer.Start(ctx, m.Path()[1:],
		trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attrs...))
}

// call begins the span of an attempt to call another service.
func (t *tracing) call(ctx context.Context, m *rpc.Method, r remote) (context.Context, trace.Span) {
	if t == nil {
		return ctx, nil
	}
	return t.tracer.Start(ctx, m.Path()[1:], trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(r...), trace.WithAttributes(semconv.RPCMethod(m.Path()[1:])))
}

// Remote says whom a connection leads to, for traces.
type Remote struct {
	System string // protocol, as OpenTelemetry or its stack spells it
	Addr   string // host and port
}

type remote []attribute.KeyValue

func (r Remote) attributes() (all remote) {
	if r.System != "" {
		all = append(all, semconv.RPCSystemNameKey.String(r.System))
	}
	if host, port, ok := split(r.Addr); ok {
		all = append(all, semconv.ServerAddress(host), semconv.ServerPort(port))
	}
	return all
}

func split(addr string) (host string, port int, ok bool) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return "", 0, false
	}
	port, err = strconv.Atoi(service)
	return host, port, err == nil
}

// faults are the codes that make a span one of an error.
type faults func(rpc.Code) bool

// serverFaults are those that a server is to blame for.
// Source: OpenTelemetry's semantic conventions for gRPC, "server".
func serverFaults(c rpc.Code) bool {
	switch c {
	case rpc.Unknown, rpc.DeadlineExceeded, rpc.Unimplemented, rpc.Internal, rpc.Unavailable, rpc.DataLoss:
		return true
	}
	return false
}

// allFaults are those of a client's span.
func allFaults(c rpc.Code) bool { return c != rpc.OK }

func endSpan(span trace.Span, err error, code rpc.Code, isFault faults) {
	if span == nil {
		return
	}
	span.SetAttributes(semconv.RPCResponseStatusCode(code.String()))
	if isFault(code) {
		span.SetAttributes(semconv.ErrorTypeKey.String(code.String()))
		span.SetStatus(otelcodes.Error, cause(err, code))
	}
	span.End()
}
