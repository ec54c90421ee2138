package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/tare-bench/tare/codec"
	jsoncodec "github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/protocol/rest"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

const find = "/v1/items/a/levels/3"

// foreignTargets are what people and other people's clients may ask for by path
// and query. Each violation is spelled "field REASON".
var foreignTargets = []struct {
	name, verb, target, body string
	status                   int
	want                     string // in the body, or violations
}{
	{name: "no query", target: find, status: 200, want: `{"found":{"name":"a","level":3,"ratio":0}}`},
	{name: "names of JSON", target: find + "?pageSize=10&sinceTime=2026-12-01T08:00:00%2B01:00", status: 200,
		want: `"pageSize":"10","ratio":0,"sinceTime":"2026-12-01T07:00:00Z"`},
	{name: "names of the schema", target: find + "?page_size=10&mood=1", status: 200, want: `"pageSize":"10","ratio":0,"mood":"MOOD_CALM"`},
	{name: "a nested field", target: find + "?range.from=-5&range.to=0", status: 200, want: `"range":{"from":"-5","to":"0"}`},
	{name: "a list", target: find + "?tags=b&moods=MOOD_BRISK&tags=a&moods=1", status: 200,
		want: `"tags":["b","a"],"moods":["MOOD_BRISK","MOOD_CALM"]`},
	{name: "escapes", target: "/v1/items/a%2Fb%20%2e%2E/levels/3?tags=a+b%26&&tags=", status: 200, want: `"name":"a/b ..","level":3,"ratio":0,"tags":["a b\u0026",""]`},
	{name: "every scalar", target: find + "?exact=true&ratio=-2.5e-3&token=_-8&maybe=0&open=false", status: 200,
		want: `"ratio":-0.0025,"exact":true,"token":"/+8=","maybe":0,"open":false`},
	{name: "an enum without a name", target: find + "?mood=77", status: 200, want: `"mood":77`},
	{name: "no digits", target: find + "?exact=true&ratio=0x1p3", status: 400, want: "ratio BAD_VALUE"},
	{name: "an unknown field", target: find + "?pagesize=1", status: 400, want: "pagesize UNKNOWN_FIELD"},
	{name: "a field of the path", target: find + "?name=b", status: 400, want: "name UNKNOWN_FIELD"},
	{name: "a whole message", target: find + "?range=1", status: 400, want: "range UNKNOWN_FIELD"},
	{name: "a part of no message", target: find + "?page_size.a=1&sinceTime.seconds=1", status: 400,
		want: "page_size.a UNKNOWN_FIELD, sinceTime.seconds UNKNOWN_FIELD"},
	{name: "a single key twice", target: find + "?pageSize=0&page_size=0&maybe=1&maybe=1", status: 400,
		want: "page_size REPEATED_KEY, maybe REPEATED_KEY"},
	{name: "bad values", target: find + "?pageSize=ten&maybe=2147483648&exact=1&mood=MOOD_X&token=%21&sinceTime=now&open=yes&range.to=", status: 400,
		want: "page_size BAD_VALUE, maybe BAD_VALUE, exact BAD_VALUE, mood BAD_VALUE, token BAD_VALUE, since_time BAD_VALUE, open BAD_VALUE, range.to BAD_VALUE"},
	{name: "a bad value in the path", target: "/v1/items/a/levels/3.5", status: 400, want: "level BAD_VALUE"},
	{name: "no UTF-8", target: "/v1/items/%ff/levels/3?tags=%ff", status: 400, want: "tags BAD_VALUE, name BAD_VALUE"},
	{name: "bad escapes", target: find + "?tags=%zz&tags=a;b", status: 400, want: "tags=%zz BAD_ESCAPE, tags=a;b BAD_ESCAPE"},
	{name: "a body", target: find, body: "{}", status: 400, want: "takes no body"},
	{name: "an empty name", target: "/v1/items//levels/3", status: 404, want: "NOT_FOUND"},
	{name: "an empty end", target: "/v1/items/a/levels/", status: 404, want: "NOT_FOUND"},
	{name: "dots", target: "/v1/items/../levels/3", status: 404, want: "NOT_FOUND"},
	{name: "a dot", target: "/v1/./items/a/levels/3", status: 404, want: "NOT_FOUND"},
	{name: "two slashes before a route", target: "//v1/echo", verb: "POST", body: "{}", status: 404, want: "NOT_FOUND"},
	{name: "a slash after a route", target: find + "/", status: 404, want: "NOT_FOUND"},
	{name: "another verb", verb: "DELETE", target: find, status: 405, want: "takes GET, HEAD"},
	{name: "another verb on a path of the same shape", verb: "POST", target: "/v1/items/a", status: 405, want: "takes PUT"},
	{name: "path and body", verb: "PUT", target: "/v1/items/a", body: `{"item":{"text":"x"}}`, status: 200, want: `{"name":"a","item":{"text":"x","ratio":0}}`},
	{name: "path and body say the same", verb: "PUT", target: "/v1/items/a", body: `{"name":"a"}`, status: 200, want: `{"name":"a"}`},
	{name: "path and body differ", verb: "PUT", target: "/v1/items/a", body: `{"name":"b"}`, status: 400, want: "name PATH_AND_BODY"},
	{name: "a literal beside a parameter", target: "/v1/items:follow?count=2", status: 200, want: "{\"result\":{\"number\":\"1\"}}\n{\"result\":{\"number\":\"2\"}}\n"},
	{name: "a stream that is refused", target: "/v1/items:follow?count=x", status: 400, want: "count BAD_VALUE"},
}

