package observe_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	collectorv1 "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracev1 "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/observe"
)

// collector is an OTLP collector that keeps what it is sent.
func collector(t *testing.T) (addr string, received <-chan *tracev1.ResourceSpans) {
	t.Helper()
	all := make(chan *tracev1.ResourceSpans, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var in collectorv1.ExportTraceServiceRequest
		if err := errors.Join(err, proto.Unmarshal(body, &in)); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL, err)
		}
		for _, one := range in.GetResourceSpans() {
			all <- one
		}
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(s.Close)
	return s.URL, all
}

func TestSpansGoWhereTheEnvironmentSays(t *testing.T) {
	addr, received := collector(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", addr)
	t.Setenv("OTEL_SERVICE_NAME", "till")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")
	o, err := observe.New(t.Context(), observe.Config{Name: "order", Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	_ = echoed(t.Context(), o.Server(conformance.Handler{}, conformance.Service), rpc.NotFound)
	if err := o.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := <-received // Close has had them sent
	about := map[string]string{}
	for _, a := range got.GetResource().GetAttributes() {
		about[a.GetKey()] = a.GetValue().GetStringValue()
	}
	for name, value := range map[string]string{
		"service.name": "till", "service.version": "1.2.3", "deployment.environment.name": "test",
	} {
		if about[name] != value {
			t.Errorf("%s is %q, want %q", name, about[name], value)
		}
	}
	span := got.GetScopeSpans()[0].GetSpans()[0]
	if want := "tare.conformance.v1.ConformanceService/Echo"; span.GetName() != want {
		t.Errorf("the span is %q, want %q", span.GetName(), want)
	}
}

func TestNoSpansWithoutSayingSo(t *testing.T) {
	addr, received := collector(t)
	for name, set := range map[string]map[string]string{
		"disabled": {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": addr},
		"none":     {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": addr},
		"sampler":  {"OTEL_TRACES_SAMPLER": "always_off", "OTEL_EXPORTER_OTLP_ENDPOINT": addr},
	} {
		t.Run(name, func(t *testing.T) {
			for k, v := range set {
				t.Setenv(k, v)
			}
			o, err := observe.New(t.Context(), observe.Config{})
			if err != nil {
				t.Fatal(err)
			}
			_ = echoed(t.Context(), o.Server(conformance.Handler{}, conformance.Service), rpc.OK)
			if err := o.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			select {
			case got := <-received:
				t.Errorf("spans were sent: %v", got)
			default:
			}
		})
	}
}

func TestEnvironmentThatIsWrongIsNamed(t *testing.T) {
	for name, values := range map[string][]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT":        {"localhost:4318", "grpc://localhost:4317", "http://", "http://[", "/v1/traces"},
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": {"127.0.0.1"},
		"OTEL_EXPORTER_OTLP_PROTOCOL":        {"grpc", "http/json"},
		"OTEL_TRACES_EXPORTER":               {"jaeger", "otlp,console"},
		"OTEL_TRACES_SAMPLER":                {"often"},
		"OTEL_RESOURCE_ATTRIBUTES":           {"no equals sign"},
		"OTEL_EXPORTER_OTLP_HEADERS":         {"no equals sign", "=value", "a=%zz"},
		"OTEL_EXPORTER_OTLP_TIMEOUT":         {"10s", "0"},
		"OTEL_EXPORTER_OTLP_CERTIFICATE":     {"/none.pem", "export_test.go"},
	} {
		for _, value := range values {
			t.Run(name+"="+value, func(t *testing.T) {
				if name != "OTEL_TRACES_EXPORTER" {
					t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
				}
				t.Setenv(name, value)
				_, err := observe.New(t.Context(), observe.Config{})
				if err == nil || !strings.Contains(err.Error(), name) {
					t.Errorf("%v, want an error that names it", err)
				}
			})
		}
	}
	t.Setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
	for arg, ok := range map[string]bool{"0.5": true, "": true, "1": true, "2": false, "-1": false, "half": false, "NaN": false} {
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", arg)
		if _, err := observe.New(t.Context(), observe.Config{}); (err == nil) != ok {
			t.Errorf("OTEL_TRACES_SAMPLER_ARG=%s: %v", arg, err)
		}
	}
}

// TestCollectorThatIsNotThere holds that calls go on, that the log has a line of
// it and not one for each batch, and that the end is not waited for.
func TestCollectorThatIsNotThere(t *testing.T) {
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	refusing.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // the kernel takes the connection, and nobody answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	t.Setenv("OTEL_BSP_EXPORT_TIMEOUT", "20") // ms
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "1")
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "10")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "50")
	for name, l := range map[string]net.Listener{"refusing": refusing, "silent": silent} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://"+l.Addr().String())
			lines, log := logLines(t, "info")
			o, err := observe.New(t.Context(), observe.Config{Log: log})
			if err != nil {
				t.Fatal(err)
			}
			h := o.Server(conformance.Handler{}, conformance.Service)
			for range 1000 {
				if err := echoed(t.Context(), h, rpc.OK); err != nil {
					t.Fatal(err)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			begun := time.Now()
			err = o.Close(ctx)
			if took := time.Since(begun); took > 30*time.Second { // a minute is what the exporter would try for
				t.Errorf("closing took %s", took)
			}
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("closing gives %v, want nothing or that time was up", err)
			}
			got := lines()
			if len(got) != 1 {
				t.Fatalf("%d lines, want one: %v", len(got), got)
			}
			want(t, got[0], "level", "WARN")
			wantSubstring(t, got[0], "msg", "OTEL_EXPORTER_OTLP_ENDPOINT")
			if strings.Contains(scrape(t, o, ""), "\ntrace_exports_failed_total 0\n") {
				t.Error("no failed export is counted")
			}
		})
	}
}

// hung is an exporter that takes as long as it may, until it is closed.
type hung chan struct{}

func (h hung) ExportSpans(ctx context.Context, _ []sdktrace.ReadOnlySpan) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-h:
		return nil
	}
}

func (hung) Shutdown(context.Context) error { return nil }

func TestCallsAndTheEndDoNotWaitForSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exporter := make(hung)
		defer synctest.Wait()
		defer close(exporter)
		o, err := observe.New(t.Context(), observe.Config{Spans: exporter})
		if err != nil {
			t.Fatal(err)
		}
		h := o.Server(conformance.Handler{}, conformance.Service)
		begun := time.Now()
		for range 10_000 { // more than are kept
			if err := echoed(t.Context(), h, rpc.OK); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun); took != 0 {
			t.Errorf("calls waited %s for spans to be sent", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begun = time.Now()
		if err := o.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("closing gives %v, want that time was up", err)
		}
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("closing took %s, want the 3 s that it was given", took)
		}
	})
}
