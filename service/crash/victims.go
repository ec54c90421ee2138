package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tare-bench/tare/internal/program"
	"github.com/tare-bench/tare/store/postgres/postgrestest"
)

// victim is a process that is killed and started again.
type victim struct {
	name string
	process
	kills int
	back  []time.Duration // from each start after a kill until it was ready
}

// process is what a victim is.
type process interface {
	start(context.Context) error
	kill() error
	stop() error // in good order; nothing where it does not run
}

func (v *victim) die() error {
	if err := v.kill(); err != nil {
		return fmt.Errorf("kill the %s: %w", v.name, err)
	}
	v.kills++
	return nil
}

func (v *victim) rise(ctx context.Context) error {
	began := time.Now()
	if err := v.start(ctx); err != nil {
		return fmt.Errorf("start the %s again: %w", v.name, err)
	}
	v.back = append(v.back, time.Since(began))
	return nil
}

// Of a workload's tiers these two are run.
const (
	orderTier   = "order"
	paymentTier = "payment"
)

// home is where services listen: an address that no client's own end of a
// connection has, or a client could take a service's port while it is dead.
const home = "127.0.0.2:0"

// service is one or more of a workload's, in a process of its own.
type service struct {
	args []string
	addr string // where it listens, once it has been started; then always there
	run  *program.Program
}

// start starts a service by what its program is told.
func start(ctx context.Context, args ...string) (*service, error) {
	s := &service{addr: home, args: args}
	return s, s.start(ctx)
}

// serve runs one tier of the orders on a store of its own.
func serve(ctx context.Context, tier, store string, more ...string) (*service, error) {
	return start(ctx, append([]string{"serve", "orders", "--service", tier, "--store", store}, more...)...)
}

func (s *service) start(ctx context.Context) (err error) {
	s.run, err = program.Start(ctx, append(slices.Clone(s.args), "--listen", s.addr)...)
	if err == nil {
		s.addr = s.run.Addr()
	}
	return err
}

func (s *service) kill() error { return s.run.Kill() }

func (s *service) stop() error {
	if s.run == nil {
		return nil
	}
	run := s.run
	s.run = nil
	return run.Stop()
}

// database is a server of PostgreSQL that the crash test has for itself.
type database struct{ *postgrestest.Server }

func (d database) start(context.Context) error { return d.Start() }
func (d database) kill() error                 { return d.Crash() }
func (d database) stop() error                 { return nil } // who launched it does

// system is all that is killed.
type system struct {
	order, payment *service
	victims        []*victim // in the order in which they can be started
}

// launch starts the services, each with a store of its own.
func launch(ctx context.Context, orders, payments string) (s *system, err error) {
	s = &system{}
	if s.payment, err = serve(ctx, paymentTier, payments); err != nil {
		return s, fmt.Errorf("start the payment service: %w", err)
	}
	s.victims = append(s.victims, &victim{name: "payment service", process: s.payment})
	if s.order, err = serve(ctx, orderTier, orders, "--next", s.payment.addr); err != nil {
		return s, fmt.Errorf("start the order service: %w", err)
	}
	s.victims = append(s.victims, &victim{name: "order service", process: s.order})
	return s, nil
}

// kills is how often any of them was killed.
func (s *system) kills() (n int) {
	for _, v := range s.victims {
		n += v.kills
	}
	return n
}

// stop stops all in good order, those first that call others.
func (s *system) stop() (err error) {
	for _, v := range slices.Backward(s.victims) {
		err = errors.Join(err, v.stop())
	}
	return err
}
