package capnp

import (
	"context"
	"errors"
	"net"
	"strings"
	"time"
	"unicode/utf8"

	"capnproto.org/go/capnp/v3"
	"capnproto.org/go/capnp/v3/exc"
	capnprpc "capnproto.org/go/capnp/v3/rpc"

	"github.com/tare-bench/tare/gen/capnp/conformance"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// The structs of answers are the same for every method of every service, but
// for their names: the schema of one stands for all.
type (
	result  = conformance.EchoResult
	failure = conformance.Failure
)

// resultSize is that of a result: which of the two it holds, and where.
var resultSize = capnp.ObjectSize{DataSize: 8, PointerCount: 1}

// longestText bounds a failure's message.
const longestText = 8 << 10

// putFailure has a call's result say why it failed.
func putFailure(to result, failed error) error {
	f, err := newFailure(capnp.Struct(to).Segment(), failed)
	if err != nil {
		return err
	}
	return to.SetFailure(f)
}

func newFailure(in *capnp.Segment, err error) (failure, error) {
	failed := rpc.ErrorOf(err)
	f, err := conformance.NewFailure(in)
	if err != nil {
		return f, err
	}
	f.SetCode(int32(failed.Code)) //nolint:gosec // a handful
	f.SetRetryAfterNanos(int64(max(0, failed.RetryAfter)))
	if err := f.SetMessage_(text(failed.Message)); err != nil {
		return f, err
	}
	fit := protocol.FitViolations(failed.Violations)
	if len(fit) == 0 {
		return f, nil
	}
	list, err := f.NewViolations(int32(len(fit))) //nolint:gosec // few
	if err != nil {
		return f, err
	}
	for i, v := range fit {
		if err := putViolation(list.At(i), v); err != nil {
			return f, err
		}
	}
	return f, nil
}

func putViolation(to conformance.FieldViolation, v rpc.Violation) error {
	if err := to.SetField(v.Field); err != nil {
		return err
	}
	if err := to.SetDescription(v.Description); err != nil {
		return err
	}
	return to.SetReason(v.Reason)
}

// text gives s as valid UTF-8 that is not too long.
func text(s string) string {
	s = strings.ToValidUTF8(s, string(utf8.RuneError))
	if len(s) <= longestText {
		return s
	}
	return strings.ToValidUTF8(s[:longestText], "") + "…"
}

// takeFailure reads why a call failed.
func takeFailure(f failure) *rpc.Error {
	message, err := f.Message_()
	if err != nil {
		return unreadable(err)
	}
	out := &rpc.Error{Code: rpc.Code(f.Code()), Message: text(message), RetryAfter: max(0, time.Duration(f.RetryAfterNanos()))}
	if out.Code == rpc.OK {
		out.Code = rpc.Unknown // a failure, whatever else a server of others' says
	}
	list, err := f.Violations()
	if err != nil {
		return unreadable(err)
	}
	for i := range min(list.Len(), mostViolations) {
		v, err := takeViolation(list.At(i))
		if err != nil {
			return unreadable(err)
		}
		out.Violations = append(out.Violations, v)
	}
	out.Violations = protocol.FitViolations(out.Violations)
	return out
}

// mostViolations bounds what is read before protocol.FitViolations can.
const mostViolations = 1 << 10

func takeViolation(from conformance.FieldViolation) (v rpc.Violation, err error) {
	if v.Field, err = from.Field(); err != nil {
		return v, err
	}
	if v.Description, err = from.Description(); err != nil {
		return v, err
	}
	v.Reason, err = from.Reason()
	return v, err
}

// unreadable is the error of a call whose reply is not what the schema has.
func unreadable(err error) *rpc.Error {
	return &rpc.Error{Code: rpc.Internal, Message: "parse reply: " + err.Error(), Transport: rpc.Protocol}
}

// disconnected says that a call has no connection any more. What the library
// could not send any more is FAILED to it, with the reason wrapped.
func disconnected(err error) bool {
	var broken *net.OpError
	return exc.IsType(err, exc.Disconnected) || errors.Is(err, capnprpc.ErrConnClosed) || errors.As(err, &broken)
}

// exception is the error of a call that the library answers for, as an
// exception: here or there.
func exception(ctx context.Context, err error, m *method) *rpc.Error {
	switch {
	case ctx.Err() != nil:
		return rpc.TransportError(ctx, ctx.Err())
	case exc.IsType(err, exc.Unimplemented):
		return rpc.Errorf(rpc.Unimplemented, "call %s: %v", m.Path(), err)
	case disconnected(err):
		return &rpc.Error{Code: rpc.Unavailable, Message: err.Error(), Transport: rpc.Reset}
	case exc.IsType(err, exc.Overloaded):
		return rpc.Errorf(rpc.ResourceExhausted, "call %s: %v", m.Path(), err)
	}
	return rpc.Errorf(rpc.Unknown, "call %s: %v", m.Path(), err)
}
