package capnp

import (
	"errors"
	"math"

	"capnproto.org/go/capnp/v3"
	wire "capnproto.org/go/capnp/v3/std/capnp/rpc"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// limited puts no message that is longer than may be sent: the error is what the
// caller is told.
type limited struct {
	Binding
	longest int
}

// limitReplies has replies that are longer than a message may be refused.
func (s *service) limitReplies() {
	for _, m := range s.methods {
		m.out = limited{m.out, s.maxMessage}
	}
}

// Put implements Binding. What is built is read again only where it may be too
// long, since far pointers of the RPC's message count that its own would not have.
func (b limited) Put(to capnp.Struct, plain any) error {
	before, err := to.Message().TotalSize()
	if err != nil {
		return err
	}
	if err := b.Binding.Put(to, plain); err != nil {
		return err
	}
	after, err := to.Message().TotalSize()
	if err != nil {
		return err
	}
	room := uint64(to.Size().DataSize) + wordSize*uint64(to.Size().PointerCount)
	if frame+room+after-before <= uint64(b.longest) { //nolint:gosec // positive
		return nil
	}
	to.Message().ResetReadLimit(math.MaxUint64)
	if _, size, err := b.Take(to); err != nil || size > b.longest {
		return protocol.TooLong(b.longest)
	}
	return nil
}

// What a message of its own has besides its root's struct: how long its segment
// is, and the pointer.
const (
	wordSize = 8
	frame    = 2 * wordSize
)

// unsendable says why a message cannot be sent.
func unsendable(t *rpc.Type, err error) error {
	if errors.As(err, new(*rpc.Error)) {
		return err
	}
	return rpc.Errorf(rpc.Internal, "encode %s: %v", t.Name, err)
}

// around is room for what the RPC has around a message.
const around = 64 << 10

// lean gives a message without what nothing in it points to: a reply that was
// refused is still there beside the failure, and may be longer than the peer takes.
func lean(msg *capnp.Message, longest int) *capnp.Message {
	size, err := msg.TotalSize()
	if err != nil || size <= uint64(longest)+around { //nolint:gosec // positive
		return msg
	}
	m, err := wire.ReadRootMessage(msg)
	if err != nil || m.Which() != wire.Message_Which_return || msg.CapTable().Len() > 0 {
		return msg
	}
	msg.ResetReadLimit(math.MaxUint64)
	out, _, err := capnp.NewMessage(capnp.SingleSegment(nil))
	if err != nil {
		return msg
	}
	if err := out.SetRoot(m.ToPtr()); err != nil {
		return msg
	}
	return out
}
