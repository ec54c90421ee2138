package observe

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"log/slog"
	"math/rand/v2"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/peer"

	"github.com/tare-bench/tare/rpc"
)

// longestID is as much as a caller may call a request by.
const longestID = 128

// identified is a context that knows the ID of the request that it belongs to.
// The ID stands in it as numbers, so that a call whose ID nobody wants to read
// costs one allocation.
type identified struct {
	context.Context
	high, low uint64
}

type requestIDKey struct{}

func (c *identified) Value(key any) any {
	if key == (requestIDKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// withRequestID gives a call an ID, if it came without one. It is no secret:
// it need not be hard to guess.
func withRequestID(ctx context.Context) context.Context {
	if callersID(ctx) != "" {
		return ctx
	}
	return &identified{ctx, rand.Uint64(), rand.Uint64()} //nolint:gosec // no secret
}

// requestID is the ID of the call that ctx belongs to, "" where it has none.
func requestID(ctx context.Context) string {
	if c, ok := ctx.Value(requestIDKey{}).(*identified); ok {
		var id [16]byte
		binary.BigEndian.PutUint64(id[:], c.high)
		binary.BigEndian.PutUint64(id[8:], c.low)
		return hex.EncodeToString(id[:])
	}
	return callersID(ctx)
}

// callersID is the ID that came with a call. One that would fill the log is none.
func callersID(ctx context.Context) string {
	id := rpc.FieldIn(ctx, requestIDField)
	if len(id) > longestID {
		return ""
	}
	return id
}

// spanOf is the span that ctx belongs to. Where this service does not trace, it
// is the caller's.
func spanOf(ctx context.Context) trace.SpanContext {
	if sc := trace.SpanContextFromContext(ctx); sc.IsValid() {
		return sc
	}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(ctx, incoming(ctx)))
}

// withIDs adds to each line the IDs of the call that its context belongs to.
type withIDs struct{ slog.Handler }

func (h withIDs) Handle(ctx context.Context, r slog.Record) error {
	if sc := spanOf(ctx); sc.IsValid() {
		r.AddAttrs(slog.String("trace_id", sc.TraceID().String()), slog.String("span_id", sc.SpanID().String()))
	}
	if id := requestID(ctx); id != "" {
		r.AddAttrs(slog.String("request_id", id))
	}
	return h.Handler.Handle(ctx, r) //nolint:wrapcheck // it is the handler that the line was given to
}

func (h withIDs) WithAttrs(attrs []slog.Attr) slog.Handler {
	return withIDs{h.Handler.WithAttrs(attrs)}
}
func (h withIDs) WithGroup(name string) slog.Handler { return withIDs{h.Handler.WithGroup(name)} }

// peerOf is the address of the caller, "" where it is not known. grpc-go tells
// it by a context of its own.
func peerOf(ctx context.Context) string {
	if addr := rpc.Peer(ctx); addr != "" {
		return addr
	}
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		return p.Addr.String()
	}
	return ""
}
