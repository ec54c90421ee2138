package orders

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/validate"
)

// invalid is testdata/invalid.json: for each rule of each field, a request that
// breaks it alone.
func invalid(t *testing.T) (all []invalidRequest) {
	t.Helper()
	text, err := os.ReadFile("testdata/invalid.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	tooMany := probeOrder("1", func(r *CreateOrderRequest) { r.Lines = append(largestOrder().Lines, r.Lines[0]) })
	request, err := protojson.Marshal(CreateOrder.In.ToProto(&tooMany))
	if err != nil {
		t.Fatal(err)
	}
	return append(all, invalidRequest{"CreateOrder", "lines", "REPEATED_MAX_ITEMS", request})
}

type invalidRequest struct {
	Method, Field, Reason string
	Request               json.RawMessage // as ProtoJSON
}

func TestEveryInvalidField(t *testing.T) {
	rules, err := validate.New(OrderService, PaymentService)
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]*rpc.Method{}
	for _, m := range slices.Concat(OrderService.Methods, PaymentService.Methods) {
		methods[m.Name] = m
	}
	for _, c := range invalid(t) {
		m := methods[c.Method]
		request := m.In.NewProto()
		if err := protojson.Unmarshal(c.Request, request); err != nil {
			t.Fatal(err)
		}
		e := rpc.ErrorOf(rules.Check(m.In, m.In.FromProto(request)))
		if e == nil || e.Code != rpc.InvalidArgument || len(e.Violations) != 1 ||
			e.Violations[0].Field != c.Field || e.Violations[0].Reason != c.Reason || e.Violations[0].Description == "" {
			t.Errorf("%s with a bad %s gave %v; want %s alone", c.Method, c.Field, e, c.Reason)
		}
	}
}

// Each field that comes in has a rule, or is no more than a number that may be
// any; a field without one must be thought of here.
func TestEveryFieldHasARule(t *testing.T) {
	broken := map[string]bool{}
	for _, c := range invalid(t) {
		field := strings.NewReplacer("[0]", "", "[1]", "").Replace(c.Field)
		broken[c.Method+"."+field] = true
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
