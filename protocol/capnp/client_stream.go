package capnp

import (
	"context"
	"errors"
	"io"

	"capnproto.org/go/capnp/v3"

	"github.com/tare-bench/tare/rpc"
)

// The sizes of what stands around the messages of streams: as many pointers.
var (
	onePointer  = capnp.ObjectSize{PointerCount: 1}
	twoPointers = capnp.ObjectSize{PointerCount: 2}
)

// expand makes a call whose replies stream.
func (c *client) expand(ctx context.Context, to capnp.Client, m *method, s rpc.Stream, in any) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k := &sink{service: c.service, method: m, cancel: cancel, send: s.Send}
	var unsent error
	answer, release := to.SendCall(ctx, capnp.Send{
		Method: m.number, ArgsSize: twoPointers,
		PlaceArgs: func(args capnp.Struct) error {
			unsent = putRequest(args, m, in)
			if unsent != nil {
				return unsent
			}
			return putClient(args, 1, k.capability())
		},
	})
	out, release, err := await(ctx, answer, release)
	defer release()
	if taken := k.end(); taken != nil {
		return taken
	}
	return c.ended(ctx, m, out, err, unsent)
}

func putRequest(args capnp.Struct, m *method, in any) error {
	to, err := capnp.NewStruct(args.Segment(), m.in.Room())
	if err != nil {
		return err
	}
	if err := m.in.Put(to, in); err != nil {
		return err
	}
	return args.SetPtr(0, to.ToPtr())
}

// ended is the outcome of a call whose result is a failure or nothing.
func (c *client) ended(ctx context.Context, m *method, out capnp.Struct, err, unsent error) error {
	switch {
	case unsent != nil:
		return unsendable(m.In, unsent)
	case err != nil:
		return exception(ctx, err, m)
	}
	p, err := out.Ptr(0)
	if err != nil {
		return unreadable(err)
	}
	if p.IsValid() {
		return takeFailure(failure(p.Struct()))
	}
	return nil
}

// collect makes a call whose requests stream, and maybe its replies.
func (c *client) collect(ctx context.Context, to capnp.Client, m *method, s rpc.Stream) error {
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k := &sink{service: c.service, method: m, cancel: cancel, send: s.Send}
	begin := capnp.Send{Method: m.number}
	if m.Kind == rpc.Bidi {
		begin.ArgsSize = onePointer
		begin.PlaceArgs = func(args capnp.Struct) error { return putClient(args, 0, k.capability()) }
	}
	answer, release := to.SendCall(ctx, begin)
	defer func() { go release() }() // it waits until the call is answered or dropped
	given := answer.Future().Field(0, nil).Client()
	requests, last := given.AddRef(), given.AddRef() // an error of one stops that one alone
	defer requests.Release()
	defer last.Release()
	requests.SetFlowLimiter(newWindow())
	if err := pushAll(ctx, requests, m, s); err != nil {
		return err
	}
	ended, done := last.SendCall(ctx, capnp.Send{Method: m.end})
	out, done, err := await(ctx, ended, done)
	defer done()
	if taken := k.end(); taken != nil {
		return taken
	}
	if m.Kind == rpc.Bidi || err != nil {
		return c.ended(outer, m, out, err, nil)
	}
	reply, err := c.outcome(m, result(out))
	if err != nil {
		return err
	}
	return s.Send(reply)
}

// pushAll sends what the caller gives, until that is all or nobody takes it
// any more. Its error is the caller's own, or why a message cannot be sent.
func pushAll(ctx context.Context, to capnp.Client, m *method, s rpc.Stream) error {
	for {
		in, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = push(ctx, to, m.requests, m.In, m.in, in)
		var unsent *rpc.Error
		switch {
		case errors.As(err, &unsent):
			return unsent
		case err != nil:
			return nil // the result says why
		}
	}
}
