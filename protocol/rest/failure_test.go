package rest

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/rpc"
)

func TestFailureIsAProblem(t *testing.T) {
	for _, test := range []struct {
		name       string
		err        error
		status     int
		retryAfter string
		body       string
	}{
		{"a code and a message", rpc.Errorf(rpc.NotFound, "no such order"), 404, "",
			`{"type":"about:blank","title":"Not Found","status":404,"detail":"no such order","code":"NOT_FOUND"}`},
		{"a code alone", &rpc.Error{Code: rpc.Canceled}, 499, "",
			`{"type":"about:blank","title":"Client Closed Request","status":499,"code":"CANCELLED"}`},
		{"a status of its own", refusal{rpc.Errorf(rpc.InvalidArgument, "no"), http.StatusUnsupportedMediaType}, 415, "",
			`{"type":"about:blank","title":"Unsupported Media Type","status":415,"detail":"no","code":"INVALID_ARGUMENT"}`},
		{"violations", &rpc.Error{Code: rpc.InvalidArgument, Violations: []rpc.Violation{
			{Field: "lines[0].quantity", Description: "must be above 0", Reason: "INT32_GT"}, {Description: "b"},
		}}, 400, "", `{"type":"about:blank","title":"Bad Request","status":400,"code":"INVALID_ARGUMENT",` +
			`"violations":[{"field":"lines[0].quantity","description":"must be above 0","reason":"INT32_GT"},{"description":"b"}]}`},
		{"a wait", &rpc.Error{Code: rpc.ResourceExhausted, RetryAfter: 1250 * time.Millisecond}, 429, "2",
			`{"type":"about:blank","title":"Too Many Requests","status":429,"code":"RESOURCE_EXHAUSTED","retryAfter":1.25}`},
		{"a wait that is none", &rpc.Error{Code: rpc.Unavailable, RetryAfter: -time.Second}, 503, "",
			`{"type":"about:blank","title":"Service Unavailable","status":503,"code":"UNAVAILABLE"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := httptest.NewRecorder()
			answerFailure(w, test.err)
			if w.Code != test.status || w.Body.String() != test.body {
				t.Errorf("status %d and %s,\nwant %d and %s", w.Code, w.Body, test.status, test.body)
			}
			if got := w.Header().Get("Retry-After"); got != test.retryAfter {
				t.Errorf("Retry-After %q, want %q", got, test.retryAfter)
			}
			if got := w.Header().Get("Content-Type"); got != problemMedia {
				t.Errorf("content type %q", got)
			}
		})
	}
}

func TestForeignFailures(t *testing.T) {
	for _, test := range []struct {
		name             string
		status           int
		body             string
		retryAfter, date string
		want             rpc.Error
	}{
		{"nothing", 503, "", "", "", rpc.Error{Code: rpc.Unavailable, Message: "HTTP status 503"}},
		{"a page", 404, "<html>", "", "", rpc.Error{Code: rpc.NotFound, Message: "HTTP status 404"}},
		{"other JSON", 502, `[1, "a"]`, "", "", rpc.Error{Code: rpc.Unavailable, Message: "HTTP status 502"}},
		{"Google's error", 429, `{"error":{"code":429,"message":"m","status":"ABORTED"}}`, "", "",
			rpc.Error{Code: rpc.ResourceExhausted, Message: "HTTP status 429"}},
		{"another's problem", 403, `{"type":"https://example.com/credit","title":"t","detail":"balance is 30","code":17}`, "", "",
			rpc.Error{Code: rpc.PermissionDenied, Message: "HTTP status 403: balance is 30"}},
		{"a success that failed", 400, `{"code":"OK"}`, "", "", rpc.Error{Code: rpc.InvalidArgument, Message: "HTTP status 400"}},
		{"a code that is none", 400, `{"code":"TEAPOT"}`, "", "", rpc.Error{Code: rpc.InvalidArgument, Message: "HTTP status 400"}},
		{"members of other kinds", 400, `{"violations":"a","retryAfter":"soon","code":"ABORTED","detail":"d"}`, "", "",
			rpc.Error{Code: rpc.Aborted, Message: "d"}},
		{"a wait in seconds", 503, "", "7", "", rpc.Error{Code: rpc.Unavailable, Message: "HTTP status 503", RetryAfter: 7 * time.Second}},
		{"a wait until a time", 503, "", "Tue, 01 Dec 2026 08:00:30 GMT", "Tue, 01 Dec 2026 08:00:20 GMT",
			rpc.Error{Code: rpc.Unavailable, Message: "HTTP status 503", RetryAfter: 10 * time.Second}},
		{"an exact wait beside a rounded one", 429, `{"code":"RESOURCE_EXHAUSTED","retryAfter":0.05}`, "1", "",
			rpc.Error{Code: rpc.ResourceExhausted, RetryAfter: 50 * time.Millisecond}},
		{"a wait that is none", 429, `{"code":"RESOURCE_EXHAUSTED","retryAfter":-1}`, "", "", rpc.Error{Code: rpc.ResourceExhausted}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := decodeFailure(test.status, []byte(test.body), test.retryAfter, test.date)
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// FuzzProblem holds that any body gives a failure, and that a failure that was
// read is read again from what it is written as.
func FuzzProblem(f *testing.F) {
	f.Add(404, []byte(`{"code":"NOT_FOUND","detail":"no such order"}`))
	f.Add(400, []byte(`{"code":"INVALID_ARGUMENT","violations":[{"field":"a","description":"b","reason":"C"},{}]}`))
	f.Add(429, []byte(`{"code":"RESOURCE_EXHAUSTED","retryAfter":1e300}`))
	f.Add(503, []byte(`{"retryAfter":0.05}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := decodeFailure(status, body, "", "")
		if e.RetryAfter < 0 || len(e.Violations) > longestFailure {
			t.Fatalf("%.200s gives %+v", body, e)
		}
		if e.Code == rpc.OK {
			if status/100 != 2 {
				t.Fatalf("status %d and %.200s give a success", status, body)
			}
			return
		}
		_, again, _ := encodeFailure(e)
		if !json.Valid(again) {
			t.Fatalf("%q is not JSON", again)
		}
		e.RetryAfter = duration(e.RetryAfter.Seconds()) // of a thousand years, to the microsecond
		if diff := cmp.Diff(e, decodeFailure(status, again, "", "")); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
	})
}
