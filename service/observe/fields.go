package observe

import (
	"context"

	"go.opentelemetry.io/otel/trace"

	"github.com/tare-bench/tare/rpc"
)

// The header fields that tie calls together.
// Source: w3.org/TR/trace-context, w3.org/TR/baggage; the request ID's is custom.
const (
	traceparent    = "traceparent"
	tracestate     = "tracestate"
	baggageField   = "baggage"
	requestIDField = "x-request-id"
)

// Fields are the header fields that must cross with calls, both ways of a
// service: it reads them from its callers and sends them where it calls.
var Fields = []string{traceparent, tracestate, baggageField, requestIDField}

// carrier is some fields as OpenTelemetry reads and writes them.
type carrier []rpc.Field

func (c *carrier) Get(name string) string {
	for _, f := range *c {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// Set adds a field, unless it says nothing.
func (c *carrier) Set(name, value string) {
	if value != "" {
		*c = append(*c, rpc.Field{Name: name, Value: value})
	}
}

func (c *carrier) Keys() (names []string) {
	for _, f := range *c {
		names = append(names, f.Name)
	}
	return names
}

// incoming are the fields that came with the call that ctx belongs to.
func incoming(ctx context.Context) *carrier {
	c := carrier(rpc.FieldsIn(ctx))
	return &c
}

// sendIDs gives the context of a call to another service with what it is to
// send: the trace that it is part of and the request that it is made for. A
// service that does not trace passes on what came, and so breaks nobody's trace.
func sendIDs(ctx context.Context) context.Context {
	traced, id, came := trace.SpanContextFromContext(ctx).IsValid(), requestID(ctx), rpc.FieldsIn(ctx)
	if !traced && id == "" && len(came) == 0 {
		return ctx // without an allocation
	}
	out := make(carrier, 0, len(Fields))
	if traced {
		propagator.Inject(ctx, &out)
	} else {
		for _, name := range []string{traceparent, tracestate, baggageField} {
			out.Set(name, (*carrier)(&came).Get(name))
		}
	}
	out.Set(requestIDField, id)
	return rpc.WithFieldsOut(ctx, out...)
}
