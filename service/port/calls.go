package port

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/tare-bench/tare/rpc"
)

// calls is the handler of all protocols. It knows which calls are in flight,
// ends streams when the port ends, and outlives a handler that panics.
type calls struct {
	handler  rpc.Handler
	log      *slog.Logger
	inFlight atomic.Int64

	ending     context.Context
	endStreams context.CancelFunc
}

func newCalls(h rpc.Handler, log *slog.Logger) *calls {
	c := &calls{handler: h, log: log}
	c.ending, c.endStreams = context.WithCancel(context.Background())
	return c
}

func (c *calls) Handle(ctx context.Context, m *rpc.Method, s rpc.Stream) (err error) {
	c.inFlight.Add(1)
	defer func() {
		if cause := recover(); cause != nil {
			c.log.Error("handler panicked", "method", m.Path(), "cause", cause, "stack", string(debug.Stack()))
			err = rpc.Errorf(rpc.Internal, "%s failed for a reason of its own; it has been logged", m.Name)
		}
		c.inFlight.Add(-1)
	}()
	if m.Kind.StreamsOut() {
		return c.stream(ctx, m, s)
	}
	return c.handler.Handle(ctx, m, s)
}

// stream has a call end with the port: a stream of replies may go on for ever.
func (c *calls) stream(ctx context.Context, m *rpc.Method, s rpc.Stream) error {
	of, cancel := context.WithCancel(ctx)
	defer cancel()
	unhook := context.AfterFunc(c.ending, cancel)
	defer unhook()
	err := c.handler.Handle(of, m, s)
	if err != nil && c.ending.Err() != nil && ctx.Err() == nil && rpc.ErrorOf(err).Code == rpc.Canceled {
		return rpc.Errorf(rpc.Unavailable, "the server is shutting down")
	}
	return err
}

// untilCut is how long a handler has to return once its call has been cut.
const untilCut = time.Second

// wait returns when all handlers have, or do not for long. It looks now and then,
// since a WaitGroup may not grow while it is waited for, and a call may begin on
// a connection that is just being cut.
func (c *calls) wait() {
	const looks = 100
	tick := time.NewTicker(untilCut / looks)
	defer tick.Stop()
	for range looks {
		if c.inFlight.Load() == 0 {
			return
		}
		<-tick.C
	}
}
