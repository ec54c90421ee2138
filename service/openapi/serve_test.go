package openapi_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/service/openapi"
)

func handlers(t *testing.T) http.Handler {
	t.Helper()
	all, err := openapi.Handlers(document(t, shop()...))
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for pattern, h := range all {
		mux.Handle(pattern, h)
	}
	return mux
}

func get(h http.Handler, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestDocumentIsServedTwice(t *testing.T) {
	h := handlers(t)
	var docs []*openapi3.T
	for path, media := range map[string]string{"/openapi.json": "application/json", "/openapi.yaml": "application/yaml"} {
		w := get(h, path)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != media {
			t.Fatalf("%s: %d, %v", path, w.Code, w.Header())
		}
		doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if err := doc.Validate(t.Context()); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		docs = append(docs, doc)
		tag := w.Header().Get("Etag")
		if again := get(h, path, "If-None-Match", tag); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s asked for again: %d and %d bytes, want 304", path, again.Code, again.Body.Len())
		}
		if other := get(h, path, "If-None-Match", `"other"`); other.Code != http.StatusOK {
			t.Errorf("%s in place of an older one: %d", path, other.Code)
		}
	}
	one, _ := docs[0].MarshalJSON()
	other, _ := docs[1].MarshalJSON()
	if diff := cmp.Diff(string(one), string(other)); diff != "" {
		t.Errorf("JSON and YAML differ:\n%s", diff)
	}
	if text := get(h, "/openapi.yaml").Body.String(); !strings.HasPrefix(text, "openapi: 3.0.3\ninfo:\n") {
		t.Errorf("the YAML begins %.100q", text)
	}
}

func TestPageLoadsNothingFromElsewhere(t *testing.T) {
	h := handlers(t)
	if w := get(h, "/"); w.Code != http.StatusFound || w.Header().Get("Location") != "/docs" {
		t.Errorf("/ gives %d to %q, want to be sent to /docs", w.Code, w.Header().Get("Location"))
	}
	w := get(h, "/docs")
	page := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(page, "/openapi.json") || !strings.Contains(page, "<title>Shop") {
		t.Fatalf("/docs: %d\n%s", w.Code, page)
	}
	policy := w.Header().Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy %q lacks %s", policy, part)
		}
	}
	if scripts := policy[strings.Index(policy, "script-src"):]; strings.Contains(scripts[:strings.Index(scripts, ";")], "unsafe") ||
		strings.Contains(policy, "http") || strings.Contains(policy, "*") {
		t.Errorf("the policy %q allows scripts or hosts that it need not", policy)
	}
	for _, script := range regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(page, -1) {
		sum := sha256.Sum256([]byte(script[1]))
		if digest := base64.StdEncoding.EncodeToString(sum[:]); !strings.Contains(policy, "'sha256-"+digest+"'") {
			t.Errorf("the policy keeps the page's own script from running: %.80s", script[1])
		}
	}
	if regexp.MustCompile(`\son[a-z]+=`).MatchString(page) {
		t.Error("the page has scripts in attributes, which the policy keeps from running")
	}
	loaded := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1)
	if len(loaded) < 4 {
		t.Fatalf("the page loads %v, want scripts, a style and icons", loaded)
	}
	for _, m := range loaded {
		if !strings.HasPrefix(m[1], "/docs/") {
			t.Errorf("the page loads %s", m[1])
			continue
		}
		if asset := get(h, m[1]); asset.Code != http.StatusOK || asset.Body.Len() == 0 {
			t.Errorf("%s: %d and %d bytes", m[1], asset.Code, asset.Body.Len())
		}
	}
	if w := get(h, "/docs/nothing.js"); w.Code != http.StatusNotFound {
		t.Errorf("an asset that is not there: %d", w.Code)
	}
}