func TestForeignTargets(t *testing.T) {
	base := serve(t, conformance.Handler{})
	for _, test := range foreignTargets {
		t.Run(test.name, func(t *testing.T) {
			verb := test.verb
			if verb == "" {
				verb = http.MethodGet
			}
			a := ask(t, verb, base+test.target, test.body)
			if got := a.body + violationsIn(a.body); a.status != test.status || !strings.Contains(got, test.want) {
				t.Errorf("status %d and %s; want %d and %s", a.status, got, test.status, test.want)
			}
			if verb == http.MethodGet && a.header.Get("Cache-Control") != "no-store" {
				t.Errorf("Cache-Control is %q", a.header.Get("Cache-Control"))
			}
		})
	}
}

// violationsIn spells the violations of a failure's body.
func violationsIn(body string) string {
	var problem struct {
		Violations []struct{ Field, Reason string }
	}
	if json.Unmarshal([]byte(body), &problem) != nil {
		return ""
	}
	var all []string
	for _, v := range problem.Violations {
		all = append(all, v.Field+" "+v.Reason)
	}
	return strings.Join(all, ", ")
}

func TestHeadIsGetWithoutABody(t *testing.T) {
	base := serve(t, rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
		if m == conformance.Follow {
			t.Error("a stream was begun for its header")
		}
		return conformance.Handler{}.Handle(ctx, m, s)
	}))
	for target, want := range map[string]string{
		"/v1/items/a/levels/3":         "200 application/json",
		"/v1/items/a/levels/3?x=1":     "400 application/problem+json",
		"/v1/items:follow?count=1":     "200 application/x-ndjson",
		"/v1/items:follow?count=1&x=1": "400 application/problem+json",
	} {
		a := ask(t, http.MethodHead, base+target, "")
		if got := fmt.Sprintf("%d %s", a.status, a.header.Get("Content-Type")); got != want || a.body != "" {
			t.Errorf("HEAD %s gives %s and %q, want %s", target, got, a.body, want)
		}
	}
}

// A path that is not clean is no route's; ServeMux would redirect from it.
func TestNothingIsRedirected(t *testing.T) {
	base := serve(t, conformance.Handler{})
	for _, target := range []string{"//", "/.", "/..", "/v1/../v1/echo", "/v1//echo", "//v1/echo", "/v1/echo/.", "/v1/echo/"} {
		for _, verb := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
			if a := ask(t, verb, base+target, ""); a.status != http.StatusNotFound {
				t.Errorf("%s %s gives status %d, want 404", verb, target, a.status)
			}
		}
	}
}

type answer struct {
	status int
	header http.Header
	body   string
}

// ask makes a request as it stands, and follows nothing.
func ask(t *testing.T, verb, url, body string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), verb, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{DisableKeepAlives: true}
	res, err := tr.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(b)}
}

func TestQueryBeyondTheLimit(t *testing.T) {
	o := options(t)
	o.MaxMessage = 100
	base := serveWith(t, rpc.HandlerFunc(func(_ context.Context, m *rpc.Method, s rpc.Stream) error {
		if _, err := s.Recv(); err != nil {
			return err
		}
		return s.Send(m.Out.New()) // short
	}), o)
	for size, want := range map[int]int{100: http.StatusOK, 101: http.StatusRequestURITooLong} {
		query := "tags=" + strings.Repeat("a", size-len("tags="))
		if a := ask(t, http.MethodGet, base+find+"?"+query, ""); a.status != want {
			t.Errorf("a query of %d bytes gives status %d: %s", size, a.status, a.body)
		}
	}
}

