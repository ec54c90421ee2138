package call_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/call"
	"github.com/tare-bench/tare/rpc"
)

// compact gives JSON values without what is only for people.
func compact(t *testing.T, text string) string {
	t.Helper()
	var all []string
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var v json.RawMessage
		err := d.Decode(&v)
		if errors.Is(err, io.EOF) {
			return strings.Join(all, " ")
		}
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		var b bytes.Buffer
		if err := json.Compact(&b, v); err != nil {
			t.Fatal(err)
		}
		all = append(all, b.String())
	}
}

// Each kind of method is called over every sort of stack, with servers that are
// those of comparisons.
func TestEveryStackCarriesEveryKind(t *testing.T) {
	const item = `{"text":"Zoë","number":"9007199254740993","mood":"MOOD_BRISK"}`
	for _, stack := range []string{
		"grpc+proto", "grpc+json", "grpc+protojson", "grpc+proto+gzip", "grpc+json+zstd",
		"connect+proto", "connect+json", "connect+json+gzip", "connect+proto@http=2",
		"grpcweb+proto", "grpcweb+json", "grpcweb+proto+gzip@http=2",
	} {
		t.Run(stack, func(t *testing.T) {
			addr := serve(t, stack)
			for _, test := range []struct{ method, in, want string }{
				{"Echo", `{"item":` + item + `}`, `{"item":` + item + `}`},
				{"Echo", "", `{}`},
				{"Expand", `{"item":` + item + `,"count":2}`, `{"item":` + item + `} {"item":` + item + `}`},
				{"Expand", `{}`, ``},
				{"Collect", `{} {"item":` + item + `}`, `{"count":2,"last":` + item + `}`},
				{"Collect", ``, `{}`},
				{"Converse", `{"item":` + item + `} {}` + "\n" + `{"item":{"text":"b"}}`, `{"item":` + item + `} {} {"item":{"text":"b"}}`},
			} {
				http1 := strings.HasPrefix(stack, "connect") || strings.HasPrefix(stack, "grpcweb")
				if http1 && !strings.Contains(stack, "http=2") && test.method == "Converse" {
					continue
				}
				r := request{url: "http://" + addr + "/" + service + "/" + test.method, stack: stack}
				r.printer.Verbose = true
				if test.in != "" {
					r.in = text(test.in)
				}
				out, notes, timing, err := ask(t.Context(), t, r)
				if err != nil {
					t.Errorf("%s of %s: %v", test.method, test.in, err)
				}
				for _, coding := range []string{"gzip", "zstd"} {
					sent := regexp.MustCompile(`(?m)^> (grpc-|connect-)?(content-)?encoding: ` + coding)
					if told, chosen := sent.MatchString(notes), strings.Contains(stack, coding); told != chosen {
						t.Errorf("%s by %s says that it is of %s: %v, in\n%s", test.method, stack, coding, told, notes)
					}
				}
				if got := compact(t, out); got != test.want {
					t.Errorf("%s of %s printed %s, want %s", test.method, test.in, got, test.want)
				}
				if timing.Total < timing.FirstByte || timing.FirstByte < timing.Dial || timing.Dial <= 0 || timing.Sent < 80 || timing.Received < 80 {
					t.Errorf("%s took %+v, which cannot be", test.method, timing)
				}
			}
		})
	}
}

// A failure keeps its code and message over each protocol.
func TestFailuresKeepTheirCode(t *testing.T) {
	for _, stack := range []string{"grpc+proto", "connect+json", "grpcweb+proto"} {
		addr := serve(t, stack)
		for method, in := range map[string]string{
			"Echo":   `{"failCode":8,"failMessage":"no more: 100 %"}`,
			"Expand": `{"count":1,"failCode":8}`,
		} {
			out, _, _, err := ask(t.Context(), t, request{url: "http://" + addr + "/" + service + "/" + method, stack: stack, in: text(in)})
			var f *call.Failure
			if !errors.As(err, &f) || f.Code != rpc.ResourceExhausted {
				t.Errorf("%s by %s ended with %v, want RESOURCE_EXHAUSTED", method, stack, err)
				continue
			}
			if want := map[string]string{"Echo": "no more: 100 %", "Expand": "after 1"}[method]; f.Message != want {
				t.Errorf("%s by %s says %q, want %q", method, stack, f.Message, want)
			}
			if method == "Expand" && compact(t, out) != "{}" {
				t.Errorf("%s by %s printed %q before it failed, want one message", method, stack, out)
			}
		}
	}
}

