package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/observe"
)

type line = map[string]any

// logLines gives a logger from level on, and what reads the lines that it wrote
// since last time.
func logLines(t *testing.T, level string) (func() []line, *slog.Logger) {
	t.Helper()
	w := &lockedBuffer{}
	log, err := observe.NewLog(w, level, observe.LogJSON)
	if err != nil {
		t.Fatal(err)
	}
	return func() (all []line) {
		t.Helper()
		for text := range strings.Lines(w.take()) {
			var one line
			if err := json.Unmarshal([]byte(text), &one); err != nil {
				t.Fatalf("line %q: %v", text, err)
			}
			all = append(all, one)
		}
		return all
	}, log
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer b.b.Reset()
	return b.b.String()
}

// want checks names and values, one after the other.
func want(t *testing.T, got line, pairs ...any) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if name := pairs[i].(string); got[name] != pairs[i+1] {
			t.Errorf("%s is %v, want %v, in %v", name, got[name], pairs[i+1], got)
		}
	}
}

func wantSubstring(t *testing.T, got line, name, part string) {
	t.Helper()
	if text, _ := got[name].(string); !strings.Contains(text, part) {
		t.Errorf("%s is %q, want %q in it", name, text, part)
	}
}

func TestEachFailedCallIsALineAtItsCodesLevel(t *testing.T) {
	lines, log := logLines(t, "debug")
	h := newObserver(t, observe.Config{Log: log}).Server(conformance.Handler{}, conformance.Service)
	for code, level := range map[rpc.Code]string{
		rpc.OK: "DEBUG", rpc.Canceled: "DEBUG",
		rpc.InvalidArgument: "INFO", rpc.NotFound: "INFO", rpc.FailedPrecondition: "INFO",
		rpc.ResourceExhausted: "WARN", rpc.DeadlineExceeded: "WARN",
		rpc.Internal: "ERROR", rpc.Unknown: "ERROR", rpc.Unavailable: "ERROR", rpc.Code(99): "ERROR",
	} {
		_ = echoed(t.Context(), h, code)
		got := lines()
		if len(got) != 1 {
			t.Fatalf("%s gives %d lines, want one: %v", code, len(got), got)
		}
		want(t, got[0], "level", level, "code", code.String(),
			"service", "tare.conformance.v1.ConformanceService", "method", "Echo")
		if s, ok := got[0]["seconds"].(float64); !ok || s < 0 {
			t.Errorf("%s took %v seconds", code, got[0]["seconds"])
		}
	}
}

func TestWhatACallerSentIsNotLogged(t *testing.T) {
	lines, log := logLines(t, "debug")
	h := newObserver(t, observe.Config{Log: log}).Server(rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
		return &rpc.Error{Code: rpc.InvalidArgument, Message: "pin 4711 is wrong", Violations: []rpc.Violation{
			{Field: `pins["4711"]`, Description: "4711 is no pin", Reason: "STRING_PIN"},
		}}
	}), conformance.Service)
	_ = echoed(t.Context(), h, rpc.OK)
	got := lines()
	if len(got) != 1 {
		t.Fatalf("%d lines, want one", len(got))
	}
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("4711")) {
		t.Errorf("the line tells what was sent: %s", text)
	}
	want(t, got[0], "violations", 1.0)
	if reasons, _ := got[0]["reasons"].([]any); len(reasons) != 1 || reasons[0] != "STRING_PIN" {
		t.Errorf("reasons are %v, want the rule's name", got[0]["reasons"])
	}
}

func TestServicesOwnTroubleIsLoggedInShort(t *testing.T) {
	lines, log := logLines(t, "info")
	h := newObserver(t, observe.Config{Log: log}).Server(rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
		return rpc.Errorf(rpc.Internal, "disk is full %s", strings.Repeat("é", 10_000))
	}), conformance.Service)
	_ = echoed(t.Context(), h, rpc.OK)
	got := lines()
	wantSubstring(t, got[0], "error", "disk is full")
	if n := len(got[0]["error"].(string)); n > 1100 {
		t.Errorf("the line has an error of %d bytes", n)
	}
}

func TestWhatIsForTheLogIsNotToldOutside(t *testing.T) {
	lines, log := logLines(t, "info")
	h := newObserver(t, observe.Config{Log: log}).Server(rpc.HandlerFunc(func(context.Context, *rpc.Method, rpc.Stream) error {
		return fmt.Errorf("handle: %w", &rpc.Error{Code: rpc.Unavailable, Message: "no database at 10.1.2.3", Outside: "try again", RetryAfter: time.Second})
	}), conformance.Service)
	got := rpc.ErrorOf(echoed(t.Context(), h, rpc.OK))
	if want := (&rpc.Error{Code: rpc.Unavailable, Message: "try again", RetryAfter: time.Second}); !reflect.DeepEqual(got, want) {
		t.Errorf("callers are told %+v, want %+v", got, want)
	}
	wantSubstring(t, lines()[0], "error", "no database at 10.1.2.3")
}

func TestAFloodOfFailuresIsCountedAndNotWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lines, log := logLines(t, "info")
		o, err := observe.New(t.Context(), observe.Config{Log: log})
		if err != nil {
			t.Fatal(err)
		}
		h := o.Server(conformance.Handler{}, conformance.Service)
		for range 1000 {
			_ = echoed(t.Context(), h, rpc.ResourceExhausted)
		}
		_ = echoed(t.Context(), h, rpc.Internal)
		got := lines()
		if len(got) != 51 {
			t.Fatalf("%d lines, want 50 of one code and 1 of the other", len(got))
		}
		want(t, got[50], "code", "INTERNAL", "unwritten", nil)
		time.Sleep(time.Second)
		_ = echoed(t.Context(), h, rpc.ResourceExhausted)
		if got = lines(); len(got) != 1 {
			t.Fatalf("%d lines a second later, want one", len(got))
		}
		want(t, got[0], "unwritten", 950.0)
	})
}

func TestPeerIsLogged(t *testing.T) {
	lines, log := logLines(t, "info")
	h := newObserver(t, observe.Config{Log: log}).Server(conformance.Handler{}, conformance.Service)
	_ = echoed(rpc.WithPeer(t.Context(), "192.0.2.1:4711"), h, rpc.NotFound)
	want(t, lines()[0], "peer", "192.0.2.1:4711")
}

func TestLogIsWhatWasAskedFor(t *testing.T) {
	var b bytes.Buffer
	log, err := observe.NewLog(&b, "warn", observe.LogText)
	if err != nil {
		t.Fatal(err)
	}
	log.Info("no")
	log.Warn("yes")
	if got := b.String(); strings.Contains(got, "no") || !strings.Contains(got, "msg=yes") {
		t.Errorf("from warn on, as text: %q", got)
	}
	for _, bad := range [][2]string{{"loud", "text"}, {"", "text"}, {"info+2", "text"}, {"info", "xml"}, {"info", ""}} {
		if _, err := observe.NewLog(io.Discard, bad[0], bad[1]); err == nil || !strings.Contains(err.Error(), "there is") {
			t.Errorf("level %q, format %q: %v, want an error that says what there is", bad[0], bad[1], err)
		}
	}
}
