package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/tare-bench/tare/catalog"
)

// What a server says beside an error stands between the error and its hint.
func TestDetailsAreLines(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"status":"UNAUTHENTICATED","message":"who are you?","details":[`+
			`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"2s"},`+
			`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"NO_TOKEN","domain":"acme.com"}]}}`)
	}))
	t.Cleanup(server.Close)
	var out, err strings.Builder
	s := Process()
	s.Out, s.Err = &out, &err
	code := Main([]string{"call", server.URL + "/v1/posts"}, catalog.Default(), s)
	const want = `tare: error: UNAUTHENTICATED: who are you?
tare: detail: retry after 2s
tare: detail: google.rpc.ErrorInfo: {"domain":"acme.com","reason":"NO_TOKEN"}
tare: hint: say who calls, with -H 'authorization: …'
`
	if code != exitFailed || out.String() != "" || err.String() != want {
		t.Errorf("ended with %d, printed %q and\n%s, want\n%s", code, out.String(), err.String(), want)
	}
}
