package validate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	clinicalv1 "github.com/tare-bench/tare/gen/tare/clinical/v1"
	ordersv1 "github.com/tare-bench/tare/gen/tare/orders/v1"
	paymentsv1 "github.com/tare-bench/tare/gen/tare/payments/v1"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/validate"
)

// generated is a type whose plain values are the generated messages.
func generated(message proto.Message) *rpc.Type {
	return &rpc.Type{
		Name:     string(message.ProtoReflect().Descriptor().FullName()),
		NewProto: func() proto.Message { return message.ProtoReflect().New().Interface() },
		ToProto:  func(plain any) proto.Message { return plain.(proto.Message) },
	}
}

func service(in ...proto.Message) *rpc.Service {
	svc := &rpc.Service{Name: "test.Service"}
	for _, m := range in {
		svc.Methods = append(svc.Methods, &rpc.Method{Service: svc.Name, Name: "Take", In: generated(m), Out: generated(m)})
	}
	return svc
}

func order(change func(*ordersv1.CreateOrderRequest)) *ordersv1.CreateOrderRequest {
	r := &ordersv1.CreateOrderRequest{
		OrderId: "1", UserName: "Zoë", CurrencyCode: "EUR",
		Lines: []*ordersv1.OrderLine{{Sku: "A", Quantity: 1, UnitPriceMinor: 100}},
	}
	change(r)
	return r
}

// echo receives all that comes in and sends it back.
var echo = rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
	in, err := s.Recv()
	if err != nil {
		return err
	}
	return s.Send(in)
})

