package observe

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/trace"

	"github.com/tare-bench/tare/rpc"
)

// buckets are the upper bounds of a call's duration, in seconds: 0.1 ms, which
// is less than a call over loopback takes, to 10 s, the deadline of callers that
// set none.
var buckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		collectors.NewBuildInfoCollector(),
	)
	return r
}

// metrics answers scrapes, as OpenMetrics with exemplars to those that take it.
func (o *Observer) metrics() http.Handler {
	return promhttp.HandlerFor(o.registry, promhttp.HandlerOpts{
		Registry: o.registry, EnableOpenMetrics: true,
		MaxRequestsInFlight: 4, // each holds all series at once
	})
}

// sides are the metrics of calls on one side, by service and method. They are
// named as those of go-grpc-middleware, with "rpc" for "grpc", so that what
// people know of the ones holds for the others.
type sides struct {
	started  *prometheus.CounterVec
	handled  *prometheus.CounterVec
	inFlight *prometheus.GaugeVec
	seconds  *prometheus.HistogramVec
}

func newSides(r prometheus.Registerer) (served, called sides) {
	return newSide(r, "server", "calls that came in"), newSide(r, "client", "attempts to call another service")
}

func newSide(r prometheus.Registerer, side, what string) sides {
	by := []string{"service", "method"}
	s := sides{
		started: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "rpc", Subsystem: side, Name: "started_total", Help: "Begun: " + what + ".",
		}, by),
		handled: prometheus.NewCounterVec(prometheus.CounterOpts{
			Namespace: "rpc", Subsystem: side, Name: "handled_total", Help: "Ended: " + what + ", by code.",
		}, append(by, "code")),
		inFlight: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: "rpc", Subsystem: side, Name: "in_flight", Help: "Begun and not ended: " + what + ".",
		}, by),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "rpc", Subsystem: side, Name: "handling_seconds", Help: "How long they took: " + what + ".",
			Buckets: buckets,
			// For scrapers that take native histograms: 10 % apart, and no more
			// of them than a heap can bear.
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160,
			NativeHistogramMinResetDuration: time.Hour,
		}, by),
	}
	r.MustRegister(s.started, s.handled, s.inFlight, s.seconds)
	return s
}

// of gives the meters of all methods of services. All series are there from
// the start, so that the first failure is a rise from 0 and not a beginning.
func (s sides) of(services []*rpc.Service) meters {
	all := make(map[*rpc.Method]*meter)
	for _, svc := range services {
		for _, m := range svc.Methods {
			all[m] = s.meter(m)
		}
	}
	return meters{all, s}
}

// meters finds the meter of a method.
type meters struct {
	declared map[*rpc.Method]*meter
	side     sides
}

func (x meters) of(m *rpc.Method) *meter {
	if found, ok := x.declared[m]; ok {
		return found
	}
	return x.side.meter(m) // slower, but nothing goes unseen
}

// meter is one method's metrics.
type meter struct {
	started  prometheus.Counter
	handled  [rpc.Unauthenticated + 1]prometheus.Counter
	inFlight prometheus.Gauge
	seconds  prometheus.Observer
}

func (s sides) meter(m *rpc.Method) *meter {
	out := &meter{
		started:  s.started.WithLabelValues(m.Service, m.Name),
		inFlight: s.inFlight.WithLabelValues(m.Service, m.Name),
		seconds:  s.seconds.WithLabelValues(m.Service, m.Name),
	}
	for c := range out.handled {
		out.handled[c] = s.handled.WithLabelValues(m.Service, m.Name, rpc.Code(c).String())
	}
	return out
}

func (x *meter) begin() {
	x.started.Inc()
	x.inFlight.Inc()
}

// end counts a call that took so long. One that is traced is the exemplar of
// its bucket.
func (x *meter) end(span trace.Span, code rpc.Code, took time.Duration) {
	x.inFlight.Dec()
	if code < 0 || int(code) >= len(x.handled) {
		code = rpc.Unknown
	}
	x.handled[code].Inc()
	if span != nil && span.SpanContext().IsSampled() {
		x.seconds.(prometheus.ExemplarObserver).ObserveWithExemplar(took.Seconds(),
			prometheus.Labels{"trace_id": span.SpanContext().TraceID().String()})
		return
	}
	x.seconds.Observe(took.Seconds())
}