func TestMetadataAndDetails(t *testing.T) {
	addr := serveStock(t, reflects)
	r := request{
		url: "grpc://" + addr + "/" + service + "/Echo", in: text(`{"failCode":3,"failMessage":"no"}`),
		options: call.Options{Header: http.Header{"Token": {"a", "b"}}, Authority: "ledger.acme.com"},
	}
	r.printer.Verbose = true
	_, notes, _, err := ask(t.Context(), t, r)
	var f *call.Failure
	if !errors.As(err, &f) {
		t.Fatalf("ended with %v", err)
	}
	want := []string{"field item.text: too short", "retry after 1.5s", `tare.conformance.v1.CollectResponse: {"count":7}`}
	if got := strings.Join(f.Details, "\n"); got != strings.Join(want, "\n") {
		t.Errorf("details are\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	for _, line := range []string{
		"> token: a\n> token: b\n", "> grpc-timeout: ", "> :authority: ledger.acme.com\n",
		"< HTTP/2.0 200 OK\n", "< seen: a+b at ledger.acme.com\n", "< cost: 3\n", "< grpc-status: 3\n",
	} {
		if !strings.Contains(notes, line) {
			t.Errorf("there is no %q in\n%s", line, notes)
		}
	}
	if n := strings.Count(notes, "< content-type: "); n != 1 {
		t.Errorf("the header is told %d times in\n%s", n, notes)
	}
	r.in, r.printer.Verbose, r.printer.Include = text(`{"item":{"text":"x"}}`), false, true
	out, notes, _, err := ask(t.Context(), t, r)
	if err != nil || notes != "" {
		t.Errorf("ended with %v and %q", err, notes)
	}
	if !strings.HasPrefix(out, "HTTP/2.0 200 OK\n") || !strings.Contains(out, "\n\n{\n") || !strings.HasSuffix(out, "\n}\n\ncost: 3\ngrpc-message: \ngrpc-status: 0\n") {
		t.Errorf("header, message and trailer are not around one another in\n%s", out)
	}
}

func TestMetadataOfStreams(t *testing.T) {
	addr := serveStock(t, reflects)
	r := request{url: "grpc://" + addr + "/" + service + "/Converse", options: call.Options{Header: http.Header{"Token": {"a"}}}}
	r.printer.Verbose = true
	if _, notes, _, err := ask(t.Context(), t, r); err != nil || !strings.Contains(notes, "> token: a\n") || !strings.Contains(notes, "< grpc-status: 0\n") {
		t.Errorf("ended with %v and\n%s", err, notes)
	}
}

// A person who types sees each reply before the next line, and can leave.
func TestConverseWhileTyping(t *testing.T) {
	addr := serveStock(t, reflects)
	typed, keyboard := io.Pipe()
	screen := &replies{seen: make(chan string)}
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		r := request{url: "grpc://" + addr + "/" + service + "/Converse", in: &call.Input{Name: "standard input", Reader: typed}}
		r.printer.Out, r.printer.Err = screen, io.Discard
		_, err := askOn(ctx, t, r)
		ended <- err
	}()
	for _, word := range []string{"one", "two"} {
		if _, err := io.WriteString(keyboard, `{"item":{"text":"`+word+`"}}`+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := <-screen.seen; !strings.Contains(got, word) {
			t.Fatalf("the reply to %s is %s", word, got)
		}
	}
	interrupt()
	interrupted(t, ended)
	if err := keyboard.Close(); err != nil {
		t.Error(err)
	}
}

func TestLeaveBeforeTyping(t *testing.T) {
	addr := serveStock(t, reflects)
	typed, keyboard := io.Pipe()
	reading := make(chan struct{})
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		in := &call.Input{Name: "standard input", Reader: io.TeeReader(io.MultiReader(strings.NewReader(" "), typed), once(reading))}
		_, _, _, err := ask(ctx, t, request{url: "grpc://" + addr + "/" + service + "/Echo", in: in})
		ended <- err
	}()
	<-reading
	interrupt()
	interrupted(t, ended)
	if err := keyboard.Close(); err != nil {
		t.Error(err)
	}
}

// once is a writer that closes a channel when it is first written to.
type once chan struct{}

func (o once) Write(b []byte) (int, error) {
	close(o)
	return len(b), nil
}

func interrupted(t *testing.T, ended <-chan error) {
	t.Helper()
	select {
	case err := <-ended:
		if !errors.Is(err, call.ErrInterrupted) {
			t.Errorf("ended with %v, want an interruption", err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("an interruption does not end the call")
	}
}

// replies is a screen that waits for its reader.
type replies struct{ seen chan string }

func (r *replies) Write(b []byte) (int, error) {
	r.seen <- string(b)
	return len(b), nil
}
