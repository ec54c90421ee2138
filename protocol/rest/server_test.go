package rest_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/protocol/rest"
	"github.com/tare-bench/tare/rpc"
)

// serve gives the URL of a server of the conformance service with default
// settings.
func serve(t *testing.T, h rpc.Handler) string {
	t.Helper()
	return serveWith(t, h, options(t))
}

func serveWith(t *testing.T, h rpc.Handler, o protocol.Options) string {
	t.Helper()
	l := listen(t)
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- rest.New().Serve(ctx, l, conformance.Service, h, o)
	}()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// What curl and other people's clients may send.
func TestForeignRequests(t *testing.T) {
	base := serve(t, conformance.Handler{})
	for _, test := range []struct {
		name, verb, path, media, coding, timeout, body string
		status                                         int
		want                                           string // in the body
	}{
		{name: "a plain request", body: `{"item":{"text":"a"}}`, status: 200, want: `"text":"a"`},
		{name: "a parameter of the media type", media: "application/json; charset=utf-8", body: `{}`, status: 200},
		{name: "the coding that is none", coding: "identity", body: `{}`, status: 200},
		{name: "another media type", media: "text/plain", body: `{}`, status: 415, want: "INVALID_ARGUMENT"},
		{name: "a coding that was not agreed", coding: "br", body: `{}`, status: 415, want: "INVALID_ARGUMENT"},
		{name: "a time-out that is none", timeout: "soon", body: `{}`, status: 400, want: "INVALID_ARGUMENT"},
		{name: "another verb", verb: http.MethodPut, body: `{}`, status: 405, want: "UNIMPLEMENTED"},
		{name: "no such route", path: "/v1/ech", body: `{}`, status: 404, want: "NOT_FOUND"},
		{name: "no body", body: "", status: 400, want: "INVALID_ARGUMENT"},
		{name: "a failure", body: `{"failCode":5,"failMessage":"no such account"}`, status: 404,
			want: `{"type":"about:blank","title":"Not Found","status":404,"detail":"no such account","code":"NOT_FOUND"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			verb, path := http.MethodPost, "/v1/echo"
			if test.verb != "" {
				verb = test.verb
			}
			if test.path != "" {
				path = test.path
			}
			r, err := http.NewRequestWithContext(t.Context(), verb, base+path, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range map[string]string{
				"Content-Type": test.media, "Content-Encoding": test.coding, "Grpc-Timeout": test.timeout,
			} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			status, body := do(t, r)
			if status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("status %d, body %s; want %d and %s", status, body, test.status, test.want)
			}
		})
	}
}

// A caller whose stream is open, and who sends nothing, gets an early answer.
func TestAnswersBeforeAnOpenStreamEnds(t *testing.T) {
	base := serve(t, rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
		if _, err := s.Recv(); err != nil {
			return err
		}
		return rpc.Errorf(rpc.FailedPrecondition, "seen enough")
	}))
	body, w := io.Pipe()
	defer func() { _ = w.Close() }()
	go func() { _, _ = io.WriteString(w, "{}\n") }() // ends with the pipe
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/v1/collect", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-ndjson")
	if status, body := do(t, r); status != http.StatusBadRequest || !strings.Contains(body, "seen enough") {
		t.Errorf("status %d, body %s", status, body)
	}
}

func do(t *testing.T, r *http.Request) (status int, body string) {
	t.Helper()
	tr := &http.Transport{DisableCompression: true}
	defer tr.CloseIdleConnections()
	res, err := tr.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

func listen(t testing.TB) net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
