package orders

import (
	"context"
	"errors"
	"fmt"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
)

// orderService keeps orders that the payment service has charged for. An
// order's ID is its payment's ID too: whoever repeats an order whose first
// attempt ended between the two pays once.
type orderService struct {
	orders   store.Orders
	payments rpc.Handler
}

func newOrderService(env workload.Env) (rpc.Handler, error) {
	orders, ok := env.Store.(store.Orders)
	if !ok {
		return nil, fmt.Errorf("a store of type %T keeps no orders", env.Store)
	}
	if env.Next == nil {
		return nil, errors.New("the order service has no payment service to call")
	}
	return unary(CreateOrder, (&orderService{orders, env.Next}).create), nil
}

func (s *orderService) create(ctx context.Context, r *CreateOrderRequest) (*CreateOrderResponse, error) {
	total, err := r.validate()
	if err != nil {
		return nil, err
	}
	o := r.order(total)
	kept, err := s.orders.OrderByID(ctx, o.ID)
	switch {
	case err == nil:
		o.Balance = kept.Balance // as it was answered then; PutOrder says whether the rest is equal
	case errors.Is(err, store.ErrNotFound):
		if o.Balance, err = s.pay(ctx, o); err != nil {
			return nil, err
		}
	default:
		return nil, storeError("look for order", err)
	}
	if err := s.orders.PutOrder(ctx, o); errors.Is(err, store.ErrExists) {
		return nil, rpc.Errorf(rpc.AlreadyExists, "order_id %q exists with other content", o.ID)
	} else if err != nil {
		return nil, storeError("keep order", err)
	}
	return orderAnswer(o), nil
}

// pay has the payment service charge for o, and gives the balance left. Its
// errors pass on with their code, but without the fault of the connection: the
// client's own connection has none.
func (s *orderService) pay(ctx context.Context, o store.Order) (store.Money, error) {
	reply, err := rpc.Invoke(ctx, s.payments, MakePayment,
		&MakePaymentRequest{PaymentID: o.ID, UserName: o.User, Amount: answered(o.Total)})
	if err != nil {
		e := rpc.ErrorOf(err)
		return store.Money{}, rpc.Errorf(e.Code, "payment: %s", e.Message)
	}
	paid := reply.(*MakePaymentResponse)
	if paid.PaymentID != o.ID || paid.Status != PaymentCharged || stored(paid.Charged) != o.Total {
		return store.Money{}, rpc.Errorf(rpc.Internal, "payment service charged %+v for order %q of %+v", paid.Charged, o.ID, o.Total)
	}
	return stored(paid.Balance), nil
}

func (r *CreateOrderRequest) order(total int64) store.Order {
	lines := make([]store.OrderLine, len(r.Lines))
	for i := range r.Lines {
		lines[i] = store.OrderLine(r.Lines[i])
	}
	return store.Order{
		ID: r.OrderID, User: r.UserName, Lines: lines,
		Total: store.Money{Currency: r.CurrencyCode, Minor: total},
	}
}

func orderAnswer(o store.Order) *CreateOrderResponse {
	var room [192]byte
	message := appendOrderMessage(room[:0], o.User, items(o), o.Total.Currency, o.Total.Minor, o.Balance.Minor)
	return &CreateOrderResponse{
		OrderID: o.ID, Status: OrderPaid,
		Total: answered(o.Total), Balance: answered(o.Balance),
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

// paymentService charges accounts.
type paymentService struct{ payments store.Payments }

func newPaymentService(env workload.Env) (rpc.Handler, error) {
	payments, ok := env.Store.(store.Payments)
	if !ok {
		return nil, fmt.Errorf("a store of type %T keeps no payments", env.Store)
	}
	return unary(MakePayment, (&paymentService{payments}).pay), nil
}

func (s *paymentService) pay(ctx context.Context, r *MakePaymentRequest) (*MakePaymentResponse, error) {
	if err := r.validate(); err != nil {
		return nil, err
	}
	balance, err := s.payments.Charge(ctx,
		store.Payment{ID: r.PaymentID, User: r.UserName, Amount: stored(r.Amount)}, openingBalance)
	switch {
	case errors.Is(err, store.ErrExists):
		return nil, rpc.Errorf(rpc.AlreadyExists, "payment_id %q exists with other content", r.PaymentID)
	case errors.Is(err, store.ErrInsufficientFunds):
		return nil, rpc.Errorf(rpc.FailedPrecondition, "insufficient funds: %s has not got %s",
			r.UserName, appendMoney(nil, r.Amount.CurrencyCode, r.Amount.MinorUnits))
	case err != nil:
		return nil, storeError("charge account", err)
	}
	var room [192]byte
	message := appendPaymentMessage(room[:0], r.UserName, r.Amount.CurrencyCode, r.Amount.MinorUnits, balance)
	return &MakePaymentResponse{
		PaymentID: r.PaymentID, Status: PaymentCharged, Charged: r.Amount,
		Balance: Money{CurrencyCode: r.Amount.CurrencyCode, MinorUnits: balance},
		Message: string(message),
	}, nil
}

// storeError is INTERNAL, unless the call itself has ended.
func storeError(doing string, err error) error {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return err
	}
	return rpc.Errorf(rpc.Internal, "%s: %v", doing, err)
}
