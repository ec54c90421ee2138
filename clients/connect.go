package clients

import (
	"context"
	"errors"
	"io"
	"iter"

	"connectrpc.com/connect"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
	"github.com/tare-bench/tare/gen/tare/orders/v1/ordersv1connect"
)

// connectOrders is the client that protoc-gen-connect-go generates.
type connectOrders struct {
	c ordersv1connect.OrderServiceClient
}

func (o connectOrders) CreateOrder(ctx context.Context, in *ordersv1.CreateOrderRequest) (*ordersv1.CreateOrderResponse, error) {
	return called(ctx, o.c.CreateOrder, in)
}

func (o connectOrders) GetOrder(ctx context.Context, in *ordersv1.GetOrderRequest) (*ordersv1.GetOrderResponse, error) {
	return called(ctx, o.c.GetOrder, in)
}

func (o connectOrders) ListOrders(ctx context.Context, in *ordersv1.ListOrdersRequest) (*ordersv1.ListOrdersResponse, error) {
	return called(ctx, o.c.ListOrders, in)
}

func (o connectOrders) WatchOrders(ctx context.Context, in *ordersv1.WatchOrdersRequest) iter.Seq2[*ordersv1.WatchOrdersResponse, error] {
	return func(yield func(*ordersv1.WatchOrdersResponse, error) bool) {
		ctx, end := context.WithCancel(ctx)
		defer end() // before Close, which reads what is left of the stream
		stream, err := o.c.WatchOrders(ctx, connect.NewRequest(in))
		if err != nil {
			yield(nil, statusOf(err))
			return
		}
		defer func() { end(); _ = stream.Close() }() // what ended it has been said
		for stream.Receive() {
			if !yield(stream.Msg(), nil) {
				return
			}
		}
		if err := stream.Err(); err != nil {
			yield(nil, statusOf(err))
			return
		}
		yield(nil, io.EOF)
	}
}

func called[In, Out any](ctx context.Context,
	call func(context.Context, *connect.Request[In]) (*connect.Response[Out], error), in *In,
) (*Out, error) {
	out, err := call(ctx, connect.NewRequest(in))
	if err != nil {
		return nil, statusOf(err)
	}
	return out.Msg, nil
}

// statusOf gives Connect's error as a status: their codes are the same numbers.
func statusOf(err error) error {
	message := err.Error()
	var e *connect.Error
	if errors.As(err, &e) {
		message = e.Message()
	}
	return status.Error(codes.Code(connect.CodeOf(err)), message)
}