func TestEachBrokenRuleIsAViolation(t *testing.T) {
	for name, c := range map[string]struct {
		in      proto.Message
		message string
		want    []rpc.Violation
	}{
		"none": {in: order(func(*ordersv1.CreateOrderRequest) {})},
		"of a line": {
			order(func(r *ordersv1.CreateOrderRequest) { r.Lines[0].Quantity = 0 }),
			"lines[0].quantity must be greater than 0 and less than or equal to 1000000",
			[]rpc.Violation{{Field: "lines[0].quantity", Description: "must be greater than 0 and less than or equal to 1000000", Reason: "INT32_GT_LTE"}},
		},
		"several": {
			order(func(r *ordersv1.CreateOrderRequest) { r.UserName, r.CurrencyCode = "", "euro" }),
			"user_name must be at least 1 characters; and 1 more",
			[]rpc.Violation{
				{Field: "user_name", Description: "must be at least 1 characters", Reason: "STRING_MIN_LEN"},
				{Field: "currency_code", Description: "does not match regex pattern `^[A-Z]{3}$`", Reason: "STRING_PATTERN"},
			},
		},
		"of the schema's own making": {
			order(func(r *ordersv1.CreateOrderRequest) { r.Lines[0].UnitPriceMinor = 0 }),
			"lines must cost more than zero together",
			[]rpc.Violation{{Field: "lines", Description: "must cost more than zero together", Reason: "LINES_COST"}},
		},
		"a message that is missing": {
			&paymentsv1.MakePaymentRequest{PaymentId: "1", UserName: "Zoë"},
			"amount value is required",
			[]rpc.Violation{{Field: "amount", Description: "value is required", Reason: "REQUIRED"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			svc := service(c.in)
			rules, err := validate.New(svc)
			if err != nil {
				t.Fatal(err)
			}
			out, err := rpc.Invoke(t.Context(), rules.Handler(echo), svc.Methods[0], c.in)
			if c.want == nil {
				if err != nil || out != c.in {
					t.Errorf("gave %v, %v; want the message itself", out, err)
				}
				return
			}
			e := rpc.ErrorOf(err)
			if e == nil || e.Code != rpc.InvalidArgument || e.Message != c.message || fmt.Sprint(e.Violations) != fmt.Sprint(c.want) {
				t.Errorf("gave %v with %v; want %s with %v", e, e.Violations, c.message, c.want)
			}
		})
	}
}

// A caller who breaks every rule a thousand times is told of as many as fit
// into a header, and how many there are.
func TestViolationsAreBounded(t *testing.T) {
	in := order(func(r *ordersv1.CreateOrderRequest) {
		for range 999 {
			r.Lines = append(r.Lines, new(ordersv1.OrderLine))
		}
	})
	svc := service(in)
	rules, err := validate.New(svc)
	if err != nil {
		t.Fatal(err)
	}
	e := rpc.ErrorOf(rules.Check(svc.Methods[0].In, in))
	if e == nil || len(e.Violations) != 32 || !strings.HasSuffix(e.Message, "; and 1997 more") {
		t.Errorf("gave %d violations: %v", len(e.Violations), e)
	}
	size := 0
	for _, v := range e.Violations {
		size += len(v.Field) + len(v.Description) + len(v.Reason)
	}
	if size > 6<<10 {
		t.Errorf("violations are %d bytes long", size)
	}
}

// Each message of a stream is held to the rules.
func TestStreamsAreChecked(t *testing.T) {
	good, bad := order(func(*ordersv1.CreateOrderRequest) {}), new(ordersv1.CreateOrderRequest)
	svc := service(good)
	rules, err := validate.New(svc)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	h := rules.Handler(rpc.HandlerFunc(func(_ context.Context, _ *rpc.Method, s rpc.Stream) error {
		for {
			if _, err := s.Recv(); err != nil {
				return err
			}
			seen++
		}
	}))
	err = rpc.Call(t.Context(), h, svc.Methods[0], []any{good, good, bad, good}, func(any) error { return nil })
	if e := rpc.ErrorOf(err); e == nil || e.Code != rpc.InvalidArgument || seen != 2 {
		t.Errorf("the handler saw %d messages and the caller %v", seen, err)
	}
}

// Where nothing has rules, nothing is even mapped.
func TestTypesWithoutRulesAreNotMapped(t *testing.T) {
	svc := service(new(descriptorpb.FileDescriptorSet))
	svc.Methods[0].In.ToProto = func(any) proto.Message { t.Error("mapped"); return nil }
	rules, err := validate.New(svc)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rpc.Invoke(t.Context(), rules.Handler(echo), svc.Methods[0], "anything"); err != nil {
		t.Error(err)
	}
}

// A schema that is read at run time has the same rules, although nobody parsed
// the option that they stand in.
func TestRulesOfASchemaReadAtRunTime(t *testing.T) {
	raw, err := proto.Marshal(protodesc.ToFileDescriptorProto(ordersv1.File_tare_orders_v1_orders_proto))
	if err != nil {
		t.Fatal(err)
	}
	unparsed := new(descriptorpb.FileDescriptorProto)
	if err := (proto.UnmarshalOptions{Resolver: new(protoregistry.Types)}).Unmarshal(raw, unparsed); err != nil {
		t.Fatal(err)
	}
	file, err := protodesc.NewFile(unparsed, protoregistry.GlobalFiles)
	if err != nil {
		t.Fatal(err)
	}
	in := dynamicpb.NewMessage(file.Messages().ByName("GetOrderRequest"))
	svc := service(in)
	rules, err := validate.New(svc)
	if err != nil {
		t.Fatal(err)
	}
	_, err = rpc.Invoke(t.Context(), rules.Handler(echo), svc.Methods[0], in)
	if e := rpc.ErrorOf(err); e == nil || len(e.Violations) != 1 || e.Violations[0].Field != "order_id" {
		t.Errorf("an empty %s gave %v", in.Descriptor().Name(), err)
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, lines := range []int{1, 4, 100} {
		in := order(func(r *ordersv1.CreateOrderRequest) {
			for range lines - 1 {
				r.Lines = append(r.Lines, &ordersv1.OrderLine{Sku: "BK-978315", Title: "Die Verwandlung", Quantity: 2, UnitPriceMinor: 460})
			}
		})
		check(b, fmt.Sprintf("%d lines", lines), in)
	}
	check(b, "payment", &paymentsv1.MakePaymentRequest{
		PaymentId: "1", UserName: "Zoë", Amount: &paymentsv1.Money{CurrencyCode: "EUR", MinorUnits: 1},
	})
}

func check(b *testing.B, name string, in proto.Message) {
	b.Run(name, func(b *testing.B) {
		svc := service(in)
		rules, err := validate.New(svc)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := rules.Check(svc.Methods[0].In, in); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// What the rules of the whole leave out is checked by itself, with paths of its own.
func TestAHeldMessageIsCheckedByItself(t *testing.T) {
	svc := service(&clinicalv1.BatchWriteRequest{})
	rules, err := validate.New(svc)
	if err != nil {
		t.Fatal(err)
	}
	bad := &clinicalv1.MedicationStatement{
		StatementId: "1", Status: clinicalv1.MedicationStatementStatus_MEDICATION_STATEMENT_STATUS_ACTIVE,
		Medication: &clinicalv1.CodeableConcept{Text: "a"}, Subject: &clinicalv1.Reference{Reference: "Patient/1"},
		Dosage: []*clinicalv1.Dosage{{}, {Timing: &clinicalv1.Timing{PeriodUnit: "fortnight"}}},
	}
	if err := rules.Check(svc.Methods[0].In, &clinicalv1.BatchWriteRequest{Statements: []*clinicalv1.MedicationStatement{bad}}); err != nil {
		t.Errorf("the whole gave %v; want nothing", err)
	}
	e := rpc.ErrorOf(rules.Check(generated(bad), bad))
	if e == nil || e.Code != rpc.InvalidArgument || len(e.Violations) != 1 || e.Violations[0].Field != "dosage[1].timing.period_unit" {
		t.Errorf("the part gave %v", e)
	}
	bad.Dosage = nil
	if err := rules.Check(generated(bad), bad); err != nil {
		t.Errorf("a good part gave %v", err)
	}
}
