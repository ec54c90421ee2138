package openapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"pgregory.net/rapid"

	codecjson "github.com/tare-bench/tare/codec/json"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/protocol/rest"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
)

func options(t *testing.T) protocol.Options {
	t.Helper()
	settings, err := setting.Resolve(rest.New().Spec().Settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	return protocol.Options{
		Codec: codecjson.Codec{}, Settings: settings, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage,
		DialContext: new(net.Dialer).DialContext,
	}
}

// served answers svc over REST with JSON, until the test ends.
func served(t *testing.T, svc *rpc.Service, h rpc.Handler) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- rest.New().Serve(ctx, l, svc, h, options(t)) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// witness stands between a client and a server and holds what passes, both ways,
// to a document.
type witness struct {
	addr   string // of the server
	router routers.Router
	own    *httptest.Server

	mu    sync.Mutex
	seen  int
	wrong []error
}

func newWitness(t *testing.T, svc *rpc.Service, h rpc.Handler) *witness {
	t.Helper()
	router, err := gorillamux.NewRouter(document(t, svc))
	if err != nil {
		t.Fatal(err)
	}
	w := &witness{addr: served(t, svc, h), router: router}
	w.own = httptest.NewServer(w)
	t.Cleanup(w.own.Close)
	return w
}

// dial gives a client of the server, by way of the witness.
func (w *witness) dial(t *testing.T, svc *rpc.Service) rpc.Handler {
	t.Helper()
	conn, err := rest.New().Dial(t.Context(), w.own.Listener.Addr().String(), svc, options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// said gives what was wrong since it was asked last. Somebody must have called.
func (w *witness) said() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := errors.Join(w.wrong...)
	if w.seen == 0 {
		err = errors.New("nothing passed")
	}
	w.seen, w.wrong = 0, nil
	return err
}

func (w *witness) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, err)
}

func (w *witness) ServeHTTP(to http.ResponseWriter, from *http.Request) {
	w.mu.Lock()
	w.seen++
	w.mu.Unlock()
	sent, _ := io.ReadAll(from.Body)
	from.Body = io.NopCloser(bytes.NewReader(sent))
	route, params, err := w.router.FindRoute(from)
	if err != nil {
		w.note(fmt.Errorf("%s %s: %w", from.Method, from.URL, err))
		http.Error(to, "not in the document", http.StatusTeapot)
		return
	}
	// A body that is a stream of lines is no JSON.
	in := &openapi3filter.RequestValidationInput{Request: from, PathParams: params, Route: route, Options: &openapi3filter.Options{
		IncludeResponseStatus: true, RejectWhenRequestBodyNotSpecified: true, ExcludeRequestBody: from.Header.Get("Content-Type") == linesMedia,
	}}
	if err := openapi3filter.ValidateRequest(from.Context(), in); err != nil {
		w.note(fmt.Errorf("%s %s %.2000s: %w", from.Method, from.URL, sent, err))
	}
	again, _ := http.NewRequestWithContext(from.Context(), from.Method, "http://"+w.addr+from.RequestURI, bytes.NewReader(sent))
	again.Header = from.Header
	got, err := http.DefaultTransport.RoundTrip(again)
	if err != nil {
		w.note(err)
		return
	}
	defer got.Body.Close()
	answer, err := io.ReadAll(got.Body)
	if err := errors.Join(err, w.answered(in, got, answer)); err != nil {
		w.note(fmt.Errorf("%s %s gives %d %.2000s: %w", from.Method, from.URL, got.StatusCode, answer, err))
	}
	for name, values := range got.Header {
		to.Header()[name] = values
	}
	to.WriteHeader(got.StatusCode)
	_, _ = to.Write(answer)
}

const linesMedia = "application/x-ndjson"

