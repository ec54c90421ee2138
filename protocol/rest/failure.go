package rest

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/tare-bench/tare/rpc"
)

// failure is the body of an answer that fails, whatever the codec: JSON as
// Google's APIs have it. Source: google.aip.dev/193.
type failure struct {
	Error struct {
		Code    int    `json:"code"` // HTTP's
		Message string `json:"message"`
		Status  string `json:"status"` // of google.rpc.Code
	} `json:"error"`
}

// jsonMedia is the media type of a failure's body, and of JSON codecs.
const jsonMedia = "application/json"

// longestFailure is as much of a failure's body as a client reads.
const longestFailure = 1 << 20

func encodeFailure(err error) (status int, body []byte) {
	e := rpc.ErrorOf(err)
	status = statusOf(err)
	var f failure
	f.Error.Code, f.Error.Message, f.Error.Status = status, e.Message, e.Code.String()
	body, err = json.Marshal(f)
	if err != nil {
		panic("marshal two strings and a number: " + err.Error())
	}
	return status, body
}

// decodeFailure reads an answer that is not a success. A body that is none of
// ours leaves the status to tell the code.
func decodeFailure(status int, body []byte) *rpc.Error {
	var f failure
	if err := json.Unmarshal(body, &f); err == nil {
		if code, ok := rpc.ParseCode(f.Error.Status); ok && code != rpc.OK {
			return &rpc.Error{Code: code, Message: f.Error.Message}
		}
	}
	return &rpc.Error{Code: rpc.CodeOfStatus(status), Message: "HTTP status " + strconv.Itoa(status)}
}

// answerFailure writes a whole answer that fails with err.
func answerFailure(w http.ResponseWriter, err error) {
	status, body := encodeFailure(err)
	h := w.Header()
	h.Set("Content-Type", jsonMedia)
	h.Set("Content-Length", strconv.Itoa(len(body)))
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
