package thrift

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	apache "github.com/apache/thrift/lib/go/thrift"

	"github.com/tare-bench/tare/gen/thrift/failure"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// longestFailure is room for a failure, and for what stands around a message,
// beyond the longest message: a reply that says why there is none is taken.
const longestFailure = 16 << 10

// longestText bounds a failure's message, so that its frame is taken.
const longestText = 8 << 10

// appendFailure appends a frame by which a call fails with err: as the exception
// that all methods declare.
func (e *envelope) appendFailure(dst []byte, h heading, err error) ([]byte, error) {
	failed := rpc.ErrorOf(err)
	x := &failure.Failure{
		Code:            int32(failed.Code), //nolint:gosec // a handful
		Message:         text(failed.Message),
		RetryAfterNanos: int64(max(0, failed.RetryAfter)),
	}
	for _, v := range protocol.FitViolations(failed.Violations) {
		x.Violations = append(x.Violations, &failure.Violation{Field: v.Field, Description: v.Description, Reason: v.Reason})
	}
	h.kind = apache.REPLY
	return e.appendStruct(dst, h, "failure", failureField, x)
}

// text gives s as valid UTF-8 that is not too long.
func text(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= longestText {
		return s
	}
	return strings.ToValidUTF8(s[:longestText], "") + "…"
}

// readFailure reads the exception, as parse reads a message.
func (e *envelope) readFailure(from []byte) (*rpc.Error, error) {
	f := e.over(from)
	x := failure.NewFailure()
	if err := x.Read(context.Background(), f); err != nil {
		return nil, err
	}
	e.put(f)
	out := &rpc.Error{Code: rpc.Code(x.Code), Message: x.Message, RetryAfter: max(0, time.Duration(x.RetryAfterNanos))}
	if out.Code == rpc.OK {
		out.Code = rpc.Unknown // a failure, whatever else a server of others' says
	}
	for _, v := range x.Violations {
		out.Violations = append(out.Violations, rpc.Violation{Field: v.Field, Description: v.Description, Reason: v.Reason})
	}
	out.Violations = protocol.FitViolations(out.Violations)
	return out, nil
}

// appendException appends a frame by which the server itself says that it does
// not understand: as Thrift's users have it, apart from what methods declare.
func (e *envelope) appendException(dst []byte, h heading, kind int32, message string) ([]byte, error) {
	h.kind = apache.EXCEPTION
	return e.appendFrame(dst, h, func(f *form) error {
		return apache.NewTApplicationException(kind, message).Write(context.Background(), f)
	})
}

// codes are the codes of what servers of Thrift say by themselves.
var codes = map[int32]rpc.Code{
	apache.UNKNOWN_METHOD:                 rpc.Unimplemented,
	apache.INVALID_MESSAGE_TYPE_EXCEPTION: rpc.InvalidArgument,
	apache.WRONG_METHOD_NAME:              rpc.Internal,
	apache.BAD_SEQUENCE_ID:                rpc.Internal,
	apache.MISSING_RESULT:                 rpc.Internal,
	apache.INTERNAL_ERROR:                 rpc.Internal,
	apache.PROTOCOL_ERROR:                 rpc.InvalidArgument,
	apache.INVALID_TRANSFORM:              rpc.Unimplemented,
	apache.INVALID_PROTOCOL:               rpc.Unimplemented,
	apache.UNSUPPORTED_CLIENT_TYPE:        rpc.Unimplemented,
	apache.VALIDATION_FAILED:              rpc.InvalidArgument,
}

// readException reads what a server says by itself.
func (e *envelope) readException(b []byte) (*rpc.Error, error) {
	f := e.over(b)
	x := apache.NewTApplicationException(apache.UNKNOWN_APPLICATION_EXCEPTION, "")
	if err := x.Read(context.Background(), f); err != nil {
		return nil, err
	}
	e.put(f)
	code, ok := codes[x.TypeId()]
	if !ok {
		code = rpc.Unknown
	}
	return &rpc.Error{Code: code, Message: text(x.Error())}, nil
}

// unreadable is the error of a call whose reply is not what Thrift has.
func unreadable(err error) *rpc.Error {
	return &rpc.Error{Code: rpc.Internal, Message: "parse reply: " + err.Error(), Transport: rpc.Protocol}
}

var errOtherReply = errors.New("it answers another call")
