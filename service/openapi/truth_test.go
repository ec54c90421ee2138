package openapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
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

// served answers svc over REST with JSON, until the test ends.
func served(t *testing.T, svc *rpc.Service, h rpc.Handler) (addr string) {
	t.Helper()
	settings, err := setting.Resolve(rest.New().Spec().Settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- rest.New().Serve(ctx, l, svc, h, protocol.Options{
			Codec: codecjson.Codec{}, Settings: settings, InFlight: 1, MaxMessage: protocol.DefaultMaxMessage,
		})
	}()
	t.Cleanup(func() {
		end()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// witness makes requests and holds both them and the answers to a document.
type witness struct {
	addr   string
	router routers.Router
}

func newWitness(t *testing.T, svc *rpc.Service, h rpc.Handler) *witness {
	t.Helper()
	router, err := gorillamux.NewRouter(document(t, svc))
	if err != nil {
		t.Fatal(err)
	}
	return &witness{served(t, svc, h), router}
}

var strict = &openapi3filter.Options{IncludeResponseStatus: true, RejectWhenRequestBodyNotSpecified: true}

// post gives an answer's status and body. Unless wrong, the request must be
// right by the document too.
func (w *witness) post(t rapid.TB, path string, body []byte, wrong bool) (status int, media string, answer []byte) {
	t.Helper()
	build := func() *http.Request {
		r, err := http.NewRequest(http.MethodPost, "http://"+w.addr+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	r := build()
	route, params, err := w.router.FindRoute(r)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route, Options: strict}
	if err := openapi3filter.ValidateRequest(context.Background(), in); (err != nil) != wrong {
		t.Fatalf("request to %s by the document: %v, of\n%.2000s", path, err, body)
	}
	got, err := http.DefaultClient.Do(build())
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	answer, err = io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	if media = got.Header.Get("Content-Type"); media == "application/x-ndjson" {
		w.lines(t, route.Operation, answer)
		return got.StatusCode, media, answer
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: got.StatusCode, Header: got.Header,
		Body: io.NopCloser(bytes.NewReader(answer)), Options: strict,
	}
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		t.Fatalf("answer of %s by the document: %v, of\n%.2000s", path, err, answer)
	}
	return got.StatusCode, media, answer
}

// lines holds each line of a stream to the document.
func (w *witness) lines(t rapid.TB, op *openapi3.Operation, answer []byte) {
	t.Helper()
	schema := op.Responses.Value("200").Value.Content["application/x-ndjson"].Schema.Value
	all := bufio.NewScanner(bytes.NewReader(answer))
	all.Buffer(nil, len(answer)+1)
	for all.Scan() {
		var line any
		if err := errors.Join(json.Unmarshal(all.Bytes(), &line), schema.VisitJSON(line)); err != nil {
			t.Fatalf("line by the document: %v, of\n%.2000s", err, all.Bytes())
		}
	}
}

func item(depth int) *rapid.Generator[*conformance.Item] {
	return rapid.Custom(func(t *rapid.T) *conformance.Item {
		i := &conformance.Item{
			Text:   rapid.String().Draw(t, "text"),
			Number: rapid.Int64().Draw(t, "number"),
			Ratio:  rapid.Float64().Draw(t, "ratio"),
			Blob:   rapid.SliceOf(rapid.Byte()).Draw(t, "blob"),
			Mood:   conformance.Mood(rapid.Int32Range(0, 2).Draw(t, "mood")), // those that have a name
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

func encoded(t rapid.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWhatIsSentAndAnsweredIsWhatTheDocumentSays(t *testing.T) {
	w := newWitness(t, conformance.Service, conformance.Handler{})
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.Int32Range(0, int32(rpc.Unauthenticated)).Draw(t, "code")
		one := item(2).Draw(t, "item")
		status, media, _ := w.post(t, "/v1/echo", encoded(t, &conformance.EchoRequest{Item: one, FailCode: code, FailMessage: one.Text}), false)
		if want := rpc.Code(code).HTTPStatus(); status != want {
			t.Errorf("status %d with %s, want %d", status, rpc.Code(code), want)
		}
		if problem := media == "application/problem+json"; problem != (code != 0) {
			t.Errorf("code %d is answered as %s", code, media)
		}
		_, media, answer := w.post(t, "/v1/expand", encoded(t, &conformance.ExpandRequest{Item: one, Count: 3, FailCode: code}), false)
		if want := 3 + min(int(code), 1); media != "application/x-ndjson" || bytes.Count(answer, []byte("\n")) != want {
			t.Errorf("a stream of %s with %d lines, want %d", media, bytes.Count(answer, []byte("\n")), want)
		}
	})
}

func TestExamplesAreWhatTheDocumentSays(t *testing.T) {
	w := newWitness(t, conformance.Service, conformance.Handler{})
	for _, e := range conformance.Examples() {
		if e.NotJSON || e.Item != nil && (e.Item.Mood < 0 || e.Item.Mood > 2) {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			w.post(t, "/v1/echo", encoded(t, &conformance.EchoRequest{Item: e.Item}), false)
		})
	}
}

func TestRefusalsAreWhatTheDocumentSays(t *testing.T) {
	h := conformance.Handler{}
	w := newWitness(t, conformance.Service, rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
		err := h.Handle(ctx, m, s)
		if e := rpc.ErrorOf(err); e != nil {
			e.RetryAfter = 1500 * time.Millisecond
			e.Violations = []rpc.Violation{{Field: "item.text", Description: "must not be so", Reason: "STRING_SO"}, {}}
		}
		return err
	}))
	for body, status := range map[string]int{
		`{"failCode":3,"failMessage":"no"}`: 400, `{"failCode":8}`: 429, `{"failCode":14}`: 503, `{"failCode":5}`: 404,
	} {
		if got, _, _ := w.post(t, "/v1/echo", []byte(body), false); got != status {
			t.Errorf("%s: %d, want %d", body, got, status)
		}
	}
	for _, body := range []string{`[]`, `{"item":7}`, `{"hang":"yes"}`, `{"item":{"number":"x"}}`, `{"item":{"mood":"MOOD_SOUR"}}`} {
		if got, _, _ := w.post(t, "/v1/echo", []byte(body), true); got != http.StatusBadRequest {
			t.Errorf("%s: %d, want 400 as the document has it", body, got)
		}
	}
}
