package openapi_test

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"
	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/openapi"
)

// typ is a type of which only the schema is known.
func typ(m proto.Message) *rpc.Type {
	return &rpc.Type{
		Name:     string(m.ProtoReflect().Descriptor().FullName()),
		NewProto: func() proto.Message { return m.ProtoReflect().New().Interface() },
	}
}

func service(name string, methods ...*rpc.Method) *rpc.Service {
	for _, m := range methods {
		m.Service = name
	}
	return &rpc.Service{Name: name, Methods: methods}
}

// shop has a route of each shape.
func shop() []*rpc.Service {
	return []*rpc.Service{
		service("tare.orders.v1.OrderService",
			&rpc.Method{Name: "CreateOrder", Route: "POST /v1/orders",
				In: typ(&ordersv1.CreateOrderRequest{}), Out: typ(&ordersv1.CreateOrderResponse{})},
			&rpc.Method{Name: "GetOrder", Route: "GET /v1/orders/{order_id}",
				In: typ(&ordersv1.GetOrderRequest{}), Out: typ(&ordersv1.GetOrderResponse{})},
			&rpc.Method{Name: "ListOrders", Route: "GET /v1/orders",
				In: typ(&ordersv1.ListOrdersRequest{}), Out: typ(&ordersv1.ListOrdersResponse{})},
			&rpc.Method{Name: "WatchOrders", Route: "GET /v1/orders:watch", Kind: rpc.ServerStream,
				In: typ(&ordersv1.WatchOrdersRequest{}), Out: typ(&ordersv1.WatchOrdersResponse{})}),
		service("tare.payments.v1.PaymentService",
			&rpc.Method{Name: "RefundPayment", Route: "POST /v1/payments/{payment_id}/refunds",
				In: typ(&paymentsv1.RefundPaymentRequest{}), Out: typ(&paymentsv1.RefundPaymentResponse{})},
			&rpc.Method{Name: "GetPayment", // without a route
				In: typ(&paymentsv1.GetPaymentRequest{}), Out: typ(&paymentsv1.GetPaymentResponse{})}),
	}
}

func document(t *testing.T, services ...*rpc.Service) *openapi3.T {
	t.Helper()
	doc, err := openapi.New(t.Context(), openapi.About{Title: "Shop", Version: "1.2.3"}, services...)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// at gives what stands in a document at a path of keys.
func at(t *testing.T, doc *openapi3.T, path ...string) any {
	t.Helper()
	text, err := doc.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	v := new(structpb.Value)
	if err := v.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	for _, key := range path {
		next := v.GetStructValue().GetFields()[key]
		if list := v.GetListValue().GetValues(); list != nil && len(key) == 1 && int(key[0]-'0') < len(list) {
			next = list[key[0]-'0']
		}
		if next == nil {
			t.Errorf("nothing at %s of %s", key, strings.Join(path, " "))
			return nil
		}
		v = next
	}
	return v.AsInterface()
}

const (
	schemas = "components schemas "
	order   = schemas + "tare.orders.v1.CreateOrderRequest properties "
	line    = schemas + "tare.orders.v1.OrderLine properties "
)

// said is what stands at paths into the shop's document.
var said = map[string]any{
	"openapi": "3.0.3", "info title": "Shop", "info version": "1.2.3",
	"tags 0 name": "OrderService", "tags 0 description": "OrderService takes orders and has them paid by the payment service.",

	"paths /v1/orders post operationId":                                        "OrderService_CreateOrder",
	"paths /v1/orders post summary":                                            "CreateOrder takes one order and charges its total to the user's account",
	"paths /v1/orders post requestBody content":                                map[string]any{"application/json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/tare.orders.v1.CreateOrderRequest"}}},
	"paths /v1/orders post responses 200 content application/json schema $ref": "#/components/schemas/tare.orders.v1.CreateOrderResponse",

	// Parameters: of the path by the route's name, of the query by JSON's.
	"paths /v1/orders/{order_id} get parameters 0 name":           "order_id",
	"paths /v1/orders/{order_id} get parameters 0 required":       true,
	"paths /v1/orders/{order_id} get parameters 0 description":    "Which order.\n\nAt most 128 bytes in UTF-8.",
	"paths /v1/orders/{order_id} get parameters 0 schema pattern": "^[0-9A-Za-z][0-9A-Za-z._:-]*$",
	"paths /v1/orders get parameters 0 name":                      "pageSize",
	"paths /v1/orders get parameters 0 in":                        "query",
	"paths /v1/orders get parameters 0 schema maximum":            1000.0,
	"paths /v1/orders:watch get parameters 0 name":                "afterRevision",
	"paths /v1/orders:watch get parameters 0 schema type":         "string",

	// A field of the path is not in the body.
	"paths /v1/payments/{payment_id}/refunds post requestBody content application/json schema required": []any{"refundId"},
	"paths /tare.payments.v1.PaymentService/GetPayment post operationId":                                "PaymentService_GetPayment",

	// ProtoJSON's mapping.
	schemas + "tare.payments.v1.Money properties minorUnits":                    map[string]any{"type": "string", "format": "int64", "pattern": "^-?[0-9]+$", "description": "The amount in the currency's smallest unit; negative for a debt."},
	schemas + "tare.orders.v1.Order properties createTime format":               "date-time",
	schemas + "tare.orders.v1.Order properties status allOf 0 $ref":             "#/components/schemas/tare.orders.v1.OrderStatus",
	schemas + "tare.orders.v1.OrderStatus enum 1":                               "ORDER_STATUS_PAID",
	schemas + "tare.orders.v1.OrderStatus type":                                 "string",
	schemas + "tare.orders.v1.ListOrdersResponse properties orders items $ref":  "#/components/schemas/tare.orders.v1.Order",
	schemas + "tare.orders.v1.Order properties balance allOf 0 $ref":            "#/components/schemas/tare.payments.v1.Money",
	schemas + "tare.orders.v1.OrderLine properties unitPriceMinor type":         "string",
	schemas + "tare.orders.v1.CreateOrderRequest properties currencyCode type":  "string",
	schemas + "tare.orders.v1.ListOrdersResponse properties nextPageToken type": "string",

	// Rules.
	schemas + "tare.orders.v1.CreateOrderRequest required": []any{"orderId", "userName", "currencyCode", "lines"},
	schemas + "tare.orders.v1.OrderLine required":          []any{"sku", "quantity"},
	order + "userName minLength":                           1.0,
	order + "userName description":                         "Who orders and pays.\n\nAt most 256 bytes in UTF-8. Does not hold the character U+0000.",
	order + "lines minItems":                               1.0,
	order + "lines maxItems":                               1000.0,
	order + "lines description":                            "What is ordered; at least one line, and one that costs something.\n\nMust cost more than zero together.",
	line + "quantity minimum":                              0.0,
	line + "quantity exclusiveMinimum":                     true,
	line + "quantity maximum":                              1000000.0,
	line + "unitPriceMinor pattern":                        "^[0-9]+$",
	line + "unitPriceMinor description":                    "Price of one, in minor units of the order's currency; not negative.\n\nAt least 0. At most 1000000000.",

	// Failures and streams.
	"paths /v1/orders post responses default $ref":                                                                "#/components/responses/Failed",
	"paths /v1/orders post responses 429 $ref":                                                                    "#/components/responses/Busy",
	"components responses Busy headers Retry-After schema minimum":                                                1.0,
	"components responses Failed content application/problem+json schema $ref":                                    "#/components/schemas/Problem",
	"paths /v1/orders:watch get responses 200 content application/x-ndjson schema oneOf 0 properties result $ref": "#/components/schemas/tare.orders.v1.WatchOrdersResponse",
	"paths /v1/orders:watch get responses 200 content application/x-ndjson schema oneOf 1 properties error $ref":  "#/components/schemas/Problem",
	"paths /v1/orders/{order_id} get responses 404 $ref":                                                          "#/components/responses/Failed",
	"paths /tare.payments.v1.PaymentService/GetPayment post requestBody content application/json schema $ref":     "#/components/schemas/tare.payments.v1.GetPaymentRequest",
}