func TestRoutesThatCannotBeCarried(t *testing.T) {
	for _, test := range []struct {
		route string
		m     rpc.Method
		want  string // in the error
	}{
		{"/v1/find", *conformance.Find, "is not VERB /PATH"},
		{"GET v1/find", *conformance.Find, "is not VERB /PATH"},
		{"TRACE /v1/find", *conformance.Find, "a verb that carries no calls"},
		{"GET /v1/find/", *conformance.Find, "ends with /"},
		{"GET /v1/{name...}", *conformance.Find, "several segments"},
		{"GET /v1/{name}:find", *conformance.Find, "is no pattern"},
		{"GET /v1/{name}/{name}", *conformance.Find, "is no pattern"},
		{"GET /v1/{nam}", *conformance.Find, "names no field"},
		{"GET /v1/{pageSize}", *conformance.Find, "names no field"},
		{"GET /v1/{tags}", *conformance.Find, "not one plain value"},
		{"GET /v1/{range}", *conformance.Find, "not one plain value"},
		{"GET /v1/echo", *conformance.Echo, "item.child of tare.conformance.v1.EchoRequest cannot stand in a query"},
		{"PUT /v1/collect/{item}", *conformance.Collect, "its caller streams"},
		{"GET /v1/collect", *conformance.Collect, "its caller streams"},
	} {
		m := test.m
		m.Route = test.route
		svc := &rpc.Service{Name: m.Service, Methods: []*rpc.Method{&m}}
		c, err := rest.New().Dial(t.Context(), "127.0.0.1:1", svc, options(t))
		if err == nil {
			_ = c.Close()
			t.Errorf("route %q is taken", test.route)
		} else if !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), m.Path()) {
			t.Errorf("route %q: the error is %q, want %q", test.route, err, test.want)
		}
	}
}

func TestRoutesOfTwoServicesThatClash(t *testing.T) {
	service := func(name, route string) *rpc.Service {
		m := *conformance.Find
		m.Service, m.Route = name, route
		return &rpc.Service{Name: name, Methods: []*rpc.Method{&m}}
	}
	for _, test := range []struct {
		a, b  string
		clash bool
	}{
		{"GET /v1/{name}", "GET /v1/{name}", true},
		{"GET /v1/{name}/a", "GET /v1/b/{name}", true},
		{"GET /v1/{name}", "GET /v1/b", false},
		{"GET /v1/{name}", "DELETE /v1/{name}", false},
	} {
		svcs := []*rpc.Service{service("t.A", test.a), service("t.B", test.b)}
		_, err := rest.New().Mount(svcs, conformance.Handler{}, options(t), protocol.Limits{})
		if (err != nil) != test.clash {
			t.Errorf("%s beside %s gives %v", test.a, test.b, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "/t.A/Find") || !strings.Contains(err.Error(), "/t.B/Find")) {
			t.Errorf("the error does not name both: %v", err)
		}
	}
}

// counted counts what is parsed.
type counted struct {
	codec.Codec
	n *atomic.Int64
}

func (c counted) Bind(t *rpc.Type) (codec.Binding, error) {
	b, err := c.Codec.Bind(t)
	return countedBinding{b, c.n}, err
}

type countedBinding struct {
	codec.Binding
	n *atomic.Int64
}

func (b countedBinding) Parse(src []byte) (any, error) {
	b.n.Add(1)
	return b.Binding.Parse(src)
}

func TestRefusedCallIsNotParsed(t *testing.T) {
	var parsed atomic.Int64
	o := options(t)
	o.Codec = counted{o.Codec, &parsed}
	base := serveWith(t, rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
		return rpc.Errorf(rpc.ResourceExhausted, "too many calls")
	}), o)
	for verb, target := range map[string]string{"POST": "/v1/echo", "PUT": "/v1/items/a"} {
		if a := ask(t, verb, base+target, `{}`); a.status != http.StatusTooManyRequests {
			t.Errorf("%s %s gives status %d: %s", verb, target, a.status, a.body)
		}
	}
	if n := parsed.Load(); n != 0 {
		t.Errorf("%d requests were parsed", n)
	}
}

func options(t *testing.T) protocol.Options {
	t.Helper()
	settings, err := setting.Resolve(rest.New().Spec().Settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	return protocol.Options{
		Codec: jsoncodec.Codec{}, Settings: settings, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage,
		DialContext: new(net.Dialer).DialContext,
	}
}
