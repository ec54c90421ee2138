// Package service runs a workload's services for use: their store, their
// handlers, and the port on which they answer every protocol that the catalogue
// serves. tare serve turns flags into a Config. Where services run to be
// compared, peers/golang runs them, a tier and a stack to each process.
package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/protocol"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/admission"
	"github.com/tare-bench/tare/service/port"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// Config is what to run, and how.
type Config struct {
	Catalog  catalog.Catalog
	Workload string
	Params   map[string]string
	Store    string // address
	Service  string // the tier of the only service to run; "" for all
	Next     *Next  // nil: services that others call are in this process

	Listen     string // address
	Files      Files
	MaxMessage int    // bytes
	Compressor string // of messages, where callers take it; "" for none
	Conns      int    // open at a time; 0: any number
	Admit      int    // calls worked for at once, and as many that wait; 0: as admission.Default
	Grace      time.Duration
	Origins    []string // of web pages whose scripts may call; "*" is any
	Mixed      bool     // see port.Config

	// Wrap stands around every call that comes to the port, those that are
	// refused included; nil: nothing does.
	Wrap func(rpc.Handler) rpc.Handler
	// Extra answers patterns of http.ServeMux.
	Extra map[string]http.Handler
	Log   *slog.Logger
}

// Next is where a service that others call is reached.
type Next struct {
	Addr, Stack string
	InFlight    int // calls at a time
}

// DefaultMaxMessage is as much as clients of gRPC take, unless told otherwise.
const DefaultMaxMessage = 4 << 20

// Service is one or more services of a workload, readied to be run.
type Service struct {
	config   Config
	workload workload.Workload
	params   setting.Values
	tiers    []tier // of the whole workload
	run      []tier // of them
	stacks   []catalog.Stack
	next     catalog.Stack // where Config has a Next
}

// New finds what c names. All of its errors are about c.
func New(c Config) (*Service, error) {
	s := &Service{config: c}
	var err error
	if s.workload, err = c.Catalog.Workload(c.Workload); err != nil {
		return nil, err
	}
	if _, err := c.Catalog.Store(c.Store); err != nil {
		return nil, err
	}
	spec := s.workload.Spec()
	if s.params, err = setting.Resolve(spec.Params, c.Params); err != nil {
		return nil, fmt.Errorf("parameter %w", err)
	}
	s.tiers = tiersOf(spec)
	if s.run, err = selected(s.tiers, c); err != nil {
		return nil, err
	}
	if c.Next != nil {
		if s.next, err = c.Catalog.Stack(c.Next.Stack); err != nil {
			return nil, err
		}
	}
	for _, name := range c.Catalog.Served {
		if c.Compressor != "" {
			name += "+" + c.Compressor
		}
		stack, err := c.Catalog.Stack(name)
		if err != nil {
			return nil, err
		}
		if _, ok := stack.Protocol.(protocol.Mounter); !ok {
			return nil, fmt.Errorf("stack %s cannot share a port", name)
		}
		s.stacks = append(s.stacks, stack)
	}
	return s, nil
}

// Run answers until ctx ends, and then as port.Serve does. It calls listening
// once calls can come.
func (s *Service) Run(ctx context.Context, listening func(net.Addr)) (err error) {
	// What handlers do beside calls goes on until the last call has ended.
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	kept, err := s.openStore(work)
	if err != nil {
		stop()
		return err
	}
	defer func() { err = errors.Join(err, kept.Close()) }()
	defer stop()
	b := &builder{Service: s, kept: kept, handlers: make(map[string]rpc.Handler)}
	defer func() {
		stop()
		err = errors.Join(err, b.close())
	}()
	mux, err := b.mux(work)
	if err != nil {
		return err
	}
	c, err := s.port(mux, kept)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return fmt.Errorf("listen for %s: %w", s.config.Workload, err)
	}
	listening(l.Addr())
	return port.Serve(ctx, l, c)
}

func (s *Service) openStore(ctx context.Context) (store.Store, error) {
	kind, err := s.config.Catalog.Store(s.config.Store)
	if err != nil {
		return nil, err
	}
	kept, err := kind.Open(ctx, s.config.Store)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", s.config.Store, err)
	}
	return kept, nil
}

// port gives what the port serves.
func (s *Service) port(mux *rpc.Mux, kept store.Store) (port.Config, error) {
	c := port.Config{
		Services: mux.Services(), Limits: port.DefaultLimits,
		Conns: s.config.Conns, Grace: s.config.Grace, Origins: s.config.Origins, Mixed: s.config.Mixed,
		Ready: readiness(kept), Extra: s.config.Extra, Log: s.config.Log,
	}
	gate, err := admission.New(mux, admission.Admitting(s.config.Admit))
	if err != nil {
		return c, err
	}
	c.Handler = gate
	if s.config.Wrap != nil {
		c.Handler = s.config.Wrap(gate)
	}
	for _, stack := range s.stacks {
		o := stack.Options(1)
		o.MaxMessage = s.config.MaxMessage
		c.Stacks = append(c.Stacks, port.Stack{Protocol: stack.Protocol.(protocol.Mounter), Options: o})
	}
	c.TLS, err = s.config.Files.config(s.config.Log)
	return c, err
}

// readiness is that of the store, where it can be asked. Why it is not there is
// for no caller to know.
func readiness(kept store.Store) func(context.Context) error {
	asked, ok := kept.(interface{ Ping(context.Context) error })
	if !ok {
		return nil
	}
	return func(ctx context.Context) error {
		if asked.Ping(ctx) != nil {
			return errors.New("the store does not answer")
		}
		return nil
	}
}
