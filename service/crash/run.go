package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/clients"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/postgres/postgrestest"
)

// plan is one run.
type plan struct {
	kills, every, clients int
	seed                  uint64
	store                 string
	log                   func(format string, args ...any) // progress
}

// outcome is what a run came to.
type outcome struct {
	plan    plan
	took    time.Duration
	victims []*victim
	entries int
	waited  int // orders that were pending when the last crash was over
	verdict *verdict
}

func (o *outcome) sound() bool { return o.verdict.sound() }

// run makes the stores, carries the plan out on them and removes them, unless
// something is wrong with what they keep.
func (p plan) run(ctx context.Context, c catalog.Catalog) (o *outcome, err error) {
	if p.kills < 2 || p.every < 1 || p.clients < 1 {
		return nil, errors.New("there must be 2 kills, 1 order between them and 1 client at least")
	}
	kind, err := c.Store(p.store)
	if err != nil {
		return nil, err
	}
	at, server, err := p.place()
	if err != nil {
		return nil, err
	}
	if server != nil {
		defer func() { err = errors.Join(err, server.End()) }()
	}
	orders, err := kind.Apart(at, "crash-"+orderTier)
	if err != nil {
		return nil, err
	}
	payments, err := kind.Apart(at, "crash-"+paymentTier)
	if err != nil {
		return nil, err
	}
	o, err = p.carryOut(ctx, kind, orders, payments, server)
	if server == nil && (err != nil || !o.verdict.sound()) {
		p.log("the stores stay for you to look at: %s and %s", orders, payments)
		return o, err
	}
	return o, errors.Join(err, kind.Remove(ctx, orders), kind.Remove(ctx, payments))
}

// place gives an address for a kind of store that is named without one: of a
// new folder, or of a new server, which is killed as the services are.
func (p plan) place() (at string, server *postgrestest.Server, err error) {
	switch p.store {
	case "sqlite":
		folder, err := os.MkdirTemp("", "tare-crash-")
		if err != nil {
			return "", nil, fmt.Errorf("make a folder for the stores: %w", err)
		}
		return p.store + ":" + folder, nil, nil
	case "postgres":
		server, err := postgrestest.Launch()
		if err != nil {
			return "", nil, err
		}
		return server.Address(), server, nil
	}
	return p.store, nil, nil
}

// carryOut starts the services, kills them while clients order, has them settle
// what is pending, stops them, and verifies.
func (p plan) carryOut(ctx context.Context, kind store.Kind, orders, payments string, server *postgrestest.Server) (_ *outcome, err error) {
	began := time.Now()
	killed, err := launch(ctx, orders, payments)
	defer func() { err = errors.Join(err, killed.stop()) }()
	if err != nil {
		return nil, err
	}
	if server != nil {
		killed.victims = slices.Insert(killed.victims, 0, &victim{name: "database", process: database{server}})
	}
	all, hangUp, err := clients.Dial(killed.order.addr)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, hangUp()) }()

	l := &load{clients: all, journal: newJournal(), seed: p.seed}
	if err := p.crash(ctx, killed, l); err != nil {
		return nil, err
	}
	kept, waited, err := settled(ctx, all[0])
	if err != nil {
		return nil, err
	}
	p.log("%d orders were pending and are settled", waited)
	o := &outcome{plan: p, victims: killed.victims, entries: len(l.journal.all()), waited: waited}
	var wrong []string
	for _, c := range all {
		listed, err := list(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		wrong = append(wrong, compare(c.Name, listed, kept)...)
	}
	if err := errors.Join(killed.order.stop(), killed.payment.stop()); err != nil {
		return nil, err
	}
	b, err := openBooks(ctx, kind, orders, payments)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	o.verdict, err = verify(ctx, l.journal, b, kept)
	if err != nil {
		return nil, err
	}
	o.verdict.wrong = append(o.verdict.wrong, wrong...)
	o.took = time.Since(began)
	return o, nil
}

// crash puts the services under load, and kills as often as is planned.
func (p plan) crash(ctx context.Context, killed *system, l *load) (err error) {
	ctx, end := context.WithCancel(ctx)
	loaded := make(chan struct{})
	go func() {
		defer close(loaded)
		l.run(ctx, p.clients)
	}()
	defer func() {
		l.full.Store(true)
		if err != nil {
			end()
		}
		<-loaded
		end()
	}()
	k := &killer{system: killed, load: l, random: rand.New(rand.NewPCG(p.seed, 0)), every: p.every}
	for killed.kills() < p.kills-len(killed.victims) {
		if err := k.next(ctx); err != nil {
			return err
		}
		p.log("%d of %d kills, %d orders acknowledged", killed.kills(), p.kills, l.journal.acks.Load())
	}
	return k.last(ctx, loaded)
}
