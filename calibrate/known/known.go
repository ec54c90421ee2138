// Package known has servers that weigh what is known: they carry calls as
// another protocol does, and then wait, burn, queue or stand still for as long
// as they are told. What they are told are settings of the stack, so that a
// known server is compared with an unladen one as any stack is with another.
package known

import (
	"context"
	"errors"
	"net"
	"slices"

	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// Name is the protocol as stacks spell it.
const Name = "known"

// Protocol is another protocol, with a known weight on its servers.
type Protocol struct{ Base }

// Base is what a weight is put on: a protocol that either driver speaks.
type Base interface {
	protocol.Protocol
	protocol.Framer
}

// Spec is that of the protocol underneath, with the weights as further settings.
func (p Protocol) Spec() protocol.Spec {
	s := p.Base.Spec()
	s.About = s.Name + ", with a known weight on its servers"
	s.Name = Name
	s.Settings = slices.Concat(s.Settings, settings)
	return s
}

// Serve puts the weight before h.
func (p Protocol) Serve(ctx context.Context, l net.Listener, svc *rpc.Service, h rpc.Handler, o protocol.Options) error {
	w, err := weightOf(o.Settings)
	if err != nil {
		return err
	}
	return p.Base.Serve(ctx, l, svc, w.before(ctx, h, load.Monotonic()), o)
}

// before gives a handler that carries the weight, then answers as h does. It is of
// use until ctx ends.
func (w weight) before(ctx context.Context, h rpc.Handler, clock load.Clock) rpc.Handler {
	g, q := &gate{stall: w.stall}, newQueue(w.serial)
	b, own := &burner{each: w.burn}, newSpender(ctx, w.spend)
	return rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
		clock.WaitUntil(ctx, g.opens(clock.Now()))
		if w.wait > 0 {
			clock.WaitUntil(ctx, clock.Now()+w.wait)
		}
		clock.WaitUntil(ctx, q.leaves(clock.Now()))
		if err := errors.Join(b.burn(), own.spend(ctx)); err != nil {
			return err
		}
		return h.Handle(ctx, m, s)
	})
}
