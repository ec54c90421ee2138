package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"
	"go.yaml.in/yaml/v3"
)

// Where a document and its page stand.
const (
	jsonPath = "/openapi.json"
	yamlPath = "/openapi.yaml"
	docsPath = "/docs"
)

// Handlers are what a document is shown with, by http.ServeMux's patterns. The
// page is Swagger UI, which is part of this program: it loads nothing from
// elsewhere, and could not.
func Handlers(doc *openapi3.T) (map[string]http.Handler, error) {
	asJSON, asYAML, err := encode(doc)
	if err != nil {
		return nil, err
	}
	docs, err := page(doc.Info.Title)
	if err != nil {
		return nil, err
	}
	return map[string]http.Handler{
		"GET " + jsonPath:       file(jsonMedia, asJSON),
		"GET " + yamlPath:       file("application/yaml", asYAML),
		"GET " + docsPath:       docs,
		"GET " + docsPath + "/": docs,
		"GET /{$}":              http.RedirectHandler(docsPath, http.StatusFound),
	}, nil
}

// encode writes a document.
func encode(doc *openapi3.T) (asJSON, asYAML []byte, err error) {
	if asJSON, err = doc.MarshalJSON(); err != nil {
		return nil, nil, fmt.Errorf("encode the document: %w", err)
	}
	var root yaml.Node // JSON is YAML, and so numbers stay as they are written
	if err := yaml.Unmarshal(asJSON, &root); err != nil {
		return nil, nil, fmt.Errorf("read the document: %w", err)
	}
	plain(&root)
	for _, top := range root.Content {
		sortKeys(top, []string{"openapi", "info", "servers", "tags", "paths", "components"})
	}
	if asYAML, err = yaml.Marshal(&root); err != nil {
		return nil, nil, fmt.Errorf("encode the document as YAML: %w", err)
	}
	return asJSON, asYAML, nil
}

// plain has a node written as a person would.
func plain(n *yaml.Node) {
	n.Style = 0
	for _, below := range n.Content {
		plain(below)
	}
}

// sortKeys orders a mapping, whose keys and values alternate.
func sortKeys(n *yaml.Node, order []string) {
	pairs := slices.Collect(slices.Chunk(n.Content, 2))
	slices.SortStableFunc(pairs, func(a, b []*yaml.Node) int {
		return slices.Index(order, a[0].Value) - slices.Index(order, b[0].Value)
	})
	n.Content = slices.Concat(pairs...)
}

// file answers with what does not change while the program runs.
func file(media string, content []byte) http.Handler {
	tag := `"` + digest(content)[:22] + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", media)
		h.Set("Etag", tag)
		h.Set("Cache-Control", "no-cache") // ask whether it is still so
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// inlineScript is a script of a page that is not in a file of its own.
var inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)

// page shows the document for people. Its policy lets it run what it came with
// and call this very host; scripts in the page itself are known by their digest.
func page(title string) (http.Handler, error) {
	ui := v5emb.NewHandlerWithConfig(swgui.Config{
		Title: title, SwaggerJSON: jsonPath, BasePath: docsPath + "/",
		SettingsUI: map[string]string{"defaultModelsExpandDepth": "1"}, // list the schemas
	})
	made := httptest.NewRecorder()
	ui.ServeHTTP(made, httptest.NewRequest(http.MethodGet, docsPath, nil))
	scripts := inlineScript.FindAllSubmatch(made.Body.Bytes(), -1)
	if made.Code != http.StatusOK || len(scripts) == 0 {
		return nil, fmt.Errorf("make the page %s: status %d, %d scripts", docsPath, made.Code, len(scripts))
	}
	allowed := []string{"'self'"}
	for _, script := range scripts {
		allowed = append(allowed, "'sha256-"+digest(script[1])+"'")
	}
	policy := strings.Join([]string{
		"default-src 'none'",
		"script-src " + strings.Join(allowed, " "),
		"style-src 'self' 'unsafe-inline'", // it sets styles of elements
		"img-src 'self' data:",
		"connect-src 'self'",
		"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	}, "; ")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		ui.ServeHTTP(w, r)
	}), nil
}
