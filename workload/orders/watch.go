package orders

import (
	"context"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// watch answers WatchOrders until serving ends.
func (c *changes) watch(serving context.Context) rpc.HandlerFunc {
	return func(ctx context.Context, _ *rpc.Method, s rpc.Stream) error {
		in, err := s.Recv()
		if err != nil {
			return err
		}
		r := in.(*WatchOrdersRequest)
		revision, err := c.join(ctx)
		if err != nil {
			return workload.StoreError("look for changed orders", err)
		}
		defer c.watchers.Add(-1)
		if r.AfterRevision != nil {
			if *r.AfterRevision > revision {
				return rpc.Errorf(rpc.OutOfRange, "after_revision %d is above that of the last change, %d: it is of other orders than these", *r.AfterRevision, revision)
			}
			revision = *r.AfterRevision
		}
		return c.send(ctx, serving, s, r.UserName, revision)
	}
}

// send gives all changes after a revision of one user's orders, or where user is
// "" of all, until ctx or serving ends. A caller that takes them slowly holds up
// nobody else.
func (c *changes) send(ctx, serving context.Context, s rpc.Stream, user string, revision int64) error {
	for {
		if err := over(ctx, serving, revision); err != nil {
			return err
		}
		batch, news, known := c.since(revision)
		if !known {
			var err error
			if batch, err = c.lists.ChangesAfter(ctx, revision, changeBatch); err != nil {
				return workload.StoreError("look for changed orders", err)
			}
		}
		for i := range batch {
			revision = batch[i].Revision
			if user != "" && user != batch[i].User {
				continue
			}
			if err := s.Send(&WatchOrdersResponse{Order: keptOrder(batch[i])}); err != nil {
				return err
			}
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-news:
		case <-ctx.Done():
		case <-serving.Done():
		}
	}
}

// over says why a watch ends that its caller has not ended.
func over(ctx, serving context.Context, revision int64) error {
	switch {
	case ctx.Err() != nil:
		return rpc.ErrorOf(ctx.Err())
	case serving.Err() != nil:
		return rpc.Errorf(rpc.Unavailable, "the service is to end: watch again after revision %d", revision)
	}
	return nil
}
