package call

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"

	"connectrpc.com/connect"
	"github.com/jhump/protoreflect/v2/protoresolve"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/tare-bench/tare/call/wire"
	"github.com/tare-bench/tare/rpc"
)

// ErrInterrupted is of a call that its caller ended.
var ErrInterrupted = errors.New("interrupted")

// Failure is of a call that failed: by the server's answer, or on the way.
type Failure struct {
	Code    rpc.Code
	Message string
	Details []string // what came with it, a line for each thing
	hint    string
	typed   bool  // the answer says what media it is
	cause   error // nil where the server answered so
}

func (f *Failure) Error() string { return f.Code.String() + ": " + f.Message }
func (f *Failure) Unwrap() error { return f.cause }

// Lines gives the details.
func (f *Failure) Lines() []string { return f.Details }

// Hint says what to do about it, or "".
func (f *Failure) Hint() string { return f.hint }

// failure gives what ended the call as a person is told it.
func (c *caller) failure(ctx context.Context, err error, end ending) error {
	var e *connect.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ErrInterrupted
	case !errors.As(err, &e):
		return err
	}
	if e.Message() == "" && end.code >= http.StatusBadRequest {
		// JSON, but of no error of Connect's
		e = connect.NewError(e.Code(), fmt.Errorf("HTTP status %s", end.status))
	}
	f := c.explain(e)
	for _, d := range e.Details() {
		any := &anypb.Any{TypeUrl: "type.googleapis.com/" + d.Type(), Value: d.Bytes()}
		f.Details = append(f.Details, detail(any, c.types)...)
	}
	return f
}

// explain gives an error of connect's, with a hint.
func (o Options) explain(e *connect.Error) *Failure {
	f := &Failure{Code: rpc.Code(e.Code()), Message: e.Message()}
	if !connect.IsWireError(e) {
		f.cause, f.Message = e, causeOf(e)
		if broken := (*net.OpError)(nil); errors.As(e, &broken) {
			f.Code = rpc.Unavailable // connect takes a broken pipe for the caller's wish
		}
		if f.Code == rpc.InvalidArgument {
			f.Code = rpc.Internal // connect takes a reply that does not parse for the caller's fault
		}
		if f.Code == rpc.DeadlineExceeded || errors.Is(e, context.DeadlineExceeded) {
			f.Code, f.Message = rpc.DeadlineExceeded, fmt.Sprintf("no answer within %v", o.Timeout)
		}
	}
	f.hint = o.hint(f, unreached, misunderstood)
	return f
}

// Explain gives an error of a schema that Reflect gave as a person is told it.
func (o Options) Explain(ctx context.Context, err error) error {
	const asking = "ask the server for its schema: "
	var e *connect.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(ctx.Err(), context.Canceled):
		return ErrInterrupted
	case !errors.As(err, &e):
		return err
	}
	f := o.explain(e)
	f.Message = asking + f.Message
	tables := [][]hint{unreached}
	if o.Dialect.http2 && f.Code != rpc.Unimplemented { // else the server may be right, and tells no schema
		tables = append(tables, misunderstood)
	}
	f.hint = cmp.Or(o.hint(f, tables...), hintSchema)
	return f
}

// causeOf gives what went wrong without what Go's clients put before it.
func causeOf(e *connect.Error) string {
	var u *url.Error
	if errors.As(e, &u) {
		return u.Err.Error()
	}
	return e.Message()
}

// detail gives a detail of an error as lines for a person.
func detail(any *anypb.Any, types protoresolve.TypeResolver) []string {
	name := string(any.MessageName())
	if lines := known(any); lines != nil {
		return lines
	}
	raw, err := protojson.MarshalOptions{Resolver: types}.Marshal(any)
	if err != nil {
		fields, err := wire.Parse(any.Value)
		if err != nil {
			return []string{fmt.Sprintf("%s: % x", name, any.Value)}
		}
		return []string{name + ", whose schema is not known: " + wire.Line(fields)}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return []string{name + ": " + string(raw)}
	}
	delete(fields, "@type")
	text, err := json.Marshal(fields)
	if err != nil {
		return []string{name + ": " + string(raw)}
	}
	return []string{name + ": " + string(text)}
}

// known is told for what an Any holds.
func known(any *anypb.Any) []string {
	m, err := any.UnmarshalNew()
	if err != nil {
		return nil
	}
	return told(m)
}

// told gives the details that most errors have in words, nil for others.
// Source: github.com/googleapis/googleapis, google/rpc/error_details.proto.
func told(m proto.Message) (lines []string) {
	switch m := m.(type) {
	case *errdetails.BadRequest:
		for _, v := range m.FieldViolations {
			lines = append(lines, fmt.Sprintf("field %s: %s", v.Field, v.Description))
		}
	case *errdetails.PreconditionFailure:
		for _, v := range m.Violations {
			lines = append(lines, fmt.Sprintf("precondition %s of %s: %s", v.Type, v.Subject, v.Description))
		}
	case *errdetails.QuotaFailure:
		for _, v := range m.Violations {
			lines = append(lines, fmt.Sprintf("quota of %s: %s", v.Subject, v.Description))
		}
	case *errdetails.RetryInfo:
		lines = append(lines, fmt.Sprintf("retry after %v", m.RetryDelay.AsDuration()))
	case *errdetails.LocalizedMessage:
		lines = append(lines, m.Message)
	}
	return lines
}
