package thrift

import (
	apache "github.com/apache/thrift/lib/go/thrift"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/tare-bench/tare/codec"
	pb "github.com/tare-bench/tare/gen/tare/conformance/v1"
	native "github.com/tare-bench/tare/gen/thrift/conformance"
	"github.com/tare-bench/tare/gen/thrift/wellknown"
	"github.com/tare-bench/tare/rpc"
)

const conformancePackage = "tare.conformance.v1."

// conformanceMessages are mapped by way of generated messages: no comparison
// times them, and their plain structs are the tests' own.
var conformanceMessages = map[string]message{
	conformancePackage + "EchoRequest": byProto(func(to *native.EchoRequest, m *pb.EchoRequest) {
		to.Item, to.FailCode, to.FailMessage, to.Hang = some(m.Item, itemToThrift), m.FailCode, m.FailMessage, m.Hang
	}, func(to *pb.EchoRequest, n *native.EchoRequest) {
		to.Item, to.FailCode, to.FailMessage, to.Hang = some(n.Item, itemFromThrift), n.FailCode, n.FailMessage, n.Hang
	}),
	conformancePackage + "EchoResponse": byProto(func(to *native.EchoResponse, m *pb.EchoResponse) {
		to.Item = some(m.Item, itemToThrift)
	}, func(to *pb.EchoResponse, n *native.EchoResponse) {
		to.Item = some(n.Item, itemFromThrift)
	}),
	conformancePackage + "ExpandRequest": byProto(func(to *native.ExpandRequest, m *pb.ExpandRequest) {
		to.Item, to.Count, to.FailCode = some(m.Item, itemToThrift), m.Count, m.FailCode
	}, func(to *pb.ExpandRequest, n *native.ExpandRequest) {
		to.Item, to.Count, to.FailCode = some(n.Item, itemFromThrift), n.Count, n.FailCode
	}),
	conformancePackage + "ExpandResponse": byProto(func(to *native.ExpandResponse, m *pb.ExpandResponse) {
		to.Item = some(m.Item, itemToThrift)
	}, func(to *pb.ExpandResponse, n *native.ExpandResponse) {
		to.Item = some(n.Item, itemFromThrift)
	}),
	conformancePackage + "CollectRequest": byProto(func(to *native.CollectRequest, m *pb.CollectRequest) {
		to.Item = some(m.Item, itemToThrift)
	}, func(to *pb.CollectRequest, n *native.CollectRequest) {
		to.Item = some(n.Item, itemFromThrift)
	}),
	conformancePackage + "CollectResponse": byProto(func(to *native.CollectResponse, m *pb.CollectResponse) {
		to.Count, to.Last = m.Count, some(m.Last, itemToThrift)
	}, func(to *pb.CollectResponse, n *native.CollectResponse) {
		to.Count, to.Last = n.Count, some(n.Last, itemFromThrift)
	}),
	conformancePackage + "ConverseRequest": byProto(func(to *native.ConverseRequest, m *pb.ConverseRequest) {
		to.Item = some(m.Item, itemToThrift)
	}, func(to *pb.ConverseRequest, n *native.ConverseRequest) {
		to.Item = some(n.Item, itemFromThrift)
	}),
	conformancePackage + "ConverseResponse": byProto(func(to *native.ConverseResponse, m *pb.ConverseResponse) {
		to.Item = some(m.Item, itemToThrift)
	}, func(to *pb.ConverseResponse, n *native.ConverseResponse) {
		to.Item = some(n.Item, itemFromThrift)
	}),
	conformancePackage + "FindRequest": byProto(fillFind, takeFind),
	conformancePackage + "FindResponse": byProto(func(to *native.FindResponse, m *pb.FindResponse) {
		to.Found = some(m.Found, made(fillFind))
	}, func(to *pb.FindResponse, n *native.FindResponse) {
		to.Found = some(n.Found, made(takeFind))
	}),
	conformancePackage + "AmendRequest": byProto(func(to *native.AmendRequest, m *pb.AmendRequest) {
		to.Name, to.Item = m.Name, some(m.Item, itemToThrift)
	}, func(to *pb.AmendRequest, n *native.AmendRequest) {
		to.Name, to.Item = n.Name, some(n.Item, itemFromThrift)
	}),
	conformancePackage + "AmendResponse": byProto(func(to *native.AmendResponse, m *pb.AmendResponse) {
		to.Name, to.Item = m.Name, some(m.Item, itemToThrift)
	}, func(to *pb.AmendResponse, n *native.AmendResponse) {
		to.Name, to.Item = n.Name, some(n.Item, itemFromThrift)
	}),
	conformancePackage + "FollowRequest": byProto(func(to *native.FollowRequest, m *pb.FollowRequest) {
		to.Count, to.After = m.Count, m.After
	}, func(to *pb.FollowRequest, n *native.FollowRequest) {
		to.Count, to.After = n.Count, n.After
	}),
	conformancePackage + "FollowResponse": byProto(func(to *native.FollowResponse, m *pb.FollowResponse) {
		to.Number = m.Number
	}, func(to *pb.FollowResponse, n *native.FollowResponse) {
		to.Number = n.Number
	}),
}

