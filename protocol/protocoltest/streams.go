package protocoltest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
)

var streamChecks = []check{
	{"a kind that is not carried is UNIMPLEMENTED", nil, notCarried},
	{"the handler streams", serverStream, expand},
	{"each reply comes before the next is sent", serverStream, prompt},
	{"a stream that fails brings its replies first", serverStream, failsAfter},
	{"an error of the caller's Send ends the call", serverStream, callerSendFails},
	{"a streamed reply beyond the limit is RESOURCE_EXHAUSTED", serverStream, streamedReplyTooLong},
	{"the caller streams", clientStream, collect},
	{"an error of the caller's Recv ends the call", clientStream, callerRecvFails},
	{"the handler may answer before the caller has sent all", clientStream, answersEarly},
	{"a streamed request beyond the limit is RESOURCE_EXHAUSTED", clientStream, streamedRequestTooLong},
	{"both stream by turns", bidi, converse},
}

func notCarried(t *testing.T, s *suite) {
	for _, m := range conformance.Service.Methods {
		why := s.carries(m.Kind)
		if why == nil {
			continue
		}
		t.Run(m.Kind.String(), func(t *testing.T) {
			_, c := s.start(t, conformance.Handler{})
			_, err := call(patient(t), c, m)
			wantAnswer(t, err, rpc.Unimplemented)
		})
	}
}

func expand(t *testing.T, s *suite) {
	_, c := s.start(t, conformance.Handler{})
	for _, count := range []int{0, 1, 100} {
		item := conformance.Ordinary()
		out, err := call(patient(t), c, conformance.Expand, &conformance.ExpandRequest{Item: item, Count: int32(count)})
		if err != nil {
			t.Fatal(err)
		}
		wantReplies(t, out, repeat(&conformance.ExpandResponse{Item: item}, count)...)
	}
}