// answered holds an answer to the document, each line of a stream by itself.
func (w *witness) answered(in *openapi3filter.RequestValidationInput, got *http.Response, answer []byte) error {
	if got.Header.Get("Content-Type") != linesMedia {
		return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
			RequestValidationInput: in, Status: got.StatusCode, Header: got.Header,
			Body: io.NopCloser(bytes.NewReader(answer)), Options: in.Options,
		})
	}
	media := in.Route.Operation.Responses.Status(got.StatusCode).Value.Content[linesMedia]
	if media == nil {
		return errors.New("the document knows no stream here")
	}
	all := bufio.NewScanner(bytes.NewReader(answer))
	all.Buffer(nil, len(answer)+1)
	for all.Scan() {
		var line any
		if err := errors.Join(json.Unmarshal(all.Bytes(), &line), media.Schema.Value.VisitJSON(line)); err != nil {
			return err
		}
	}
	return nil
}

func item(depth int) *rapid.Generator[*conformance.Item] {
	return rapid.Custom(func(t *rapid.T) *conformance.Item {
		i := &conformance.Item{
			Text:   rapid.String().Draw(t, "text"),
			Number: rapid.Int64().Draw(t, "number"),
			Ratio:  rapid.Float64().Draw(t, "ratio"),
			Blob:   rapid.SliceOf(rapid.Byte()).Draw(t, "blob"),
			Mood:   mood.Draw(t, "mood"),
			Tags:   rapid.SliceOf(rapid.String()).Draw(t, "tags"),
			Maybe:  rapid.Ptr(rapid.Int32(), true).Draw(t, "maybe"),
			Counts: rapid.MapOf(rapid.String(), rapid.Map(rapid.Int64(), func(n int64) conformance.Int64 { return conformance.Int64(n) })).Draw(t, "counts"),
		}
		if depth > 0 && rapid.Bool().Draw(t, "parent") {
			i.Child = item(depth-1).Draw(t, "child")
		}
		return i
	})
}

// mood is one of those that have a name.
var mood = rapid.Map(rapid.Int32Range(0, 2), func(n int32) conformance.Mood { return conformance.Mood(n) })

var question = rapid.Custom(func(t *rapid.T) *conformance.FindRequest {
	q := &conformance.FindRequest{
		Name:     rapid.StringMatching(`[^/]+`).Draw(t, "name"),
		Level:    rapid.Int32().Draw(t, "level"),
		PageSize: rapid.Int64().Draw(t, "size"),
		Ratio:    rapid.Float64().Draw(t, "ratio"),
		Exact:    rapid.Bool().Draw(t, "exact"),
		Token:    rapid.SliceOf(rapid.Byte()).Draw(t, "token"),
		Mood:     mood.Draw(t, "mood"),
		Tags:     rapid.SliceOf(rapid.StringN(1, -1, -1)).Draw(t, "tags"),
		Moods:    rapid.SliceOf(mood).Draw(t, "moods"),
		Maybe:    rapid.Ptr(rapid.Int32(), true).Draw(t, "maybe"),
		Open:     rapid.Ptr(rapid.Bool(), true).Draw(t, "open"),
	}
	if rapid.Bool().Draw(t, "ranged") {
		q.Range = &conformance.Range{From: rapid.Int64().Draw(t, "from"), To: rapid.Ptr(rapid.Int64(), true).Draw(t, "to")}
	}
	if rapid.Bool().Draw(t, "since") {
		at := time.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "second"), rapid.Int64Range(0, 999_999_999).Draw(t, "nano")).UTC()
		q.SinceTime = &at
	}
	return q
})

