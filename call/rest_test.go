package call_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tare-bench/tare/call"
)

// restAnswers is a server that answers in the ways that REST services do.
func restAnswers(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	answer := func(pattern, media string, status int, body string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", media)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
	}
	answer("GET /json", "application/json; charset=utf-8", http.StatusOK, `{"b":1,"a":[9007199254740993]}`)
	answer("GET /problem", "application/problem+json", http.StatusConflict, `{"title":"taken"}`)
	answer("GET /told", "application/problem+json", http.StatusBadRequest,
		`{"type":"about:blank","title":"Bad Request","status":400,"detail":"no","code":"OUT_OF_RANGE","retryAfter":1.5,`+
			`"violations":[{"field":"a.b","description":"must be 1","reason":"CONST"}]}`)
	answer("GET /wrong", "application/json", http.StatusBadRequest, `{"n":1}`)
	answer("GET /broken", "application/json", http.StatusOK, `{"b":`)
	answer("GET /text", "text/plain", http.StatusOK, "as it\r\n is")
	answer("GET /lines", "application/x-ndjson", http.StatusOK, "{\"n\":1}\n{\"n\":2}")
	answer("GET /moved", "text/html", http.StatusFound, "elsewhere")
	answer("GET /google", "application/json", http.StatusNotFound,
		`{"error":{"code":404,"status":"NOT_FOUND","message":"no order 7","details":[`+
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"},{"@type":"acme.com/acme.v1.X","n":1}]}}`)
	answer("GET /plain", "text/plain", http.StatusServiceUnavailable, "busy\n")
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %s %q %v", r.Host, r.Header.Get("Content-Type"), r.Header.Get("X-Day"), body, r.Header.Get("Grpc-Timeout") != "")
	})
	mux.HandleFunc("GET /short", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "cut")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestRESTShowsWhatIsAnswered(t *testing.T) {
	server := restAnswers(t)
	for _, test := range []struct {
		path, out, err, details string
		in                      *call.Input
	}{
		{path: "/json", out: "{\n  \"b\": 1,\n  \"a\": [\n    9007199254740993\n  ]\n}\n"},
		{path: "/problem", out: "{\n  \"title\": \"taken\"\n}\n", err: "ALREADY_EXISTS: HTTP status 409 Conflict"},
		{path: "/told", err: "OUT_OF_RANGE: no", details: "field a.b: must be 1\nretry after 1.5s"},
		{path: "/wrong", out: "{\n  \"n\": 1\n}\n", err: "INVALID_ARGUMENT: HTTP status 400 Bad Request"},
		{path: "/broken", out: "{\"b\":\n"},
		{path: "/text", out: "as it\r\n is"},
		{path: "/lines", out: "{\n  \"n\": 1\n}\n{\n  \"n\": 2\n}\n"},
		{path: "/moved", out: "elsewhere"},
		{path: "/google", err: "NOT_FOUND: no order 7", details: "retry after 2s\n{\"@type\":\"acme.com/acme.v1.X\",\"n\":1}"},
		{path: "/plain", out: "busy\n", err: "UNAVAILABLE: HTTP status 503 Service Unavailable"},
		{path: "/echo", in: text(`{"a": 1} x`), out: "ledger.acme.com application/json monday \"{\\\"a\\\": 1} x\" true"},
		{path: "/short", out: "cut", err: "UNAVAILABLE: unexpected EOF"},
	} {
		o := call.Options{Header: http.Header{"X-Day": {"monday"}}, Authority: "ledger.acme.com"}
		out, _, _, err := ask(t.Context(), t, request{url: server.URL + test.path, in: test.in, options: o})
		if out != test.out {
			t.Errorf("%s printed %q, want %q", test.path, out, test.out)
		}
		got, details := "", ""
		if err != nil {
			got = err.Error()
			details = strings.Join(err.(interface{ Lines() []string }).Lines(), "\n")
			if hint := err.(interface{ Hint() string }).Hint(); strings.Contains(hint, "answers so") {
				t.Errorf("%s, which is answered without TLS, ended with the hint %q", test.path, hint)
			}
		}
		if got != test.err || details != test.details {
			t.Errorf("%s ended with %q and %q, want %q and %q", test.path, got, details, test.err, test.details)
		}
	}
}

// With TLS client and server settle on a version of HTTP.
func TestRESTTakesTheBestVersion(t *testing.T) {
	for _, two := range []bool{false, true} {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.EnableHTTP2 = two
		server.StartTLS()
		t.Cleanup(server.Close)
		r := request{url: server.URL, options: call.Options{TLS: &tls.Config{InsecureSkipVerify: true}}}
		r.printer.Verbose = true
		_, notes, _, _ := ask(t.Context(), t, r)
		if want := map[bool]string{false: "< HTTP/1.1 404", true: "< HTTP/2.0 404"}[two]; !strings.Contains(notes, want) {
			t.Errorf("there is no %s in\n%s", want, notes)
		}
	}
}

// Tare's own servers answer REST over both versions of HTTP, streams too.
func TestRESTOfComparisons(t *testing.T) {
	for _, stack := range []string{"rest+json", "rest+json@http=2"} {
		addr := serve(t, stack)
		for _, test := range []struct{ path, in, want string }{
			{"/v1/echo", `{"item":{"text":"x"}}`, `{"item":{"text":"x","ratio":0}}`},
			{"/v1/expand", `{"count":2}`, `{"result":{}} {"result":{}}`},
		} {
			out, _, _, err := ask(t.Context(), t, request{url: "http://" + addr + test.path, stack: stack, in: text(test.in)})
			if got := compact(t, out); err != nil || got != test.want {
				t.Errorf("%s by %s printed %s and ended with %v, want %s", test.path, stack, got, err, test.want)
			}
		}
	}
}

// A file's length is told: a body in chunks is one that some servers refuse.
func TestRESTTellsTheLengthOfAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in.json")
	if err := os.WriteFile(name, []byte("{} {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%d %v", r.ContentLength, r.TransferEncoding)
	}))
	t.Cleanup(server.Close)
	out, _, _, err := ask(t.Context(), t, request{url: server.URL, in: &call.Input{Name: name, Reader: file}})
	if out != "5 []" || err != nil {
		t.Errorf("the server saw a length of %s (%v), want 5 []", out, err)
	}
}
