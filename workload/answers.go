package workload

import (
	"context"
	"errors"
	"fmt"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
)

// Answers are what answers each method of a service: a handler.
type Answers map[*rpc.Method]rpc.HandlerFunc

// Handle implements rpc.Handler.
func (a Answers) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	answer, ok := a[m]
	if !ok {
		return rpc.Errorf(rpc.Unimplemented, "no method %s", m.Path())
	}
	return answer(ctx, m, s)
}

// Unary makes a handler of a function that answers one request.
func Unary[In, Out any](answer func(context.Context, *In) (*Out, error)) rpc.HandlerFunc {
	return func(ctx context.Context, _ *rpc.Method, s rpc.Stream) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		out, err := answer(ctx, in.(*In))
		if err != nil {
			return err
		}
		return s.Send(out)
	}
}

// StoreError is what a caller is told of a store's failure: nothing but its own
// end, where the call has ended. Where the store is, and who asks there, is for
// none outside.
func StoreError(doing string, err error) error {
	e := &rpc.Error{Code: rpc.Internal, Message: doing + ": " + err.Error(), Outside: doing + ": the store failed"}
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, store.ErrUnavailable):
		e.Code, e.Outside = rpc.Unavailable, doing+": the store is not available; try again"
	case errors.Is(err, store.ErrInvalid):
		e.Code, e.Outside = rpc.InvalidArgument, ""
	}
	return e
}

// Invalid is the failure of a request that breaks a rule which is not the schema's.
func Invalid(v rpc.Violation) *rpc.Error {
	return &rpc.Error{Code: rpc.InvalidArgument, Message: v.Field + " " + v.Description, Violations: []rpc.Violation{v}}
}

// Wrong is what a Check says against a reply.
func Wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", rpc.ErrWrongAnswer, fmt.Sprintf(format, args...))
}
