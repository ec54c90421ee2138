package workloadtest

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"strconv"

	"github.com/tare-bench/tare/protocol/protocoltest/conformance"
	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/workload"
)

// Bulk is a workload whose calls move items in bulk, by each kind of method, for
// tests of what measures workloads: an item is a tag of the conformance service's
// messages.
type Bulk struct{}

// Params of Bulk, and the leg whose calls are told by the call.
const (
	BulkBatch    = "batch"    // items of a message
	BulkMessages = "messages" // of a stream
	BulkPlain    = "plain"
)

// bulkLegs are methods by the name of the leg that calls them.
var bulkLegs = []struct {
	name   string
	item   string
	method *rpc.Method
}{
	{"write", "item", conformance.Echo},
	{"import", "item", conformance.Collect},
	{"export", "item", conformance.Expand},
	{"sync", "item", conformance.Converse},
	{BulkPlain, "", conformance.Echo},
}

// Spec describes the workload.
func (Bulk) Spec() workload.Spec {
	s := workload.Spec{
		Name: "bulk", About: "messages of many items, alone and in streams", Stacks: []string{"rest+json", "grpc+proto"},
		Params: []setting.Setting{
			setting.Int(BulkBatch, "items of a message", 5, 1, 10_000),
			setting.Int(BulkMessages, "messages of a stream", 4, 1, 100_000),
		},
	}
	for _, l := range bulkLegs {
		s.Legs = append(s.Legs, workload.Leg{
			Name: l.name, About: l.method.Kind.String(), Item: l.item,
			Tiers: []workload.Tier{{
				Name: "items", Service: conformance.Service, Stack: workload.Varied, Calls: []*rpc.Method{l.method},
			}},
		})
	}
	return s
}

// Handler answers as the conformance service does.
func (Bulk) Handler(context.Context, workload.Env) (rpc.Handler, error) {
	return conformance.Handler{}, nil
}

// Calls gives calls of the leg's method.
func (Bulk) Calls(leg string, params setting.Values, seed uint64) iter.Seq[workload.Call] {
	return func(yield func(workload.Call) bool) {
		for n := 0; yield(bulkCall(leg, params, fmt.Sprintf("%x-%d", seed, n))); n++ {
		}
	}
}

// Probes gives two calls of the leg's method.
func (Bulk) Probes(leg string, params setting.Values) []workload.Call {
	return []workload.Call{bulkCall(leg, params, "first"), bulkCall(leg, params, "second")}
}

func bulkCall(leg string, params setting.Values, id string) workload.Call {
	batch, messages := params.Int(BulkBatch), params.Int(BulkMessages)
	tags := make([]string, batch)
	for i := range tags {
		tags[i] = strconv.Itoa(i)
	}
	item := func(i int) *conformance.Item { return &conformance.Item{Text: id, Number: int64(i), Tags: tags} }
	feed := func(of func(*conformance.Item) any) func(int) (any, bool) {
		return func(i int) (any, bool) {
			if i >= messages {
				return nil, false
			}
			return of(item(i)), true
		}
	}
	echo := workload.Call{
		Method: conformance.Echo, In: []any{&conformance.EchoRequest{Item: item(0)}}, Replies: 1, Items: batch,
		Check: equals(func(int) any { return &conformance.EchoResponse{Item: item(0)} }),
	}
	switch leg {
	case "import":
		return workload.Call{
			Method: conformance.Collect, Replies: 1, Items: batch * messages,
			Feed: feed(func(i *conformance.Item) any { return &conformance.CollectRequest{Item: i} }),
			Check: equals(func(int) any {
				return &conformance.CollectResponse{Count: int32(messages), Last: item(messages - 1)}
			}),
		}
	case "export":
		return workload.Call{
			Method: conformance.Expand, Replies: messages, Items: batch * messages,
			In:    []any{&conformance.ExpandRequest{Item: item(0), Count: int32(messages)}},
			Check: equals(func(int) any { return &conformance.ExpandResponse{Item: item(0)} }),
		}
	case "sync":
		return workload.Call{
			Method: conformance.Converse, Replies: messages, Items: batch * messages,
			Feed:  feed(func(i *conformance.Item) any { return &conformance.ConverseRequest{Item: i} }),
			Check: equals(func(i int) any { return &conformance.ConverseResponse{Item: item(i)} }),
		}
	case BulkPlain:
		echo.Items = 0
	}
	return echo
}

// equals checks that replies are what they should be.
func equals(want func(i int) any) func(int, any) error {
	return func(i int, out any) error {
		if right := want(i); !reflect.DeepEqual(out, right) {
			return fmt.Errorf("%w: reply %d is %+v", rpc.ErrWrongAnswer, i, out)
		}
		return nil
	}
}
