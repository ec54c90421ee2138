package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/clients"
	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
)

// settleIn is how long the order service may take to settle what a crash left
// pending.
const settleIn = time.Minute

// list gives every order of the service, by its ID.
func list(ctx context.Context, c clients.Client) (map[string]*ordersv1.Order, error) {
	all := map[string]*ordersv1.Order{}
	in := &ordersv1.ListOrdersRequest{PageSize: 500}
	for {
		page, err := c.ListOrders(ctx, in)
		if status.Code(err) == codes.Unavailable && ctx.Err() == nil {
			wait(ctx, longestPause) // the client will connect again
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list orders: %w", err)
		}
		for _, o := range page.Orders {
			if all[o.OrderId] != nil {
				return nil, fmt.Errorf("list orders: %s is on two pages", o.OrderId)
			}
			all[o.OrderId] = o
		}
		if in.PageToken = page.NextPageToken; in.PageToken == "" {
			return all, nil
		}
	}
}

// settled waits until no order is pending, and gives all, and how many of them
// it had to wait for.
func settled(ctx context.Context, c clients.Client) (all map[string]*ordersv1.Order, waited int, err error) {
	ctx, end := context.WithTimeoutCause(ctx, settleIn, fmt.Errorf("after %v orders are still pending", settleIn))
	defer end()
	if all, err = list(ctx, c); err != nil {
		return nil, 0, err
	}
	pending := map[string]bool{}
	var seen int64 // the last change that the list shows
	for id, o := range all {
		seen = max(seen, o.Revision)
		if o.Status == ordersv1.OrderStatus_ORDER_STATUS_PENDING {
			pending[id] = true
		}
	}
	if waited = len(pending); waited == 0 {
		return all, 0, nil
	}
	for change, err := range c.WatchOrders(ctx, &ordersv1.WatchOrdersRequest{AfterRevision: &seen}) {
		if err != nil {
			return nil, waited, fmt.Errorf("watch orders, of which %d are pending: %w", len(pending), errors.Join(context.Cause(ctx), err))
		}
		all[change.Order.OrderId] = change.Order
		if change.Order.Status != ordersv1.OrderStatus_ORDER_STATUS_PENDING {
			delete(pending, change.Order.OrderId)
		}
		if len(pending) == 0 {
			break
		}
	}
	return all, waited, nil
}

// compare says where a client lists other orders than those that are kept.
func compare(name string, listed, kept map[string]*ordersv1.Order) (wrong []string) {
	for id, o := range kept {
		if !proto.Equal(o, listed[id]) {
			wrong = append(wrong, fmt.Sprintf("%s: %s lists it as %v, and it is %v", id, name, listed[id], o))
		}
	}
	if len(listed) != len(kept) {
		wrong = append(wrong, fmt.Sprintf("%s lists %d orders, of %d", name, len(listed), len(kept)))
	}
	return wrong
}
