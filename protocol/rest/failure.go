package rest

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// problem is the body of an answer that fails, whatever the codec: problem
// details, with what google.rpc says of a failure as further members.
// Source: RFC 9457; google.golang.org/genproto/googleapis/rpc, error_details.
type problem struct {
	Type       string      `json:"type"` // no problem has a page of its own
	Title      string      `json:"title"`
	Status     int         `json:"status"`
	Detail     string      `json:"detail,omitempty"`
	Code       string      `json:"code"` // of google.rpc.Code
	Violations []violation `json:"violations,omitempty"`
	RetryAfter float64     `json:"retryAfter,omitempty"` // s; the field Retry-After, exactly
}

type violation struct {
	Field       string `json:"field,omitempty"`
	Description string `json:"description,omitempty"`
	Reason      string `json:"reason,omitempty"`
}

const (
	problemMedia = "application/problem+json"
	blank        = "about:blank" // a problem that is what its status says
)

// jsonMedia is the media type of JSON codecs.
const jsonMedia = "application/json"

// longestFailure is as much of a failure's body as a client reads.
const longestFailure = 1 << 20

// encodeFailure gives err as a problem, and as the error that it tells of.
func encodeFailure(err error) (status int, body []byte, _ *rpc.Error) {
	e := rpc.ErrorOf(err)
	status = statusOf(err)
	p := problem{
		Type: blank, Title: titleOf(status), Status: status, Detail: e.Message, Code: e.Code.String(),
		RetryAfter: max(0, e.RetryAfter.Seconds()),
	}
	if len(e.Violations) > 0 {
		for _, v := range protocol.FitViolations(e.Violations) {
			p.Violations = append(p.Violations, violation(v))
		}
	}
	body, err = json.Marshal(p)
	if err != nil {
		panic("marshal texts and two numbers: " + err.Error())
	}
	return status, body, e
}

// titleOf gives a status in words. 499 is not in the HTTP standard.
func titleOf(status int) string {
	if text := http.StatusText(status); text != "" {
		return text
	}
	return "Client Closed Request"
}

// decodeFailure reads an answer that is not a success, and what the fields
// Retry-After and Date of its header say. A body that is none of ours leaves
// the status to tell the code.
func decodeFailure(status int, body []byte, retryAfter, date string) *rpc.Error {
	e := decodeProblem(status, body)
	if e.RetryAfter == 0 && retryAfter != "" {
		e.RetryAfter = protocol.ParseRetryAfter(retryAfter, date, time.Now())
	}
	return e
}

func decodeProblem(status int, body []byte) *rpc.Error {
	// Members of another kind than ours, such as other services have, are left
	// out, and the rest is read; nothing is read of what is not JSON.
	var p problem
	_ = json.Unmarshal(body, &p)
	code, ok := rpc.ParseCode(p.Code)
	if !ok || code == rpc.OK {
		e := &rpc.Error{Code: rpc.CodeOfStatus(status), Message: "HTTP status " + strconv.Itoa(status)}
		if p.Detail != "" {
			e.Message += ": " + p.Detail
		}
		return e
	}
	e := &rpc.Error{Code: code, Message: p.Detail, RetryAfter: duration(p.RetryAfter)}
	for _, v := range p.Violations {
		e.Violations = append(e.Violations, rpc.Violation(v))
	}
	if len(e.Violations) > 0 {
		e.Violations = protocol.FitViolations(e.Violations)
	}
	return e
}

// duration gives seconds, which may be any number, as a wait.
func duration(seconds float64) time.Duration {
	switch ns := math.Round(seconds * float64(time.Second)); {
	case ns <= 0:
		return 0
	case ns >= math.MaxInt64:
		return math.MaxInt64
	default:
		return time.Duration(ns)
	}
}

// answerFailure writes a whole answer that fails with err.
func answerFailure(w http.ResponseWriter, err error) {
	status, body, e := encodeFailure(err)
	h := w.Header()
	h.Set("Content-Type", problemMedia)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if e.RetryAfter > 0 {
		h.Set(protocol.RetryAfterField, protocol.FormatRetryAfter(e.RetryAfter))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller is gone; net/http closes the connection
}

// refusal is why a message was not taken, with the HTTP status that says so
// more exactly than the code's.
type refusal struct {
	err    *rpc.Error
	status int
}

func (r refusal) Error() string { return r.err.Error() }
func (r refusal) Unwrap() error { return r.err }

// statusOf gives the HTTP status of an answer that fails with err.
func statusOf(err error) int {
	var r refusal
	if errors.As(err, &r) {
		return r.status
	}
	return rpc.ErrorOf(err).Code.HTTPStatus()
}
