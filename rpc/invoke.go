package rpc

import (
	"context"
	"io"
)

// Invoke makes a unary call of h: it sends in and returns the one reply.
func Invoke(ctx context.Context, h Handler, m *Method, in any) (any, error) {
	c := exchange{in: in}
	if err := h.Handle(ctx, m, &c); err != nil {
		return nil, err
	}
	if c.replies != 1 {
		return nil, Errorf(Internal, "%s gave %d replies to a unary call", m.Path(), c.replies)
	}
	return c.out, nil
}

// exchange is a unary call's stream as its caller holds it.
type exchange struct {
	in, out any
	taken   bool
	replies int
}

func (c *exchange) Recv() (any, error) {
	if c.taken {
		return nil, io.EOF
	}
	c.taken = true
	return c.in, nil
}

func (c *exchange) Send(out any) error {
	c.out = out
	c.replies++
	return nil
}

// Call makes a call of any kind of h: it sends each of in, and gives each
// reply to recv as it comes. An error of recv ends the call and is returned.
func Call(ctx context.Context, h Handler, m *Method, in []any, recv func(out any) error) error {
	return h.Handle(ctx, m, &sequence{in: in, recv: recv})
}

type sequence struct {
	in   []any
	next int
	recv func(any) error
}

func (s *sequence) Recv() (any, error) {
	if s.next == len(s.in) {
		return nil, io.EOF
	}
	s.next++
	return s.in[s.next-1], nil
}

func (s *sequence) Send(out any) error { return s.recv(out) }
