package observe

import (
	"context"
	"slices"
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

// incoming is what came with a call, as OpenTelemetry reads it.
type incoming struct{ ctx context.Context }

func (c incoming) Get(name string) string { return fieldIn(c.ctx, name) }
func (incoming) Set(string, string)       {} // nothing is put into what came
func (incoming) Keys() []string           { return slices.Clone(Fields) }

// outgoing is what a call takes along, as OpenTelemetry writes it.
type outgoing []field

type field struct{ name, value string }

func (o *outgoing) Get(name string) string {
	for _, f := range *o {
		if f.name == name {
			return f.value
		}
	}
	return ""
}

func (o *outgoing) Set(name, value string) {
	if value != "" {
		*o = append(*o, field{name, value})
	}
}

func (o *outgoing) Keys() (names []string) {
	for _, f := range *o {
		names = append(names, f.name)
	}
	return names
}

// passOn takes along what came: a service that does not trace breaks nobody's
// trace.
func (o *outgoing) passOn(ctx context.Context, names ...string) {
	for _, name := range names {
		o.Set(name, fieldIn(ctx, name))
	}
}
