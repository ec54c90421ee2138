package golang

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/peers/golang/phase"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/admission"
	"github.com/tare-bench/tare/service/hop"
	"github.com/tare-bench/tare/service/validate"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// Server answers one tier of a workload until it is closed.
type Server struct {
	listener net.Listener
	accepted meter
	next     *upstream // nil at the last tier
	kept     store.Store
	within   rpc.Handler // the workload's
	handler  rpc.Handler // around it
	profiler profiler
	stop     context.CancelFunc
	done     chan error
}

// Loopback is where a server listens when nobody asks for a place: an address
// and not a name, since "localhost" may first try IPv6.
const Loopback = "127.0.0.1:0"

func serve(ctx context.Context, c catalog.Catalog, start peer.Start) (role, error) {
	return Listen(ctx, c, start, cmp.Or(start.Listen, Loopback))
}

// Listen starts a server of the tier that start names, at an address of the
// caller's choice.
func Listen(ctx context.Context, c catalog.Catalog, start peer.Start, address string) (*Server, error) {
	w, tier, err := find(c, start)
	if err != nil {
		return nil, err
	}
	stack, err := c.Stack(start.Stack)
	if err != nil {
		return nil, err
	}
	s := &Server{done: make(chan error, 1), profiler: profiler{rules: phase.NewRules(c, record.PhaseHandler)}}
	ctx, s.stop = context.WithCancel(ctx)
	if err := s.begin(ctx, c, w, tier.Service, start, address); err != nil {
		s.stop()
		return nil, errors.Join(err, s.release())
	}
	go func() {
		defer close(s.done)
		s.done <- stack.Protocol.Serve(ctx, s.listener, tier.Service, s.handler, stack.Options(start.InFlight))
	}()
	return s, nil
}

// begin readies what the tier stands on: its store, the next tier, its handler
// and its listener.
func (s *Server) begin(ctx context.Context, c catalog.Catalog, w workload.Workload, svc *rpc.Service, start peer.Start, address string) error {
	kind, err := c.Store(start.Store)
	if err != nil {
		return err
	}
	if s.kept, err = kind.Open(ctx, start.Store); err != nil {
		return err // it names the address, but for what is secret in it
	}
	rules, err := validate.New(svc)
	if err != nil {
		return err
	}
	env := workload.Env{Tier: start.Tier, Leg: start.Leg, Params: start.Params, Store: s.kept, Check: rules.Check}
	if start.Next != nil {
		if s.next, err = dialNext(ctx, c, start); err != nil {
			return err
		}
		env.Next, env.Background = hop.New(s.next.conn, hop.Default), hop.New(s.next.conn, hop.Default)
	}
	if s.within, err = w.Handler(ctx, env); err != nil {
		return err
	}
	if s.handler, err = around(s.within, rules, start.Admit); err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("listen for %s: %w", start.Tier, err)
	}
	s.listener = countedListener{l, &s.accepted}
	return nil
}

// around gives a handler as a service is kept: it takes on no more than it can
// do, and nothing that breaks the rules of its schema. What is compared is this,
// the same for every stack.
func around(h rpc.Handler, rules *validate.Rules, admit int) (rpc.Handler, error) {
	return admission.New(rules.Handler(h), admission.Admitting(admit))
}

// find gives the workload and the tier that a process serves.
func find(c catalog.Catalog, start peer.Start) (workload.Workload, workload.Tier, error) {
	w, leg, err := findLeg(c, start)
	if err != nil {
		return nil, workload.Tier{}, err
	}
	for _, t := range leg.Tiers {
		if t.Name == start.Tier {
			return w, t, nil
		}
	}
	return nil, workload.Tier{}, fmt.Errorf("leg %s of %s has no tier %q", leg.Name, start.Workload, start.Tier)
}

func findLeg(c catalog.Catalog, start peer.Start) (workload.Workload, workload.Leg, error) {
	w, err := c.Workload(start.Workload)
	if err != nil {
		return nil, workload.Leg{}, err
	}
	leg, ok := w.Spec().Leg(start.Leg)
	if !ok {
		return nil, workload.Leg{}, fmt.Errorf("workload %s has no leg %q", start.Workload, start.Leg)
	}
	return w, leg, nil
}

// upstream is this process's hold on the next tier.
type upstream struct {
	conn   protocol.Conn
	dialed meter
}

// dial readies a client of start.Next, whose tier follows start.Tier in the
// leg; a driver has no tier, and the first follows.
func dial(ctx context.Context, c catalog.Catalog, start peer.Start) (*upstream, error) {
	tier, stack, err := following(c, start)
	if err != nil {
		return nil, err
	}
	u := new(upstream)
	o := stack.Options(start.InFlight)
	o.DialContext = u.dialed.dial
	u.conn, err = stack.Protocol.Dial(ctx, start.Next.Addr, tier.Service, o)
	if err != nil {
		return nil, fmt.Errorf("dial %s at %s: %w", tier.Name, start.Next.Addr, err)
	}
	return u, nil
}

func following(c catalog.Catalog, start peer.Start) (workload.Tier, catalog.Stack, error) {
	_, leg, err := findLeg(c, start)
	if err != nil {
		return workload.Tier{}, catalog.Stack{}, err
	}
	next := 0
	for i, t := range leg.Tiers {
		if t.Name == start.Tier {
			next = i + 1
		}
	}
	if next == len(leg.Tiers) {
		return workload.Tier{}, catalog.Stack{}, fmt.Errorf("nothing follows tier %s of leg %s", start.Tier, leg.Name)
	}
	stack, err := c.Stack(start.Next.Stack)
	return leg.Tiers[next], stack, err
}

// Addr is where the server listens.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Failed receives what ended the server, if it ended by itself.
func (s *Server) Failed() <-chan error { return s.done }

func (s *Server) usage() (record.Usage, error) {
	u, err := readUsage()
	u.Accepted = s.accepted.asServer()
	if s.next != nil {
		u.Dialed = s.next.dialed.asCaller()
	}
	return u, err
}

func (s *Server) probe(context.Context) ([]peer.Answer, error) {
	return nil, errors.New("a server makes no probes")
}

func (s *Server) trial(context.Context, peer.Trial) (*record.Load, error) {
	return nil, errors.New("a server makes no calls")
}

func (s *Server) payload() *record.Payload { return nil }

// grace is how long the calls in flight have to end once nobody needs them.
const grace = 2 * time.Second

// Close refuses new calls, gives those in flight the grace to end, and releases
// what the server stands on.
func (s *Server) Close() error {
	s.stop()
	var err error
	select {
	case err = <-s.done:
	case <-time.After(grace):
		err = fmt.Errorf("stop serving: calls are still in flight after %v", grace)
	}
	return errors.Join(err, s.release())
}

func (s *Server) release() error {
	errs := []error{end(s.within)}
	if s.next != nil {
		errs = append(errs, s.next.conn.Close())
	}
	if s.kept != nil {
		errs = append(errs, s.kept.Close())
	}
	return errors.Join(errs...)
}

// end waits for what a workload's handler does in the background, once its
// context has ended.
func end(h rpc.Handler) error {
	if c, ok := h.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
