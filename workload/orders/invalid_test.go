package orders

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/validate"
)

var (
	long129 = strings.Repeat("x", 129)
	long257 = strings.Repeat("ü", 128) + "x" // bytes, not letters
)

// invalid has, for each rule of each field, a request that breaks it alone.
var invalid = []struct {
	method        *rpc.Method
	field, reason string
	request       any
}{
	{CreateOrder, "order_id", "STRING_PATTERN", order(func(r *CreateOrderRequest) { r.OrderID = "" })},
	{CreateOrder, "order_id", "STRING_PATTERN", order(func(r *CreateOrderRequest) { r.OrderID = "-1" })},
	{CreateOrder, "order_id", "STRING_PATTERN", order(func(r *CreateOrderRequest) { r.OrderID = "1\n" })},
	{CreateOrder, "order_id", "STRING_PATTERN", order(func(r *CreateOrderRequest) { r.OrderID = "../1" })},
	{CreateOrder, "order_id", "STRING_MAX_BYTES", order(func(r *CreateOrderRequest) { r.OrderID = long129 })},
	{CreateOrder, "user_name", "STRING_MIN_LEN", order(func(r *CreateOrderRequest) { r.UserName = "" })},
	{CreateOrder, "user_name", "STRING_MAX_BYTES", order(func(r *CreateOrderRequest) { r.UserName = long257 })},
	{CreateOrder, "user_name", "STRING_NOT_CONTAINS", order(func(r *CreateOrderRequest) { r.UserName = "Zoë\x00" })},
	{CreateOrder, "currency_code", "STRING_PATTERN", order(func(r *CreateOrderRequest) { r.CurrencyCode = "EURO" })},
	{CreateOrder, "currency_code", "STRING_PATTERN", order(func(r *CreateOrderRequest) { r.CurrencyCode = "ÄÖÜ" })},
	{CreateOrder, "lines", "REPEATED_MIN_ITEMS", order(func(r *CreateOrderRequest) { r.Lines = nil })},
	{CreateOrder, "lines", "REPEATED_MAX_ITEMS", order(func(r *CreateOrderRequest) { r.Lines = append(largestOrder().Lines, r.Lines[0]) })},
	{CreateOrder, "lines", "LINES_COST", order(func(r *CreateOrderRequest) { r.Lines[0].UnitPriceMinor, r.Lines[1].UnitPriceMinor = 0, 0 })},
	{CreateOrder, "lines[1].sku", "STRING_MIN_LEN", order(func(r *CreateOrderRequest) { r.Lines[1].SKU = "" })},
	{CreateOrder, "lines[1].sku", "STRING_MAX_BYTES", order(func(r *CreateOrderRequest) { r.Lines[1].SKU = long129 })},
	{CreateOrder, "lines[1].sku", "STRING_NOT_CONTAINS", order(func(r *CreateOrderRequest) { r.Lines[1].SKU = "\x00" })},
	{CreateOrder, "lines[0].title", "STRING_MAX_BYTES", order(func(r *CreateOrderRequest) { r.Lines[0].Title = strings.Repeat("x", 1025) })},
	{CreateOrder, "lines[0].title", "STRING_NOT_CONTAINS", order(func(r *CreateOrderRequest) { r.Lines[0].Title = "a\x00b" })},
	{CreateOrder, "lines[0].quantity", "INT32_GT_LTE", order(func(r *CreateOrderRequest) { r.Lines[0].Quantity = 0 })},
	{CreateOrder, "lines[0].quantity", "INT32_GT_LTE", order(func(r *CreateOrderRequest) { r.Lines[0].Quantity = dearest + 1 })},
	{CreateOrder, "lines[0].unit_price_minor", "INT64_GTE_LTE", order(func(r *CreateOrderRequest) { r.Lines[0].UnitPriceMinor = -1 })},
	{CreateOrder, "lines[0].unit_price_minor", "INT64_GTE_LTE", order(func(r *CreateOrderRequest) { r.Lines[0].UnitPriceMinor = 1e9 + 1 })},
	{GetOrder, "order_id", "STRING_PATTERN", &GetOrderRequest{OrderID: "a b"}},
	{GetOrder, "order_id", "STRING_MAX_BYTES", &GetOrderRequest{OrderID: long129}},
	{ListOrders, "page_size", "INT32_GTE_LTE", &ListOrdersRequest{PageSize: -1}},
	{ListOrders, "page_size", "INT32_GTE_LTE", &ListOrdersRequest{PageSize: 1001}},
	{ListOrders, "page_token", "STRING_MAX_BYTES", &ListOrdersRequest{PageToken: long257}},
	{ListOrders, "user_name", "STRING_MAX_BYTES", &ListOrdersRequest{UserName: long257}},
	{ListOrders, "user_name", "STRING_NOT_CONTAINS", &ListOrdersRequest{UserName: "\x00"}},
	{WatchOrders, "after_revision", "INT64_GTE", &WatchOrdersRequest{AfterRevision: revision(-1)}},
	{WatchOrders, "user_name", "STRING_MAX_BYTES", &WatchOrdersRequest{UserName: long257}},
	{WatchOrders, "user_name", "STRING_NOT_CONTAINS", &WatchOrdersRequest{UserName: "\x00"}},
	{MakePayment, "payment_id", "STRING_PATTERN", payment(func(r *MakePaymentRequest) { r.PaymentID = "/" })},
	{MakePayment, "payment_id", "STRING_MAX_BYTES", payment(func(r *MakePaymentRequest) { r.PaymentID = long129 })},
	{MakePayment, "user_name", "STRING_MIN_LEN", payment(func(r *MakePaymentRequest) { r.UserName = "" })},
	{MakePayment, "user_name", "STRING_MAX_BYTES", payment(func(r *MakePaymentRequest) { r.UserName = long257 })},
	{MakePayment, "user_name", "STRING_NOT_CONTAINS", payment(func(r *MakePaymentRequest) { r.UserName = "\x00" })},
	{MakePayment, "amount", "REQUIRED", payment(func(r *MakePaymentRequest) { r.Amount = Money{} })},
	{MakePayment, "amount", "AMOUNT_POSITIVE", payment(func(r *MakePaymentRequest) { r.Amount.MinorUnits = -5 })},
	{MakePayment, "amount.currency_code", "STRING_PATTERN", payment(func(r *MakePaymentRequest) { r.Amount.CurrencyCode = "€" })},
	{GetPayment, "payment_id", "STRING_PATTERN", &GetPaymentRequest{PaymentID: "ä"}},
	{GetPayment, "payment_id", "STRING_MAX_BYTES", &GetPaymentRequest{PaymentID: long129}},
	{RefundPayment, "payment_id", "STRING_PATTERN", &RefundPaymentRequest{RefundID: "1"}},
	{RefundPayment, "payment_id", "STRING_MAX_BYTES", &RefundPaymentRequest{PaymentID: long129, RefundID: "1"}},
	{RefundPayment, "refund_id", "STRING_PATTERN", &RefundPaymentRequest{PaymentID: "1"}},
	{RefundPayment, "refund_id", "STRING_MAX_BYTES", &RefundPaymentRequest{PaymentID: "1", RefundID: long129}},
	{RefundPayment, "amount", "AMOUNT_POSITIVE", &RefundPaymentRequest{PaymentID: "1", RefundID: "1", Amount: &Money{CurrencyCode: "EUR"}}},
	{RefundPayment, "amount.currency_code", "STRING_PATTERN", &RefundPaymentRequest{PaymentID: "1", RefundID: "1", Amount: &Money{MinorUnits: 1}}},
}

