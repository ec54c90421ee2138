package orders

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// orderStore is what the order service keeps its orders in.
type orderStore interface {
	store.Orders
	store.OrderLists
}

// orderService takes orders and has them paid.
type orderService struct {
	workload.Answers
	orders  orderStore
	till    till
	changes *changes
	running sync.WaitGroup
}

func newOrderService(ctx context.Context, env workload.Env) (rpc.Handler, error) {
	orders, ok := env.Store.(orderStore)
	if !ok {
		return nil, fmt.Errorf("a store of type %T keeps no orders, or does not list them", env.Store)
	}
	if env.Next == nil {
		return nil, errors.New("the order service has no payment service to call")
	}
	log, background := env.Log, env.Background
	if log == nil {
		log = slog.Default()
	}
	if background == nil {
		background = env.Next
	}
	s := &orderService{orders: orders, changes: newChanges(orders, log)}
	s.till = till{orders: orders, payments: env.Next, settled: s.changes.tell, owed: newOwed(), log: log}
	s.Answers = workload.Answers{
		CreateOrder: workload.Unary(s.create),
		GetOrder:    workload.Unary(s.get),
		ListOrders:  workload.Unary(s.list),
		WatchOrders: s.changes.watch(ctx),
	}
	s.running.Go(func() { s.changes.follow(ctx) })
	r := newReconciler(s.till, orders, background)
	s.running.Go(func() { r.run(ctx) })
	return s, nil
}

// Close implements io.Closer.
func (s *orderService) Close() error {
	s.running.Wait()
	return nil
}

// create keeps an order before it has it paid, so that a crash between the two
// leaves what can be carried on: see docs/decisions/0011.
func (s *orderService) create(ctx context.Context, r *CreateOrderRequest) (*CreateOrderResponse, error) {
	o, err := s.orders.AddOrder(ctx, r.order(now()))
	switch {
	case errors.Is(err, store.ErrExists):
		return nil, rpc.Errorf(rpc.AlreadyExists, "order_id %q exists with other content", r.OrderID)
	case err != nil:
		return nil, workload.StoreError("keep order", err)
	}
	if o.Status == store.OrderPending {
		s.changes.tell()
		if o, err = s.till.settle(ctx, o); err != nil {
			return nil, err
		}
	}
	if o.Status == store.OrderRefused {
		return nil, rpc.Errorf(rpc.FailedPrecondition, "%s", refusedMessage(o))
	}
	return orderAnswer(o), nil
}

func (s *orderService) get(ctx context.Context, r *GetOrderRequest) (*GetOrderResponse, error) {
	o, err := s.orders.OrderByID(ctx, r.OrderID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, rpc.Errorf(rpc.NotFound, "no order %q", r.OrderID)
	case err != nil:
		return nil, workload.StoreError("look for order", err)
	}
	return &GetOrderResponse{Order: keptOrder(o)}, nil
}

// order is the order that r asks for. The bounds of the schema are such that its
// total fits.
func (r *CreateOrderRequest) order(at time.Time) store.Order {
	o := store.Order{
		ID: r.OrderID, User: r.UserName, Created: at,
		Lines: make([]store.OrderLine, len(r.Lines)), Total: store.Money{Currency: r.CurrencyCode},
	}
	for i := range r.Lines {
		o.Lines[i] = store.OrderLine(r.Lines[i])
		o.Total.Minor += int64(r.Lines[i].Quantity) * r.Lines[i].UnitPriceMinor
	}
	return o
}

func orderAnswer(o store.Order) *CreateOrderResponse {
	var room [192]byte
	message := appendOrderMessage(room[:0], o.User, items(o), o.Total.Currency, o.Total.Minor, o.Balance)
	return &CreateOrderResponse{
		OrderID: o.ID, Status: OrderPaid,
		Total: answered(o.Total), Balance: Money{CurrencyCode: o.Total.Currency, MinorUnits: o.Balance},
		Message: string(message),
	}
}

// items is how many things an order brings.
func items(o store.Order) (n int64) {
	for i := range o.Lines {
		n += int64(o.Lines[i].Quantity)
	}
	return n
}

// orderStatusOf says of each status of a store which of the schema it is.
var orderStatusOf = map[store.OrderStatus]OrderStatus{
	store.OrderPending: OrderPending, store.OrderPaid: OrderPaid, store.OrderRefused: OrderRefused,
}

func keptOrder(o store.Order) *Order {
	out := &Order{
		OrderID: o.ID, UserName: o.User, Status: orderStatusOf[o.Status],
		Lines: make([]OrderLine, len(o.Lines)), Total: answered(o.Total),
		CreateTime: o.Created, UpdateTime: o.Updated, Revision: o.Revision,
	}
	for i := range o.Lines {
		out.Lines[i] = OrderLine(o.Lines[i])
	}
	if o.Status == store.OrderPaid {
		out.Balance = &Money{CurrencyCode: o.Total.Currency, MinorUnits: o.Balance}
	}
	return out
}

// now is the time as stores keep it.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