func prompt(t *testing.T, s *suite) {
	const replies = 3
	arrived := make(chan struct{})
	_, c := s.start(t, rpc.HandlerFunc(func(ctx context.Context, _ *rpc.Method, st rpc.Stream) error {
		for range replies {
			if err := st.Send(&conformance.ExpandResponse{}); err != nil {
				return err
			}
			select {
			case <-arrived:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	}))
	err := rpc.Call(patient(t), c, conformance.Expand, []any{&conformance.ExpandRequest{}}, func(any) error {
		arrived <- struct{}{}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func failsAfter(t *testing.T, s *suite) {
	_, c := s.start(t, conformance.Handler{})
	in := &conformance.ExpandRequest{Count: 3, FailCode: int32(rpc.DataLoss)}
	out, err := call(patient(t), c, conformance.Expand, in)
	wantReplies(t, out, repeat(&conformance.ExpandResponse{}, 3)...)
	if e := wantAnswer(t, err, rpc.DataLoss); e.Message != "after 3" {
		t.Errorf("message is %q", e.Message)
	}
}

func callerSendFails(t *testing.T, s *suite) {
	ended := make(chan error, 1)
	_, c := s.start(t, rpc.HandlerFunc(func(ctx context.Context, _ *rpc.Method, st rpc.Stream) error {
		var err error
		for err == nil && ctx.Err() == nil {
			err = st.Send(&conformance.ExpandResponse{Item: conformance.Ordinary()})
		}
		ended <- ctx.Err()
		return ctx.Err()
	}))
	enough := rpc.Errorf(rpc.OutOfRange, "enough")
	seen := 0
	err := rpc.Call(patient(t), c, conformance.Expand, []any{&conformance.ExpandRequest{}}, func(any) error {
		seen++
		if seen == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) {
		t.Errorf("call returned %v, want the caller's own error", err)
	}
	await(t, ended, "the handler to end")
}

func streamedReplyTooLong(t *testing.T, s *suite) {
	for _, limited := range s.limitedReplies() {
		srv := s.serveWith(t, rpc.HandlerFunc(expandLong), conformance.Service, limited.server)
		_, err := call(patient(t), s.dialWith(t, srv.addr(), limited.client), conformance.Expand, &conformance.ExpandRequest{})
		wantTooLong(t, err)
	}
}

// expandLong sends a short reply and then a long one.
func expandLong(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
	if _, err := s.Recv(); err != nil {
		return err
	}
	for _, n := range []int{1, tooLong} {
		if err := s.Send(&conformance.ExpandResponse{Item: &conformance.Item{Text: strings.Repeat("a", n)}}); err != nil {
			return err
		}
	}
	return nil
}

func collect(t *testing.T, s *suite) {
	_, c := s.start(t, conformance.Handler{})
	for _, count := range []int{0, 1, 100} {
		item := conformance.Ordinary()
		out, err := call(patient(t), c, conformance.Collect, repeat(&conformance.CollectRequest{Item: item}, count)...)
		if err != nil {
			t.Fatal(err)
		}
		want := &conformance.CollectResponse{Count: int32(count)}
		if count > 0 {
			want.Last = item
		}
		wantReplies(t, out, want)
	}
}

func callerRecvFails(t *testing.T, s *suite) {
	// A call that breaks before its header is sent never reaches a handler.
	began, ended := make(chan struct{}), make(chan error, 1)
	_, c := s.start(t, rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, st rpc.Stream) error {
		close(began)
		for {
			if _, err := st.Recv(); err != nil {
				ended <- err
				return err
			}
		}
	}))
	broken := rpc.Errorf(rpc.DataLoss, "source broke")
	err := c.Handle(patient(t), conformance.Collect, &scripted{recv: func(n int) (any, error) {
		if n == 2 {
			await(t, began, "the handler to begin")
			return nil, broken
		}
		return &conformance.CollectRequest{}, nil
	}})
	if !errors.Is(err, broken) {
		t.Errorf("call returned %v, want the caller's own error", err)
	}
	if err := await(t, ended, "the handler to end"); errors.Is(err, io.EOF) {
		t.Error("the handler took a broken stream for a whole one")
	}
}

func answersEarly(t *testing.T, s *suite) {
	_, c := s.start(t, rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, st rpc.Stream) error {
		if _, err := st.Recv(); err != nil {
			return err
		}
		return rpc.Errorf(rpc.FailedPrecondition, "seen enough")
	}))
	// The caller has more to send than fits any buffer, and never ends.
	err := c.Handle(patient(t), conformance.Collect, &scripted{recv: func(int) (any, error) {
		return &conformance.CollectRequest{Item: conformance.Ordinary()}, nil
	}})
	wantAnswer(t, err, rpc.FailedPrecondition)
}

func streamedRequestTooLong(t *testing.T, s *suite) {
	srv := s.serveWith(t, conformance.Handler{}, conformance.Service, s.limited(lowLimit))
	c := s.dial(t, srv.addr())
	in := &conformance.CollectRequest{Item: &conformance.Item{Text: strings.Repeat("a", tooLong)}}
	_, err := call(patient(t), c, conformance.Collect, &conformance.CollectRequest{}, in)
	wantTooLong(t, err)
}

func converse(t *testing.T, s *suite) {
	const turns = 50
	_, c := s.start(t, conformance.Handler{})
	answered := make(chan any, 1)
	err := c.Handle(patient(t), conformance.Converse, &scripted{
		recv: func(n int) (any, error) {
			if n > 0 {
				want := &conformance.ConverseResponse{Item: &conformance.Item{Number: int64(n - 1)}}
				if diff := conformance.Diff(want, await(t, answered, "an answer")); diff != "" {
					t.Errorf("turn %d: %s", n-1, diff)
				}
			}
			if n == turns {
				return nil, io.EOF
			}
			return &conformance.ConverseRequest{Item: &conformance.Item{Number: int64(n)}}, nil
		},
		send: func(out any) error {
			answered <- out
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// scripted is a caller's stream whose nth message, from 0, is recv(n).
type scripted struct {
	n    int
	recv func(n int) (any, error)
	send func(any) error
}

func (s *scripted) Recv() (any, error) {
	s.n++
	return s.recv(s.n - 1)
}

func (s *scripted) Send(out any) error {
	if s.send == nil {
		return nil
	}
	return s.send(out)
}

func repeat(message any, count int) []any {
	out := make([]any, count)
	for i := range out {
		out[i] = message
	}
	return out
}