func order(change func(*CreateOrderRequest)) *CreateOrderRequest {
	r := probeOrder("1", change)
	return &r
}

func payment(change func(*MakePaymentRequest)) *MakePaymentRequest {
	r := probePayment("1", change)
	return &r
}

func revision(n int64) *int64 { return &n }

func TestEveryInvalidField(t *testing.T) {
	rules, err := validate.New(OrderService, PaymentService)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range invalid {
		e := rpc.ErrorOf(rules.Check(c.method.In, c.request))
		if e == nil || e.Code != rpc.InvalidArgument || len(e.Violations) != 1 ||
			e.Violations[0].Field != c.field || e.Violations[0].Reason != c.reason || e.Violations[0].Description == "" {
			t.Errorf("%s with a bad %s gave %v; want %s alone", c.method.Name, c.field, e, c.reason)
		}
	}
}

// Each field that comes in has a rule, or is no more than a number that may be
// any; a field without one must be thought of here.
func TestEveryFieldHasARule(t *testing.T) {
	broken := map[string]bool{}
	for _, c := range invalid {
		field := strings.NewReplacer("[0]", "", "[1]", "").Replace(c.field)
		broken[c.method.Name+"."+field] = true
	}
	anything := map[string]bool{
		"MakePayment.amount.minor_units": true, "RefundPayment.amount.minor_units": true, // the rule is the amount's
	}
	for _, svc := range []*rpc.Service{OrderService, PaymentService} {
		for _, m := range svc.Methods {
			for _, path := range paths(m.Name, m.In.NewProto().ProtoReflect().Descriptor()) {
				if !broken[path] && !anything[path] {
					t.Errorf("nothing is wrong with any %s", path)
				}
			}
		}
	}
}

func paths(at string, m protoreflect.MessageDescriptor) (all []string) {
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		path := at + "." + string(f.Name())
		all = append(all, path)
		if f.Message() != nil {
			all = append(all, paths(path, f.Message())...)
		}
	}
	return all
}
