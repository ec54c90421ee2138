package port_test

import (
	"net/http"
	"testing"
)

// A path that is not clean is nobody's, as REST has it where it stands alone.
func TestNothingIsRedirected(t *testing.T) {
	r := serve(t)
	tr := &http.Transport{DisableKeepAlives: true}
	for _, path := range []string{"//v1/echo", "/v1/../v1/echo", "/v1/./items/a/levels/1", "/healthz/", "/./healthz"} {
		for _, verb := range []string{http.MethodGet, http.MethodPost} {
			req, err := http.NewRequestWithContext(patient(t), verb, "http://"+r.addr+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := tr.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != http.StatusNotFound {
				t.Errorf("%s %s gives status %d, want 404", verb, path, res.StatusCode)
			}
		}
	}
}
