package service_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/rpc"
)

// TestEveryInvalidFieldIsToldAlikeByEveryProtocol sends each request of the
// workload's table over each stack of the port: all tell the same code and field,
// and nothing of it is kept.
func TestEveryInvalidFieldIsToldAlikeByEveryProtocol(t *testing.T) {
	var invalid []struct {
		Method, Field, Reason string
		Request               json.RawMessage
	}
	text, err := os.ReadFile("../workload/orders/testdata/invalid.json")
	if err == nil {
		err = json.Unmarshal(text, &invalid)
	}
	if err != nil || len(invalid) < 40 {
		t.Fatalf("%d requests: %v", len(invalid), err)
	}
	addr := run(t)
	services := servicesOf(t)
	for _, name := range catalog.Default().Served {
		t.Run(name, func(t *testing.T) {
			call := caller(t, name, addr, services)
			for _, c := range invalid {
				e := rpc.ErrorOf(call(c.Method, c.Request, nil))
				if e == nil || e.Code != rpc.InvalidArgument || len(e.Violations) != 1 ||
					e.Violations[0].Field != c.Field || e.Violations[0].Reason != c.Reason {
					t.Errorf("%s with a bad %s gives %v %+v; want %s alone", c.Method, c.Field, e, e, c.Reason)
				}
			}
			kept := -1
			if err := call("ListOrders", json.RawMessage("{}"), func(m map[string]any) {
				orders, _ := m["orders"].([]any)
				kept = len(orders)
			}); err != nil || kept != 0 {
				t.Errorf("%d orders are kept, %v", kept, err)
			}
			if e := rpc.ErrorOf(call("GetPayment", json.RawMessage(`{"paymentId":"1"}`), nil)); e == nil || e.Code != rpc.NotFound {
				t.Errorf("the payment of a bad request gives %v, want NOT_FOUND", e)
			}
		})
	}
}

func servicesOf(t *testing.T) (all []*rpc.Service) {
	t.Helper()
	w, err := catalog.Default().Workload("orders")
	if err != nil {
		t.Fatal(err)
	}
	for _, tier := range w.Spec().Legs[0].Tiers {
		all = append(all, tier.Service)
	}
	return all
}

// caller calls methods over a stack by their names, with requests and replies as
// ProtoJSON.
func caller(t *testing.T, name, addr string, services []*rpc.Service) func(method string, in json.RawMessage, took func(map[string]any)) error {
	t.Helper()
	stack, err := catalog.Default().Stack(name)
	if err != nil {
		t.Fatal(err)
	}
	methods, conns := map[string]*rpc.Method{}, map[string]rpc.Handler{}
	for _, svc := range services {
		o := stack.Options(1)
		o.DialContext = new(net.Dialer).DialContext
		conn, err := stack.Protocol.Dial(t.Context(), addr, svc, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		for _, m := range svc.Methods {
			methods[m.Name], conns[m.Name] = m, conn
		}
	}
	return func(method string, in json.RawMessage, took func(map[string]any)) error {
		m := methods[method]
		request := m.In.NewProto()
		if err := protojson.Unmarshal(in, request); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		return rpc.Call(ctx, conns[method], m, []any{m.In.FromProto(request)}, func(out any) error {
			text, err := protojson.Marshal(m.Out.ToProto(out))
			reply := map[string]any{}
			if err == nil {
				err = json.Unmarshal(text, &reply)
			}
			if took != nil {
				took(reply)
			}
			if m.Kind.StreamsOut() {
				return io.EOF // one is enough
			}
			return err
		})
	}
}
