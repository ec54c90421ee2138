package connect_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/connect"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

func options(t *testing.T) protocol.Options {
	t.Helper()
	settings, err := setting.Resolve(connect.New().Spec().Settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	return protocol.Options{
		Codec: json.Codec{}, Settings: settings, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage,
		DialContext: new(net.Dialer).DialContext,
	}
}

// What a caller sees that knows HTTP, and no more of Connect than its JSON.
func TestRefusalIsOneOfHTTPToo(t *testing.T) {
	h := rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
		return &rpc.Error{Code: rpc.Unavailable, Message: "busy", RetryAfter: 1250 * time.Millisecond}
	})
	m, err := connect.New().Mount([]*rpc.Service{conformance.Service}, h, options(t), protocol.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for media, wait := range map[string]string{"application/json": "2", "application/grpc-web+json": ""} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, conformance.Echo.Path(), strings.NewReader("\x00\x00\x00\x00\x02{}"))
		if media == "application/json" {
			r.Body = io.NopCloser(strings.NewReader("{}"))
		}
		r.Header.Set("Content-Type", media)
		w := httptest.NewRecorder()
		m.Paths[conformance.Echo.Path()].ServeHTTP(w, r)
		said := w.Body.String() + w.Header().Get("Grpc-Message") // of gRPC-Web without messages
		if got := w.Header().Get("Retry-After"); got != wait || !strings.Contains(said, "busy") {
			t.Errorf("%s: status %d, Retry-After %q and %q, want %q", media, w.Code, got, said, wait)
		}
	}
}

// What stands before a server may answer for it.
func TestRefusalByAnother(t *testing.T) {
	foreign := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"code":"unavailable","message":"draining","details":[{"type":"a.b.Unknown","value":"AAAA"},{"type":"google.rpc.BadRequest","value":"/////w"}]}`)
	}))
	defer foreign.Close()
	c, err := connect.New().Dial(t.Context(), foreign.Listener.Addr().String(), conformance.Service, options(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_, err = rpc.Invoke(t.Context(), c, conformance.Echo, &conformance.EchoRequest{})
	e := rpc.ErrorOf(err)
	if e.Code != rpc.Unavailable || e.Message != "draining" || e.RetryAfter != 7*time.Second || len(e.Violations) != 0 {
		t.Errorf("the error is %+v", e)
	}
}