// generatedProto is a message that protobuf's compiler has made, by its pointer.
type generatedProto[M any] interface {
	*M
	proto.Message
}

// byProto binds to messages as mapped does, with generated messages in place of
// plain structs.
func byProto[M, N any, PM generatedProto[M], G generated[N]](fill func(*N, *M), take func(*M, *N)) message {
	return func(f *form, t *rpc.Type) codec.Binding {
		if t.NewProto == nil {
			return nil
		}
		if _, ok := t.NewProto().(PM); !ok {
			return nil
		}
		return binding{
			form:  f,
			fresh: func() apache.TStruct { return G(new(N)) },
			native: func(plain any) apache.TStruct {
				native := new(N)
				fill(native, (*M)(t.ToProto(plain).(PM)))
				return G(native)
			},
			plain: func(native any) any {
				m := new(M)
				take(m, (*N)(native.(G)))
				return t.FromProto(PM(m))
			},
		}
	}
}

// made has a value filled that is new.
func made[From, To any](fill func(*To, *From)) func(*From) *To {
	return func(from *From) *To {
		to := new(To)
		fill(to, from)
		return to
	}
}

func itemToThrift(m *pb.Item) *native.Item {
	return &native.Item{
		Text: m.Text, Number: m.Number, Ratio: m.Ratio, Blob: m.Blob, Mood: native.Mood(m.Mood), Tags: m.Tags,
		Child: some(m.Child, itemToThrift), Maybe: m.Maybe, Counts: m.Counts,
	}
}

func itemFromThrift(n *native.Item) *pb.Item {
	return &pb.Item{
		Text: n.Text, Number: n.Number, Ratio: n.Ratio, Blob: n.Blob, Mood: pb.Mood(n.Mood), Tags: n.Tags, //nolint:gosec // read as 32 bits
		Child: some(n.Child, itemFromThrift), Maybe: n.Maybe, Counts: n.Counts,
	}
}

func fillFind(to *native.FindRequest, m *pb.FindRequest) {
	to.Name, to.Level, to.PageSize, to.Ratio, to.Exact, to.Token = m.Name, m.Level, m.PageSize, m.Ratio, m.Exact, m.Token
	to.Mood, to.Tags, to.Maybe = native.Mood(m.Mood), m.Tags, m.Maybe
	for _, mood := range m.Moods {
		to.Moods = append(to.Moods, native.Mood(mood))
	}
	to.Range = some(m.Range, func(r *pb.Range) *native.Range { return &native.Range{From_: r.From, To: r.To} })
	to.SinceTime = some(m.SinceTime, func(t *timestamppb.Timestamp) *wellknown.Timestamp {
		return &wellknown.Timestamp{Seconds: t.Seconds, Nanos: t.Nanos}
	})
	to.Open = some(m.Open, func(v *wrapperspb.BoolValue) *wellknown.BoolValue { return &wellknown.BoolValue{Value: v.Value} })
}

func takeFind(to *pb.FindRequest, n *native.FindRequest) {
	to.Name, to.Level, to.PageSize, to.Ratio, to.Exact, to.Token = n.Name, n.Level, n.PageSize, n.Ratio, n.Exact, n.Token
	to.Mood, to.Tags, to.Maybe = pb.Mood(n.Mood), n.Tags, n.Maybe //nolint:gosec // read as 32 bits
	for _, mood := range n.Moods {
		to.Moods = append(to.Moods, pb.Mood(mood)) //nolint:gosec // read as 32 bits
	}
	to.Range = some(n.Range, func(r *native.Range) *pb.Range { return &pb.Range{From: r.From_, To: r.To} })
	to.SinceTime = some(n.SinceTime, func(t *wellknown.Timestamp) *timestamppb.Timestamp {
		return &timestamppb.Timestamp{Seconds: t.Seconds, Nanos: t.Nanos}
	})
	to.Open = some(n.Open, func(v *wellknown.BoolValue) *wrapperspb.BoolValue { return wrapperspb.Bool(v.Value) })
}
