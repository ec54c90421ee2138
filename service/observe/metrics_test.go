package observe_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/observe"
)

// scrape gives what GET /metrics answers to a client that takes these media
// types.
func scrape(t *testing.T, o *observe.Observer, accept string) string {
	t.Helper()
	mux := http.NewServeMux()
	for pattern, h := range o.Handlers() {
		mux.Handle(pattern, h)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept", accept)
	mux.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("GET /metrics: %d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func wantSeries(t *testing.T, o *observe.Observer, lines ...string) {
	t.Helper()
	text := scrape(t, o, "")
	for _, line := range lines {
		if !strings.Contains("\n"+text, "\n"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, only(text, "rpc_"))
		}
	}
}

// only gives the lines of series whose name begins so.
func only(text string, prefix string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestCallsAreCounted(t *testing.T) {
	o := newObserver(t, observe.Config{})
	const labels = `method="Echo",service="tare.conformance.v1.ConformanceService"`
	h := o.Server(rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
		wantSeries(t, o, `rpc_server_in_flight{`+labels+`} 1`)
		return conformance.Handler{}.Handle(ctx, m, s)
	}), conformance.Service)
	wantSeries(t, o, `rpc_server_handled_total{code="NOT_FOUND",`+labels+`} 0`) // before the first call
	for _, code := range []rpc.Code{rpc.OK, rpc.OK, rpc.NotFound, rpc.Code(99)} {
		_ = echoed(t.Context(), h, code)
	}
	wantSeries(t, o,
		`rpc_server_started_total{`+labels+`} 4`,
		`rpc_server_handled_total{code="OK",`+labels+`} 2`,
		`rpc_server_handled_total{code="NOT_FOUND",`+labels+`} 1`,
		`rpc_server_handled_total{code="UNKNOWN",`+labels+`} 1`,
		`rpc_server_in_flight{`+labels+`} 0`,
		`rpc_server_handling_seconds_count{`+labels+`} 4`,
		`rpc_server_handling_seconds_bucket{`+labels+`,le="10"} 4`,
	)
	if got := only(scrape(t, o, ""), "rpc_client"); got != "" {
		t.Errorf("the client's side has seen\n%s", got)
	}
	c := o.Client(conformance.Handler{}, observe.Remote{}, conformance.Service)
	_ = echoed(t.Context(), c, rpc.Unavailable)
	wantSeries(t, o,
		`rpc_client_started_total{`+labels+`} 1`,
		`rpc_client_handled_total{code="UNAVAILABLE",`+labels+`} 1`)
}

// refusing refuses every call before it is handed over.
type refusing struct{ conformance.Handler }

func (refusing) Refuse(*rpc.Method) error {
	return rpc.Errorf(rpc.ResourceExhausted, "too many calls")
}

func TestCallsThatAreRefusedUnreadAreCounted(t *testing.T) {
	o := newObserver(t, observe.Config{})
	h := o.Server(refusing{}, conformance.Service)
	if err := rpc.Refusal(h, conformance.Echo); rpc.ErrorOf(err).Code != rpc.ResourceExhausted {
		t.Errorf("refused with %v", err)
	}
	const labels = `method="Echo",service="tare.conformance.v1.ConformanceService"`
	wantSeries(t, o,
		`rpc_server_started_total{`+labels+`} 1`,
		`rpc_server_handled_total{code="RESOURCE_EXHAUSTED",`+labels+`} 1`,
		`rpc_server_in_flight{`+labels+`} 0`)
}

func TestMethodsThatNobodyDeclaredAreCountedToo(t *testing.T) {
	o := newObserver(t, observe.Config{})
	_ = echoed(t.Context(), o.Server(conformance.Handler{}), rpc.OK)
	wantSeries(t, o, `rpc_server_handled_total{code="OK",method="Echo",service="tare.conformance.v1.ConformanceService"} 1`)
}

func TestOthersShowTheirOwn(t *testing.T) {
	o := newObserver(t, observe.Config{})
	waiting := 3.0
	o.Gauge("admission_waiting", "Calls that wait.", func() float64 { return waiting })
	o.Count("admission_refused_total", "Calls refused.", func() float64 { return 7 })
	commit := o.Distribution("store_commit_orders", "Orders that a commit keeps.", 1, 10)
	commit(4)
	wantSeries(t, o, "admission_waiting 3", "admission_refused_total 7",
		`store_commit_orders_bucket{le="1"} 0`, `store_commit_orders_bucket{le="10"} 1`)
	waiting = 0
	wantSeries(t, o, "admission_waiting 0")
	text := scrape(t, o, "")
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total", "go_build_info"} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("no %s", name)
		}
	}
}
