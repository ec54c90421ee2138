package capnp

import (
	"context"
	"errors"
	"sync"

	"capnproto.org/go/capnp/v3"
	dispatch "capnproto.org/go/capnp/v3/server"
	"golang.org/x/sync/semaphore"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// windowSize is how many bytes of a stream may be sent and not taken yet. A
// longer message has it to itself.
const windowSize = 256 << 10

// window is the library's flow control by a fixed number of bytes, but for
// messages that are longer, for which its own panics.
type window struct{ free *semaphore.Weighted }

func newWindow() window { return window{semaphore.NewWeighted(windowSize)} }

// StartMessage implements flowcontrol.FlowLimiter.
func (w window) StartMessage(ctx context.Context, size uint64) (func(), error) {
	n := int64(min(size, windowSize)) //nolint:gosec // a small constant at most
	if err := w.free.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { w.free.Release(n) }, nil
}

// Release implements flowcontrol.FlowLimiter.
func (window) Release() {}

// push sends one message of a stream, once there is room. A message that cannot
// be sent is an *rpc.Error.
func push(ctx context.Context, to capnp.Client, number capnp.Method, t *rpc.Type, b Binding, plain any) error {
	var unsent error
	err := to.SendStreamCall(ctx, capnp.Send{
		Method: number, ArgsSize: b.Room(),
		PlaceArgs: func(args capnp.Struct) error {
			unsent = b.Put(args, plain)
			return unsent
		},
	})
	if unsent != nil {
		return unsendable(t, unsent)
	}
	return err
}

// sink is the capability by which a client is given replies. It gives none once
// the call is over.
type sink struct {
	*service
	method *method
	cancel context.CancelFunc // of the call, where a reply is not taken
	send   func(any) error

	mu   sync.Mutex
	over bool
	err  error // why a reply was not taken
}

var errOver = errors.New("the call is over")

// capability gives it to the other side, which releases it.
func (k *sink) capability() capnp.Client {
	return capnp.NewClient(dispatch.New([]dispatch.Method{{Method: k.method.replies, Impl: k.take}}, nil, nil))
}

func (k *sink) take(_ context.Context, c *dispatch.Call) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return errOver
	}
	out, size, err := k.method.out.Take(c.Args())
	switch {
	case err != nil:
		err = unreadable(err)
	case size > k.maxMessage:
		err = protocol.TooLong(k.maxMessage)
	default:
		err = k.send(out)
	}
	if err != nil {
		k.over, k.err = true, err
		k.cancel()
	}
	return err
}

// end has nothing be given any more, and gives why a reply was not taken.
func (k *sink) end() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	return k.err
}

// putClient has pointer i of s be a capability, which goes with s.
func putClient(s capnp.Struct, i uint16, c capnp.Client) error {
	seg := s.Segment()
	return s.SetPtr(i, capnp.NewInterface(seg, seg.Message().CapTable().Add(c)).ToPtr())
}
