package observe

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// TestABusyCollectorIsAskedAgain, and one that refuses is not.
func TestABusyCollectorIsAskedAgain(t *testing.T) {
	for _, c := range []struct {
		answers []int
		failure string
	}{
		{[]int{200}, ""},
		{[]int{429, 503, 502, 504, 200}, ""},
		{[]int{400}, `400 Bad Request: "why"`},
	} {
		asked := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Api-Key") + r.URL.Path; got != "a=b c/in/v1/traces" {
				t.Errorf("asked with %q", got)
			}
			w.WriteHeader(c.answers[asked])
			asked++
			_, _ = io.WriteString(w, "why")
		}))
		env := map[string]string{
			varEndpoint: s.URL + "/in/", varsHeaders[0]: "no=no", varsHeaders[1]: "other=1, api-key=a%3Db%20c",
		}
		to, err := newCollector(func(name string) string { return env[name] })
		if err != nil {
			t.Fatal(err)
		}
		err = to.UploadTraces(t.Context(), []*tracepb.ResourceSpans{{}})
		if (err == nil) != (c.failure == "") || err != nil && !strings.Contains(err.Error(), c.failure) {
			t.Errorf("%v: %v", c.answers, err)
		}
		if asked != len(c.answers) {
			t.Errorf("asked %d times, want %d", asked, len(c.answers))
		}
		s.Close()
	}
}
