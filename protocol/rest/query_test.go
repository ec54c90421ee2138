package rest

import (
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"unicode/utf8"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

// findBy gives what a server reads of a target of Find's, as it stands in a
// request.
func findBy(t testing.TB, e *endpoint, target *url.URL) (plain any, err error) {
	t.Helper()
	mux := http.NewServeMux()
	taken := false
	if err := register(mux, e.pattern(), func(_ http.ResponseWriter, r *http.Request) {
		taken = true
		m := e.method.In.NewProto()
		if err = e.readTarget(m.ProtoReflect(), r); err == nil {
			plain = e.method.In.FromProto(m)
		}
	}); err != nil {
		t.Fatal(err)
	}
	mux.ServeHTTP(httptest.NewRecorder(), &http.Request{Method: e.verb, URL: target})
	if !taken {
		return nil, rpc.Errorf(rpc.NotFound, "no route %s", target)
	}
	return plain, err
}

func endpointOf(t testing.TB, m *rpc.Method) *endpoint {
	t.Helper()
	r, err := routeOf(m)
	if err != nil {
		t.Fatal(err)
	}
	return &endpoint{route: r, method: m}
}

// FuzzQuery has a server read any path and query. What it takes a client sends
// again, and the server must then take it for the same.
func FuzzQuery(f *testing.F) {
	f.Add("/v1/items/a%2Fb/levels/3", "pageSize=10&tags=a+b&tags=&range.from=-5&mood=77&moods=MOOD_CALM")
	f.Add("/v1/items/%2E%2E/levels/-0", "ratio=-0&token=_-8%3D&sinceTime=2026-12-01T08:00:00.12%2B01:00&open=false&exact=true&maybe=0")
	f.Add("/v1/items/%ff/levels/1", "page_size=1&pageSize=2&range=1&range.x=%zz;&a=b")
	f.Add("/v1/items/a/levels/1", "ratio=NaN&ratio=1e999&range.to=&since_time=")
	e := endpointOf(f, conformance.Find)
	f.Fuzz(func(t *testing.T, path, query string) {
		target, err := url.ParseRequestURI(path)
		if err != nil || target.Host != "" || target.RawQuery != "" || !protocol.CleanPath(target.EscapedPath()) {
			return
		}
		target.RawQuery = query
		in, err := findBy(t, e, target)
		if err != nil {
			wantRefused(t, err)
			return
		}
		path, query, _, err = e.aim(in)
		if err != nil {
			t.Fatalf("%s gave what a client cannot send: %v", target, err)
		}
		again, err := url.ParseRequestURI(path + "?" + query)
		if err != nil {
			t.Fatalf("%s?%s is no target: %v", path, query, err)
		}
		out, err := findBy(t, e, again)
		if err != nil {
			t.Fatalf("%s comes again as %s: %v", target, again, err)
		}
		if diff := conformance.Diff(in, out); diff != "" {
			t.Fatalf("%s comes again as %s, as another (-want +got):\n%s", target, again, diff)
		}
	})
}

// wantRefused holds that a target that is not taken is the caller's fault, and
// said to be in text.
func wantRefused(t *testing.T, err error) {
	t.Helper()
	e := rpc.ErrorOf(err)
	if e.Code == rpc.NotFound {
		return
	}
	if e.Code != rpc.InvalidArgument || len(e.Violations) == 0 || len(e.Violations) > 2*mostWrong {
		t.Fatalf("refused with %v and %d violations", e, len(e.Violations))
	}
	_, body, _ := encodeFailure(e)
	if len(body) > 16<<10 || !utf8.Valid(body) {
		t.Fatalf("a failure of %d bytes: %.300q", len(body), body)
	}
}

func TestFloatsComeBack(t *testing.T) {
	for _, n := range []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, math.SmallestNonzeroFloat64, 0.1 + 0.2} {
		text := formatFloat(n, 64)
		got, ok := parseFloat(text, 64)
		if same := math.Float64bits(got) == math.Float64bits(n) || math.IsNaN(got) && math.IsNaN(n); !ok || !same {
			t.Errorf("%v is written %s, which reads as %v", n, text, got)
		}
	}
	for _, text := range []string{"", "inf", "nan", "+Inf", "0x1p3", "1_0", "1e", "1e999", " 1"} {
		if got, ok := parseFloat(text, 64); ok {
			t.Errorf("%q reads as %v, want it refused", text, got)
		}
	}
}
