package golang

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// session is one slot's call under way, as a stream: it sends what the call
// sends, and checks what comes back. It is used for one call after the other.
type session struct {
	call    *workload.Call
	sent    int // read once the call has ended: Recv may run beside Send
	replies int
	wrong   error
	fed     int           // messages made on the clock, by all its calls
	keep    func(out any) // what else to do with replies, or nil
}

func (s *session) Recv() (any, error) {
	in, more := s.call.Message(s.sent)
	if !more {
		return nil, io.EOF
	}
	s.sent++
	return in, nil
}

func (s *session) Send(out any) error {
	if s.keep != nil {
		s.keep(out)
	}
	if err := s.call.Check(s.replies, out); err != nil && s.wrong == nil {
		s.wrong = err
	}
	s.replies++
	return nil
}

// do makes a call over conn and gives what is wrong with its outcome.
func (s *session) do(ctx context.Context, conn protocol.Conn, c *workload.Call, timeout time.Duration) error {
	*s = session{call: c, keep: s.keep, fed: s.fed}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	err := conn.Handle(ctx, c.Method, s)
	cancel()
	if c.Feed != nil {
		s.fed += s.sent
	}
	return s.verdict(err)
}

func (s *session) verdict(err error) error {
	want := s.call.Want
	switch {
	case want == rpc.OK && err != nil:
		return err
	case want != rpc.OK && err == nil:
		return fmt.Errorf("%w: it succeeded and should have failed with %v", rpc.ErrWrongAnswer, want)
	case want != rpc.OK && rpc.ErrorOf(err).Code != want:
		return fmt.Errorf("%w: it should have failed with %v: %w", rpc.ErrWrongAnswer, want, err)
	case want == rpc.OK && s.wrong == nil && s.replies != s.call.Replies:
		return fmt.Errorf("%w: %d replies instead of %d", rpc.ErrWrongAnswer, s.replies, s.call.Replies)
	}
	return s.wrong
}
