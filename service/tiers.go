package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/hop"
	"github.com/tare-bench/tare/service/observe"
	"github.com/tare-bench/tare/service/validate"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// tier is one service of a workload, and the one that it calls.
type tier struct {
	name    string
	service *rpc.Service
	next    *workload.Tier // nil: none
}

// tiersOf gives the services of all legs, each once.
func tiersOf(spec workload.Spec) (all []tier) {
	for _, leg := range spec.Legs {
		for i, t := range leg.Tiers {
			if slices.ContainsFunc(all, func(there tier) bool { return there.name == t.Name }) {
				continue
			}
			found := tier{name: t.Name, service: t.Service}
			if i+1 < len(leg.Tiers) {
				found.next = &leg.Tiers[i+1]
			}
			all = append(all, found)
		}
	}
	return all
}

// selected gives the tiers that are to be run. A service may be named by its
// plural: most people say it of what keeps orders.
func selected(all []tier, c Config) ([]tier, error) {
	run := all
	if c.Service != "" {
		i := slices.IndexFunc(all, func(t tier) bool { return c.Service == t.name || c.Service == t.name+"s" })
		if i < 0 {
			return nil, fmt.Errorf("unknown service %q of %s; there is %s", c.Service, c.Workload, names(all))
		}
		run = all[i : i+1]
	}
	calls := slices.ContainsFunc(run, func(t tier) bool { return t.next != nil })
	if c.Next != nil && !calls {
		return nil, fmt.Errorf("an address of a next service goes with one that calls another, and %s does not", names(run))
	}
	return run, nil
}

func names(tiers []tier) string {
	var all []string
	for _, t := range tiers {
		all = append(all, t.name)
	}
	return strings.Join(all, ", ")
}

// builder makes handlers, each once.
type builder struct {
	*Service
	kept       store.Store
	observer   *observe.Observer
	handlers   map[string]rpc.Handler // by tier
	background []io.Closer            // handlers that work beside calls
	conns      []protocol.Conn        // to next services
}

// mux gives the handler of all services that are run.
func (b *builder) mux(ctx context.Context) (*rpc.Mux, error) {
	mux := new(rpc.Mux)
	for _, t := range b.run {
		h, err := b.handler(ctx, t)
		if err != nil {
			return nil, err
		}
		if err := mux.Add(t.service, h); err != nil {
			return nil, err
		}
	}
	return mux, nil
}

func (b *builder) handler(ctx context.Context, t tier) (rpc.Handler, error) {
	if h := b.handlers[t.name]; h != nil {
		return h, nil
	}
	rules, err := validate.New(t.service)
	if err != nil {
		return nil, err
	}
	env := workload.Env{Tier: t.name, Params: b.params, Store: b.kept, Check: rules.Check, Log: b.observer.Log()}
	if t.next != nil {
		if err := b.follow(ctx, t, &env); err != nil {
			return nil, err
		}
	}
	h, err := b.workload.Handler(ctx, env)
	if err != nil {
		return nil, fmt.Errorf("ready service %s: %w", t.name, err)
	}
	if c, ok := h.(io.Closer); ok {
		b.background = append(b.background, c)
	}
	b.handlers[t.name] = rules.Handler(h)
	return b.handlers[t.name], nil
}

// follow gives env the service that t calls: elsewhere, by a hop for callers and
// one for the work that no caller waits for, or the one of this process.
func (b *builder) follow(ctx context.Context, t tier, env *workload.Env) (err error) {
	next := b.config.Next
	if next == nil {
		env.Next, err = b.beside(ctx, t.next)
		return err
	}
	o := b.next.Options(next.InFlight)
	o.MaxMessage, o.Fields = b.config.MaxMessage, observe.Fields
	o.DialContext = new(net.Dialer).DialContext
	c, err := b.next.Protocol.Dial(ctx, next.Addr, t.next.Service, o)
	if err != nil {
		return fmt.Errorf("dial %s at %s: %w", t.next.Name, next.Addr, err)
	}
	b.conns = append(b.conns, c)
	remote := observe.Remote{System: b.next.Protocol.Spec().Name, Addr: next.Addr}
	observed := b.observer.Client(c, remote, t.next.Service)
	env.Next, env.Background = hop.New(observed, hop.Default), hop.New(observed, hop.Default)
	return nil
}

// beside gives a service of this process to another of it, so that calls between
// them are observed as they would be between two processes. They are not
// admitted: the call that they are made for was.
func (b *builder) beside(ctx context.Context, t *workload.Tier) (rpc.Handler, error) {
	i := slices.IndexFunc(b.tiers, func(other tier) bool { return other.name == t.Name })
	h, err := b.handler(ctx, b.tiers[i])
	if err != nil {
		return nil, err
	}
	h = b.observer.Server(h, t.Service)
	arrive := func(ctx context.Context, m *rpc.Method, s rpc.Stream) error { return h.Handle(rpc.Arrived(ctx), m, s) }
	return b.observer.Client(rpc.HandlerFunc(arrive), observe.Remote{}, t.Service), nil
}

// close waits for what handlers do beside calls, whose context has ended.
func (b *builder) close() error {
	var errs []error
	for _, c := range b.background {
		errs = append(errs, c.Close())
	}
	for _, c := range b.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}
