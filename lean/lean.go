// Package lean makes a protocol's prepared calls over HTTP/1.1 or HTTP/2 at the
// least cost to its own process, so that what a server can do is not hidden by
// its caller. It sends ready bytes, reads answers whole, has them checked, and
// decodes nothing.
//
// It knows no protocol, codec or workload: a protocol.Framer prepares frames, a
// load.Pace says when to send them, a load.Recorder takes what became of them.
// A few event loops hold all connections; it runs on Linux only.
package lean

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tare-bench/tare/load"
	"github.com/tare-bench/tare/protocol"
)

// Config says whom to call and how.
type Config struct {
	Addr       string // host and port; it is resolved once
	Carriage   protocol.Carriage
	InFlight   int           // the most calls that will be in flight at once
	Deadline   time.Duration // of a call, from its start
	MaxMessage int           // longest body of an answer, in bytes
}

// Client keeps connections to one server, from one Drive to the next. Drive and
// Close must not run at the same time as one another; Prepare and Wire may run
// at any time.
type Client struct {
	config Config
	addr   *net.TCPAddr
	loops  []*loop
	heads  heads
	wire   counters
}

// Totals is what a Drive did.
type Totals struct {
	load.Totals
	// Queued counts calls that had begun, and waited because no connection or
	// no stream of one was to be had.
	Queued int
}

// Wire is what crossed a client's sockets since Dial.
type Wire struct {
	Conns          int64 // opened
	Sent, Received int64 // bytes
}

type counters struct{ conns, sent, received atomic.Int64 }

// Dial opens the connections of a client, unless each call is to open its own.
// The error of a server that is not there is an *rpc.Error.
func Dial(ctx context.Context, c Config) (*Client, error) {
	if c.InFlight < 1 || c.Deadline <= 0 || c.MaxMessage < 1 {
		return nil, fmt.Errorf("%d in flight with a deadline of %v and messages of %d bytes: each must be above 0", c.InFlight, c.Deadline, c.MaxMessage)
	}
	addr, err := net.ResolveTCPAddr("tcp", c.Addr)
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", c.Addr, err)
	}
	conns := max(1, min(c.Carriage.Conns, c.InFlight))
	if !c.Carriage.KeepAlive {
		conns = c.InFlight
	}
	client := &Client{config: c, addr: addr}
	count := min(conns, loops())
	for i := range count {
		l, err := newLoop(client, share(conns, count, i), share(c.InFlight, conns, 0))
		if err != nil {
			return nil, errors.Join(fmt.Errorf("make event loop: %w", err), client.Close())
		}
		client.loops = append(client.loops, l)
	}
	if c.Carriage.KeepAlive {
		err = client.each(ctx, (*loop).connect)
	}
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	return client, nil
}

// loops is how many event loops suffice: a call costs the cheapest of servers
// more than three times what it costs a loop, and the fewer loops there are,
// the more answers each finds at a time.
func loops() int { return (runtime.GOMAXPROCS(0) + 3) / 4 }

// share is part i of n things shared out evenly in parts.
func share(n, parts, i int) int { return (n + parts - 1 - i) / parts }

// Drive makes the calls that pace hands out, with at most slots in flight, and
// records each; next prepares call n beforehand, or gives one that was. Both
// next and rec are used concurrently, but rec never twice at a time for a slot.
//
// A call that fails is recorded with an *rpc.Error: a deadline that passed, a
// connection refused, reset, or that spoke another protocol; or with what its
// frame's Check says. A failed connection is opened anew by the next call that
// needs it. When ctx ends Drive cuts short the calls in flight, records them
// as cancelled and returns ctx's cause.
func (c *Client) Drive(ctx context.Context, slots int, pace *load.Pace, next func(n int) *Call, rec load.Recorder) (Totals, error) {
	if slots < 1 || slots > c.config.InFlight {
		return Totals{}, fmt.Errorf("%d calls in flight over connections for 1 to %d", slots, c.config.InFlight)
	}
	busy := c.loops[:min(slots, len(c.loops))]
	t := trial{pace: pace, call: next, rec: rec, began: time.Now()}
	var first int
	for i, l := range busy {
		if err := l.settle(); err != nil {
			return Totals{}, err
		}
		n := share(slots, len(busy), i)
		l.ready(&t, first, n)
		first += n
	}
	err := c.each(ctx, (*loop).run)
	var sum Totals
	for _, l := range busy {
		sum.Started += l.totals.Started
		sum.Queued += l.totals.Queued
		sum.LastStart = max(sum.LastStart, l.totals.LastStart)
		sum.Elapsed = max(sum.Elapsed, l.totals.Elapsed)
	}
	sum.NotStarted = pace.NotStarted(sum.Started)
	return sum, errors.Join(context.Cause(ctx), err)
}

// each runs do on all loops at once, and waits for them. It wakes them when ctx
// ends.
func (c *Client) each(ctx context.Context, do func(*loop, context.Context) error) error {
	failures := make([]error, len(c.loops))
	var running sync.WaitGroup
	for i, l := range c.loops {
		running.Go(func() {
			woken := make(chan struct{})
			stop := context.AfterFunc(ctx, func() {
				l.poll.wake()
				close(woken)
			})
			failures[i] = do(l, ctx)
			if !stop() {
				<-woken
			}
		})
	}
	running.Wait()
	return errors.Join(failures...)
}

// Wire says what crossed the client's sockets since Dial.
func (c *Client) Wire() Wire {
	return Wire{c.wire.conns.Load(), c.wire.sent.Load(), c.wire.received.Load()}
}

// Close closes the connections.
func (c *Client) Close() error {
	var all error
	for _, l := range c.loops {
		all = errors.Join(all, l.close())
	}
	return all
}
