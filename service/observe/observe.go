// Package observe shows what a service does: metrics for Prometheus, traces for
// OpenTelemetry, a line in the log for each call that fails. It also stands
// between a handler's panic and the process.
//
// It wraps rpc.Handler, on the server's side and around the connections to
// other services, so that it is the same for every protocol; it knows none.
// Message contents are in nothing that it shows.
package observe

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/tare-bench/tare/rpc"
)

// Config is what a service says of how it wants to be observed.
type Config struct {
	Name    string // of the service in traces, unless OTEL_SERVICE_NAME has one
	Version string // of the service in traces; "" where it has none

	// Log takes a line for each call that fails, and at debug for each that
	// does not. Nil: nothing is logged.
	Log *slog.Logger
	// RequestIDs gives each call that came without a request ID one of its own,
	// for logs, here and where the service calls. It costs an allocation a call.
	RequestIDs bool
	// Spans takes finished spans. Nil: the environment says where they go, by
	// OpenTelemetry's variables, and there is no tracing where it says nothing.
	Spans sdktrace.SpanExporter
}

// Observer holds what has been observed. It is safe for concurrent use.
type Observer struct {
	config   Config
	registry *prometheus.Registry
	tracing  *tracing // nil: off
	log      *slog.Logger
	panics   prometheus.Counter

	served, called sides
}

// New readies an Observer. An error names the variable of the environment that
// is wrong.
func New(ctx context.Context, c Config) (*Observer, error) {
	o := &Observer{config: c, registry: newRegistry(), log: slog.New(slog.DiscardHandler)}
	if c.Log != nil {
		o.log = slog.New(withIDs{c.Log.Handler()})
	}
	o.served, o.called = newSides(o.registry)
	o.panics = o.counter("rpc_server_panics_total", "Calls whose handler panicked.")
	var err error
	o.tracing, err = newTracing(ctx, c, os.Getenv, &exports{
		log:    o.log,
		failed: o.counter("trace_exports_failed_total", "Batches of spans that the collector did not take."),
	})
	return o, err
}

func (o *Observer) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	o.registry.MustRegister(c)
	return c
}

// Log is the logger for whatever else the service has to say: it adds the IDs
// of the call that a line's context belongs to.
func (o *Observer) Log() *slog.Logger { return o.log }

// Registry takes what else the service shows of itself: gauges that a function
// reads, such as how many calls wait.
func (o *Observer) Registry() prometheus.Registerer { return o.registry }

// Gauge shows what read gives, under a name that ends with its unit. A name that
// is taken already is a mistake of the program, and panics.
func (o *Observer) Gauge(name, help string, read func() float64) {
	o.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

// Count is Gauge for what only grows; the name ends with "_total".
func (o *Observer) Count(name, help string, read func() float64) {
	o.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, read))
}

// Distribution gives what takes values to show in buckets up to these bounds,
// such as how many orders one commit keeps.
func (o *Observer) Distribution(name, help string, bounds ...float64) func(float64) {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: bounds})
	o.registry.MustRegister(h)
	return h.Observe
}

// Handlers are what the Observer answers over HTTP, by http.ServeMux's patterns.
func (o *Observer) Handlers() map[string]http.Handler {
	return map[string]http.Handler{"GET /metrics": o.metrics()}
}

// Close sends the spans that are left. It returns when they are sent or ctx ends.
func (o *Observer) Close(ctx context.Context) error { return o.tracing.close(ctx) }

// Server observes the calls of services that h answers, and turns its panics
// into INTERNAL. It stands outermost, so that refusals are seen too, and that what
// is for the log alone goes no further.
func (o *Observer) Server(h rpc.Handler, services ...*rpc.Service) rpc.Handler {
	return &server{Observer: o, next: h, meters: o.served.of(services), lines: newLines(o.log)}
}

// Client observes each attempt to call services by way of h, a connection, and
// sends the IDs of the call that it is made for with it.
func (o *Observer) Client(h rpc.Handler, remote Remote, services ...*rpc.Service) rpc.Handler {
	return &client{Observer: o, next: h, remote: remote.attributes(), meters: o.called.of(services)}
}

// server observes calls that come in.
type server struct {
	*Observer
	next   rpc.Handler
	meters meters
	lines  *lines
}

// Handle has a call answered. Without tracing and request IDs it allocates
// nothing of its own.
func (s *server) Handle(ctx context.Context, m *rpc.Method, st rpc.Stream) (err error) {
	meter := s.meters.of(m)
	begun := time.Now()
	meter.begin()
	if s.config.RequestIDs {
		ctx = withRequestID(ctx)
	}
	ctx, span := s.tracing.serve(ctx, m)
	defer func() {
		if p := recover(); p != nil {
			err = s.panicked(ctx, m, p)
		}
		ended := time.Now()
		code := codeOf(err)
		meter.end(span, code, ended.Sub(begun))
		s.lines.write(ctx, m, err, code, begun, ended)
		endSpan(span, err, code, serverFaults)
		err = outside(err)
	}()
	return s.next.Handle(ctx, m, st)
}

// Refuse implements rpc.Refuser. A call that is refused so early is counted, and
// leaves neither line nor span: in an overload there would be little else.
func (s *server) Refuse(m *rpc.Method) error {
	err := rpc.Refusal(s.next, m)
	if err != nil {
		meter := s.meters.of(m)
		meter.begin()
		meter.end(nil, codeOf(err), 0)
		err = outside(err)
	}
	return err
}

// client observes calls that go out.
type client struct {
	*Observer
	next   rpc.Handler
	remote remote
	meters meters
}

func (c *client) Handle(ctx context.Context, m *rpc.Method, st rpc.Stream) error {
	meter := c.meters.of(m)
	begun := time.Now()
	meter.begin()
	ctx, span := c.tracing.call(ctx, m, c.remote)
	err := c.next.Handle(sendIDs(ctx), m, st)
	code := codeOf(err)
	took := time.Since(begun)
	meter.end(span, code, took)
	if err != nil && c.log.Enabled(ctx, slog.LevelDebug) {
		c.log.LogAttrs(ctx, slog.LevelDebug, "call to another service failed", callAttrs(m, err, code, took)...)
	}
	endSpan(span, err, code, allFaults)
	return err
}

func codeOf(err error) rpc.Code {
	if err == nil {
		return rpc.OK
	}
	return rpc.ErrorOf(err).Code
}
