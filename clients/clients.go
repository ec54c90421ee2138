// Package clients calls the order service as programs outside of this tree do:
// each client is a public library with the code that was generated for it, or
// plain HTTP, and none knows anything of tare's own. Tests of the whole program
// and the crash test use it. The folder web is the page for browsers.
package clients

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
	"github.com/tare-bench/tare/gen/tare/orders/v1/ordersv1connect"
)

// Orders is the order service, all of its methods, whatever carries them. An
// error is a gRPC status: status.Code tells its code. It is safe for concurrent
// use.
type Orders interface {
	CreateOrder(context.Context, *ordersv1.CreateOrderRequest) (*ordersv1.CreateOrderResponse, error)
	GetOrder(context.Context, *ordersv1.GetOrderRequest) (*ordersv1.GetOrderResponse, error)
	ListOrders(context.Context, *ordersv1.ListOrdersRequest) (*ordersv1.ListOrdersResponse, error)
	// WatchOrders ends with the first error: io.EOF where the service ended it.
	WatchOrders(context.Context, *ordersv1.WatchOrdersRequest) iter.Seq2[*ordersv1.WatchOrdersResponse, error]
}

// Client is one way to call the order service.
type Client struct {
	Name string // the library, and where it speaks several protocols which
	Orders
}

// Dial gives a client of each kind for the service at an address, HOST:PORT, and
// what closes their connections. They connect when they are first used, and
// again whenever the service was away.
func Dial(addr string) (all []Client, hangUp func() error, err error) {
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: soon, MinConnectTimeout: time.Second}))
	if err != nil {
		return nil, nil, fmt.Errorf("dial %s: %w", addr, err)
	}
	plain, h2c := http1(), http2Only()
	url := "http://" + addr
	byConnect := func(c *http.Client, o ...connect.ClientOption) Orders {
		return connectOrders{ordersv1connect.NewOrderServiceClient(c, url, o...)}
	}
	all = []Client{
		{"grpc-go", grpcOrders{ordersv1.NewOrderServiceClient(conn)}},
		{"connect-go", byConnect(plain)},
		{"connect-go, JSON over HTTP/2", byConnect(h2c, connect.WithProtoJSON())},
		{"connect-go, gRPC", byConnect(h2c, connect.WithGRPC())},
		{"connect-go, gRPC-Web", byConnect(plain, connect.WithGRPCWeb())},
		{"net/http", restOrders{plain, url}},
	}
	return all, func() error {
		plain.CloseIdleConnections()
		h2c.CloseIdleConnections()
		return conn.Close()
	}, nil
}

// soon is how grpc-go tries to connect again, by default after a second or more.
var soon = backoff.Config{BaseDelay: 20 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: time.Second}

func http1() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 256 // the default of 2 opens a connection for almost every call
	return &http.Client{Transport: t}
}

func http2Only() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Protocols = new(http.Protocols)
	t.Protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: t}
}

// grpcOrders is the client that protoc-gen-go-grpc generates.
type grpcOrders struct{ c ordersv1.OrderServiceClient }

func (o grpcOrders) CreateOrder(ctx context.Context, in *ordersv1.CreateOrderRequest) (*ordersv1.CreateOrderResponse, error) {
	return o.c.CreateOrder(ctx, in)
}

func (o grpcOrders) GetOrder(ctx context.Context, in *ordersv1.GetOrderRequest) (*ordersv1.GetOrderResponse, error) {
	return o.c.GetOrder(ctx, in)
}

func (o grpcOrders) ListOrders(ctx context.Context, in *ordersv1.ListOrdersRequest) (*ordersv1.ListOrdersResponse, error) {
	return o.c.ListOrders(ctx, in)
}

func (o grpcOrders) WatchOrders(ctx context.Context, in *ordersv1.WatchOrdersRequest) iter.Seq2[*ordersv1.WatchOrdersResponse, error] {
	return func(yield func(*ordersv1.WatchOrdersResponse, error) bool) {
		ctx, end := context.WithCancel(ctx)
		defer end()
		stream, err := o.c.WatchOrders(ctx, in)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			change, err := stream.Recv()
			if !yield(change, err) || err != nil {
				return
			}
		}
	}
}