func TestDocumentSaysWhatTheSchemaSays(t *testing.T) {
	doc := document(t, shop()...)
	for path, want := range said {
		if diff := cmp.Diff(want, at(t, doc, strings.Fields(path)...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
	if n := len(doc.Paths.Value("/v1/orders/{order_id}").Get.Parameters); n != 2 {
		t.Errorf("%d parameters, want that of the path and the time-out", n)
	}
	if _, there := doc.Components.Schemas["tare.orders.v1.GetOrderRequest"]; there {
		t.Error("a message that is in no body has a schema")
	}
}

func TestEveryPartHasItsComment(t *testing.T) {
	doc := document(t, append(shop(), conformance.Service)...)
	for name, schema := range doc.Components.Schemas {
		if schema.Value.Description == "" {
			t.Errorf("%s says nothing", name)
		}
		for field, property := range schema.Value.Properties {
			if property.Value.Description == "" {
				t.Errorf("%s of %s says nothing: run make generate", field, name)
			}
		}
	}
	for path, item := range doc.Paths.Map() {
		for verb, op := range item.Operations() {
			if op.Description == "" || op.Summary == "" {
				t.Errorf("%s %s says nothing", verb, path)
			}
		}
	}
}

func TestWhatIsLeftOutIsNamed(t *testing.T) {
	doc := document(t, conformance.Service)
	if want := "ConformanceService.Converse"; !strings.Contains(doc.Info.Description, want) {
		t.Errorf("the document says %q, want %s in it", doc.Info.Description, want)
	}
	collect := at(t, doc, "paths", "/v1/collect", "post", "requestBody", "content", "application/x-ndjson", "schema", "$ref")
	if want := "#/components/schemas/tare.conformance.v1.CollectRequest"; collect != want {
		t.Errorf("each line of a stream is %v, want %s", collect, want)
	}
	if got, want := len(doc.Paths.Map()), len(conformance.Service.Methods)-1; got != want {
		t.Errorf("%d paths, want %d", got, want)
	}
}

func TestRoutesThatCannotBeDescribed(t *testing.T) {
	for what, methods := range map[string][]*rpc.Method{
		"is not VERB /PATH":       {{Name: "A", Route: "/v1/a", In: typ(&ordersv1.GetOrderRequest{})}},
		"no such field":           {{Name: "A", Route: "GET /v1/{id}", In: typ(&ordersv1.GetOrderRequest{})}},
		"more than one value":     {{Name: "A", Route: "POST /v1/{lines}", In: typ(&ordersv1.CreateOrderRequest{})}},
		"cannot stand in a query": {{Name: "A", Route: "GET /v1/a", In: typ(&ordersv1.CreateOrderRequest{})}},
		"holds itself":            {{Name: "A", Route: "GET /v1/a", In: conformance.Expand.In}},
		"is X_A already": {
			{Name: "A", Route: "GET /v1/{order_id}", In: typ(&ordersv1.GetOrderRequest{})},
			{Name: "B", Route: "GET /v1/{order_id}", In: typ(&ordersv1.GetOrderRequest{})},
		},
	} {
		for _, m := range methods {
			m.Out = typ(&timestamppb.Timestamp{})
		}
		_, err := openapi.New(t.Context(), openapi.About{Title: "T", Version: "1"}, service("x.X", methods...))
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%v, want an error with %q", err, what)
		}
	}
}