// TestWhatIsSentAndAnsweredIsWhatTheDocumentSays makes calls as clients do.
func TestWhatIsSentAndAnsweredIsWhatTheDocumentSays(t *testing.T) {
	w := newWitness(t, conformance.Service, conformance.Handler{})
	conn := w.dial(t, conformance.Service)
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.Int32Range(0, int32(rpc.Unauthenticated)).Draw(t, "code")
		one := item(2).Draw(t, "item")
		q := question.Draw(t, "question")
		for _, call := range []struct {
			method *rpc.Method
			in     any
			code   int32
		}{
			{conformance.Echo, &conformance.EchoRequest{Item: one, FailCode: code, FailMessage: one.Text}, code},
			{conformance.Expand, &conformance.ExpandRequest{Item: one, Count: 3, FailCode: code}, code},
			{conformance.Collect, &conformance.CollectRequest{Item: one}, 0},
			{conformance.Find, q, 0},
			{conformance.Amend, &conformance.AmendRequest{Name: q.Name, Item: one}, 0},
			{conformance.Follow, &conformance.FollowRequest{Count: 3, After: &q.PageSize}, 0},
		} {
			err := rpc.Call(context.Background(), conn, call.method, []any{call.in}, func(any) error { return nil })
			if got := int32(codeOf(err)); got != call.code {
				t.Errorf("%s ends with %v, want code %d", call.method.Name, err, call.code)
			}
			if err := w.said(); err != nil {
				t.Fatalf("%s: %v", call.method.Name, err)
			}
		}
	})
}

func codeOf(err error) rpc.Code {
	if err == nil {
		return rpc.OK
	}
	return rpc.ErrorOf(err).Code
}

func TestExamplesAreWhatTheDocumentSays(t *testing.T) {
	w := newWitness(t, conformance.Service, conformance.Handler{})
	conn := w.dial(t, conformance.Service)
	for _, e := range conformance.Examples() {
		if e.NotJSON || e.Item != nil && (e.Item.Mood < 0 || e.Item.Mood > 2) {
			continue
		}
		if _, err := rpc.Invoke(t.Context(), conn, conformance.Echo, &conformance.EchoRequest{Item: e.Item}); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		if err := w.said(); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

func TestRefusalsAreWhatTheDocumentSays(t *testing.T) {
	h := conformance.Handler{}
	w := newWitness(t, conformance.Service, rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
		err := h.Handle(ctx, m, s)
		if e := rpc.ErrorOf(err); e != nil && e.Message == "details" {
			e.RetryAfter = 1500 * time.Millisecond
			e.Violations = []rpc.Violation{{Field: "item.text", Description: "must not be so", Reason: "STRING_SO"}, {}}
		}
		return err
	}))
	for _, test := range []struct {
		verb, path, body string
		status           int
		wrong            bool // by the document too
	}{
		{"POST", "/v1/echo", `{"failCode":3,"failMessage":"details"}`, 400, false},
		{"POST", "/v1/echo", `{"failCode":8,"failMessage":"details"}`, 429, false},
		{"POST", "/v1/echo", `{"failCode":14,"failMessage":"details"}`, 503, false},
		{"POST", "/v1/echo", `{"failCode":14}`, 503, false},
		{"POST", "/v1/echo", `[]`, 400, true},
		{"POST", "/v1/echo", `{"item":7}`, 400, true},
		{"POST", "/v1/echo", `{"hang":"yes"}`, 400, true},
		{"POST", "/v1/echo", `{"item":{"number":"x"}}`, 400, true},
		{"POST", "/v1/echo", `{"item":{"mood":"MOOD_SOUR"}}`, 400, true},
		{"GET", "/v1/items/a/levels/high", ``, 400, true},
		{"GET", "/v1/items/a/levels/1?exact=perhaps", ``, 400, true},
		{"GET", "/v1/items/a/levels/1?mood=MOOD_SOUR", ``, 400, true},
		{"GET", "/v1/items/a/levels/1?range.from=x", ``, 400, true},
		{"GET", "/v1/items/a/levels/1?range.from=1&range.to=2&tags=a&tags=b&sinceTime=2026-01-02T03:04:05Z", ``, 200, false},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.verb, w.own.URL+test.path, bytes.NewReader([]byte(test.body)))
		if err != nil {
			t.Fatal(err)
		}
		if test.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
		if got.StatusCode != test.status {
			t.Errorf("%s %s: %d, want %d", test.path, test.body, got.StatusCode, test.status)
		}
		var request *openapi3filter.RequestError
		var response *openapi3filter.ResponseError
		said := w.said()
		if errors.As(said, &response) || errors.As(said, &request) != test.wrong {
			t.Errorf("%s %s: by the document %v", test.path, test.body, said)
		}
	}
}
