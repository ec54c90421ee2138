package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"reflect"
	"sync/atomic"
	"syscall"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
)

// faultyCatalog is tare's own, with protocols that begin well and then
// misbehave. Each is the first protocol of the catalogue, with another handler
// before the workload's.
func faultyCatalog() catalog.Catalog {
	c := catalog.Default()
	sound := c.Protocols[0]
	for name, fault := range map[string]fault{
		"dying":    {after: probes, do: func(context.Context) error { os.Exit(3); return nil }},
		"killed":   {after: probes, do: func(context.Context) error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) }},
		"stalling": {after: probes, do: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
		"mute":     {after: 0, do: func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }},
		"flaky":    {after: probes, every: 50, do: func(context.Context) error { return rpc.Errorf(rpc.ResourceExhausted, "not this one") }},
		"failing":  {after: probes, do: func(context.Context) error { return rpc.Errorf(rpc.ResourceExhausted, "no more today") }},
		"lying":    {after: 0, alter: "lie"},
		"drifting": {after: probes, alter: "lie"},
		"divided":  {after: 0, reword: "Alas: "},
		"lost":     {after: 0, do: func(context.Context) error { return rpc.Errorf(rpc.NotFound, "no such route") }},
	} {
		c.Protocols = append(c.Protocols, struct {
			faultyProtocol
			protocol.Framer
		}{faultyProtocol{sound, name, fault}, sound.(protocol.Framer)})
	}
	return withUnfair(c)
}

// probes is more calls than are made to check answers, and fewer than a trial's.
const probes = 60

// fault is what a server does from some call on: fail, or alter its replies.
type fault struct {
	after  int64
	every  int64 // which of them, where it is not each
	do     func(context.Context) error
	alter  string // put before the first text of each reply
	reword string // put before the text of each error
}

type faultyProtocol struct {
	protocol.Protocol
	name  string
	fault fault
}

func (p faultyProtocol) Spec() protocol.Spec {
	s := p.Protocol.Spec()
	s.Name = p.name
	return s
}

func (p faultyProtocol) Serve(ctx context.Context, l net.Listener, svc *rpc.Service, h rpc.Handler, o protocol.Options) error {
	var calls atomic.Int64
	return p.Protocol.Serve(ctx, l, svc, rpc.HandlerFunc(func(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
		n := calls.Add(1)
		switch {
		case n <= p.fault.after, p.fault.every > 0 && n%p.fault.every != 0:
			return h.Handle(ctx, m, s)
		case p.fault.do != nil:
			return p.fault.do(ctx)
		}
		if p.fault.alter != "" {
			s = altered{s, p.fault.alter}
		}
		err := h.Handle(ctx, m, s)
		if e := rpc.ErrorOf(err); e != nil && p.fault.reword != "" {
			return rpc.Errorf(e.Code, "%s%s", p.fault.reword, e.Message)
		}
		return err
	}), o)
}

// altered changes the first text of each reply.
type altered struct {
	rpc.Stream
	with string
}

func (a altered) Send(out any) error {
	v := reflect.ValueOf(out).Elem()
	twisted := reflect.New(v.Type())
	twisted.Elem().Set(v)
	for i := range v.NumField() {
		if f := twisted.Elem().Field(i); f.Kind() == reflect.String {
			f.SetString(a.with + f.String())
			return a.Stream.Send(twisted.Interface())
		}
	}
	return fmt.Errorf("%s has no text to alter", v.Type())
}
