package observe

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// The variables that are read here. Those that say more of an exporter, of
// batches and of limits are read by OpenTelemetry's own code.
// Source: opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables.
const (
	varDisabled       = "OTEL_SDK_DISABLED"
	varExporter       = "OTEL_TRACES_EXPORTER"
	varSampler        = "OTEL_TRACES_SAMPLER"
	varSamplerArg     = "OTEL_TRACES_SAMPLER_ARG"
	varEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	varTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	varProtocol       = "OTEL_EXPORTER_OTLP_PROTOCOL"
	varTracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
)

// newTracing gives nil where neither c nor the environment says where spans go.
func newTracing(ctx context.Context, c Config, getenv func(string) string, x *exports) (*tracing, error) {
	if err := checkEnvironment(getenv); err != nil {
		return nil, err
	}
	var err error
	if x.SpanExporter = c.Spans; x.SpanExporter == nil {
		x.SpanExporter, err = exporterOf(ctx, getenv)
	}
	if x.SpanExporter == nil || err != nil {
		return nil, err
	}
	res, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName(c.Name), semconv.ServiceVersion(c.Version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithProcessPID(), resource.WithProcessRuntimeVersion(),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("read OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	// Spans that find the queue full are dropped, so that calls never wait.
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(res), sdktrace.WithBatcher(x))
	return &tracing{provider: provider, tracer: provider.Tracer("github.com/tare-bench/tare/service/observe")}, nil
}

func (t *tracing) close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// exporterOf gives what the environment asks for, or nil for nothing.
func exporterOf(ctx context.Context, getenv func(string) string) (sdktrace.SpanExporter, error) {
	if strings.EqualFold(getenv(varDisabled), "true") {
		return nil, nil
	}
	kind := getenv(varExporter)
	if kind == "" && (getenv(varEndpoint) != "" || getenv(varTracesEndpoint) != "") {
		kind = "otlp"
	}
	var e sdktrace.SpanExporter
	var err error
	switch kind {
	case "", "none":
		return nil, nil
	case "otlp":
		var c *collector
		if c, err = newCollector(getenv); err == nil {
			e, err = otlptrace.New(ctx, c)
		}
	case "console":
		e, err = stdouttrace.New(stdouttrace.WithWriter(os.Stderr)) // standard output is for results
	default:
		return nil, fmt.Errorf("%s=%s: there is otlp, console and none", varExporter, kind)
	}
	if err != nil {
		return nil, fmt.Errorf("ready the exporter of spans: %w", err)
	}
	return e, nil
}

// checkEnvironment finds values that OpenTelemetry's code would mention in
// passing and then ignore.
func checkEnvironment(getenv func(string) string) error {
	for _, name := range []string{varEndpoint, varTracesEndpoint} {
		value := getenv(name)
		if value == "" {
			continue
		}
		u, err := url.Parse(value)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("%s: not an address such as http://127.0.0.1:4318", name) // it may hold a secret
		}
	}
	for _, name := range []string{varProtocol, varTracesProtocol} {
		if value := getenv(name); value != "" && value != "http/protobuf" {
			return fmt.Errorf("%s=%s: spans go over http/protobuf alone; collectors take that on port 4318", name, value)
		}
	}
	return checkSampler(getenv)
}

var samplers = []string{
	"always_on", "always_off", "traceidratio",
	"parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
}

func checkSampler(getenv func(string) string) error {
	sampler, arg := getenv(varSampler), getenv(varSamplerArg)
	if sampler == "" {
		return nil
	}
	if !slices.Contains(samplers, sampler) {
		return fmt.Errorf("%s=%s: there is %s", varSampler, sampler, strings.Join(samplers, ", "))
	}
	if strings.HasSuffix(sampler, "traceidratio") && arg != "" {
		if share, err := strconv.ParseFloat(arg, 64); err != nil || !(share >= 0 && share <= 1) {
			return fmt.Errorf("%s=%s: not a share from 0 to 1", varSamplerArg, arg)
		}
	}
	return nil
}

// exports is an exporter whose failures are counted, and told once in a while:
// a collector that cannot be reached would have each batch tell of it.
type exports struct {
	sdktrace.SpanExporter
	log    *slog.Logger
	failed prometheus.Counter
	told   atomic.Int64 // when, in Unix seconds
}

const tellEvery = time.Minute

// ExportSpans sends spans, and never fails.
func (x *exports) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	err := x.SpanExporter.ExportSpans(ctx, spans)
	if err == nil {
		return nil
	}
	x.failed.Inc()
	now, told := time.Now().Unix(), x.told.Load()
	if now-told >= int64(tellEvery/time.Second) && x.told.CompareAndSwap(told, now) {
		x.log.LogAttrs(ctx, slog.LevelWarn, "spans are lost: the collector does not take them; look at "+varEndpoint,
			slog.Int("spans", len(spans)), slog.String("error", err.Error()))
	}
	return nil
}
