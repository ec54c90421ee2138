package rpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

// Code is a number of google.rpc.Code; its zero is OK.
// Source: github.com/googleapis/googleapis, google/rpc/code.proto.
type Code int

// The codes of google.rpc.Code.
const (
	OK Code = iota
	Canceled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

// codes gives each code's names and the HTTP status that google.rpc.Code
// documents for it. 499 is not in the HTTP standard; Google's code.proto
// gives it to CANCELLED.
var codes = [...]struct {
	proto, class string
	status       int
}{
	OK:                 {"OK", "ok", http.StatusOK},
	Canceled:           {"CANCELLED", "cancelled", 499},
	Unknown:            {"UNKNOWN", "unknown", http.StatusInternalServerError},
	InvalidArgument:    {"INVALID_ARGUMENT", "invalid_argument", http.StatusBadRequest},
	DeadlineExceeded:   {"DEADLINE_EXCEEDED", "deadline_exceeded", http.StatusGatewayTimeout},
	NotFound:           {"NOT_FOUND", "not_found", http.StatusNotFound},
	AlreadyExists:      {"ALREADY_EXISTS", "already_exists", http.StatusConflict},
	PermissionDenied:   {"PERMISSION_DENIED", "permission_denied", http.StatusForbidden},
	ResourceExhausted:  {"RESOURCE_EXHAUSTED", "resource_exhausted", http.StatusTooManyRequests},
	FailedPrecondition: {"FAILED_PRECONDITION", "failed_precondition", http.StatusBadRequest},
	Aborted:            {"ABORTED", "aborted", http.StatusConflict},
	OutOfRange:         {"OUT_OF_RANGE", "out_of_range", http.StatusBadRequest},
	Unimplemented:      {"UNIMPLEMENTED", "unimplemented", http.StatusNotImplemented},
	Internal:           {"INTERNAL", "internal", http.StatusInternalServerError},
	Unavailable:        {"UNAVAILABLE", "unavailable", http.StatusServiceUnavailable},
	DataLoss:           {"DATA_LOSS", "data_loss", http.StatusInternalServerError},
	Unauthenticated:    {"UNAUTHENTICATED", "unauthenticated", http.StatusUnauthorized},
}

// String gives the name as google.rpc.Code spells it: "NOT_FOUND".
func (c Code) String() string {
	if c >= 0 && int(c) < len(codes) {
		return codes[c].proto
	}
	return "CODE_" + strconv.Itoa(int(c))
}

// HTTPStatus gives the HTTP status of a REST answer that fails with c.
func (c Code) HTTPStatus() int {
	if c >= 0 && int(c) < len(codes) {
		return codes[c].status
	}
	return http.StatusInternalServerError
}

// ParseCode finds a code by the name that String gives.
func ParseCode(name string) (Code, bool) {
	for c, n := range codes {
		if n.proto == name {
			return Code(c), true
		}
	}
	return Unknown, false
}

// CodeOfStatus gives the code of an HTTP status that came without one of its
// own: of the codes that share a status, the most general.
func CodeOfStatus(status int) Code {
	switch status {
	case http.StatusBadRequest:
		return InvalidArgument
	case http.StatusConflict:
		return AlreadyExists
	case http.StatusInternalServerError:
		return Internal
	case http.StatusRequestEntityTooLarge:
		return ResourceExhausted
	case http.StatusMethodNotAllowed:
		return Unimplemented
	case http.StatusBadGateway:
		return Unavailable
	}
	for c, n := range codes {
		if n.status == status {
			return Code(c)
		}
	}
	if status/100 == 2 {
		return OK
	}
	return Unknown
}

// Error is a failure that crosses every protocol unchanged but for Transport
// and Outside, which are never sent.
type Error struct {
	Code       Code
	Message    string
	Violations []Violation   // what is wrong with the request's fields, beside InvalidArgument
	RetryAfter time.Duration // after which the call may be made again; 0: nothing is said of it
	Transport  Fault         // NoFault where the failure is the application's answer
	Outside    string        // what callers are told in Message's place once it is logged; "": Message
}

// Violation is one thing that is wrong with a request. It crosses as a
// google.rpc.BadRequest.FieldViolation, or as the same in JSON.
type Violation struct {
	Field       string // path in the schema's names: "lines[0].quantity"
	Description string // for a person: "must be greater than 0"
	Reason      string // for a program, the rule in upper case: "INT32_GT_LTE"
}

// Fault says how a connection failed, where the call failed with it.
type Fault string

// The ways in which a connection fails.
const (
	NoFault  Fault = ""
	Refused  Fault = "refused"  // nobody listens
	Reset    Fault = "reset"    // the connection ended before the answer did
	Protocol Fault = "protocol" // the answer is not of the protocol
)

// Errorf makes an application's error.
func Errorf(c Code, format string, args ...any) *Error {
	return &Error{Code: c, Message: fmt.Sprintf(format, args...)}
}

func (e *Error) Error() string { return e.Code.String() + ": " + e.Message }

// ErrorOf gives err as an *Error: itself if it is one, the code of a context's
// end, or UNKNOWN with err's text. It is nil for nil.
func ErrorOf(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Code: DeadlineExceeded, Message: "deadline exceeded"}
	case errors.Is(err, context.Canceled):
		return &Error{Code: Canceled, Message: "cancelled"}
	}
	return &Error{Code: Unknown, Message: err.Error()}
}

// TransportError gives the error of a call whose connection failed with err:
// DEADLINE_EXCEEDED or CANCELLED where ctx or a time-out ended it, otherwise
// UNAVAILABLE with the fault that err tells.
func TransportError(ctx context.Context, err error) *Error {
	cause := err
	if ctx.Err() != nil {
		cause = ctx.Err()
	}
	var timeout net.Error
	switch {
	case errors.Is(cause, context.DeadlineExceeded), errors.As(cause, &timeout) && timeout.Timeout():
		return &Error{Code: DeadlineExceeded, Message: "deadline exceeded"}
	case errors.Is(cause, context.Canceled):
		return &Error{Code: Canceled, Message: "cancelled"}
	}
	return &Error{Code: Unavailable, Message: err.Error(), Transport: faultOf(err)}
}

func faultOf(err error) Fault {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return Reset
	}
	return Protocol
}

// WrongAnswer is the class of a reply that arrived and is not right.
const WrongAnswer = "wrong_answer"

// ErrWrongAnswer is wrapped by what a workload's check returns for a reply
// that is not right.
var ErrWrongAnswer = errors.New("wrong answer")

// Class names the kind of err for counting: a Fault, WrongAnswer, or the code
// in lower case ("deadline_exceeded").
func Class(err error) string {
	if errors.Is(err, ErrWrongAnswer) {
		return WrongAnswer
	}
	e := ErrorOf(err)
	switch {
	case e == nil:
		return codes[OK].class
	case e.Transport != NoFault:
		return string(e.Transport)
	case e.Code >= 0 && int(e.Code) < len(codes):
		return codes[e.Code].class
	}
	return codes[Unknown].class
}
