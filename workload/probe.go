package workload

import (
	"reflect"

	"github.com/tare-bench/tare/rpc"
)

// Reading is a call whose reply is known, but for what same takes out of it. nil
// takes out nothing.
func Reading(m *rpc.Method, in, want any, same func(any) any) Call {
	return Streaming(m, []any{in}, []any{want}, same)
}

// Streaming is Reading for a call of several messages, either way.
func Streaming(m *rpc.Method, in, want []any, same func(any) any) Call {
	if same == nil {
		same = func(out any) any { return out }
	}
	return Call{
		Method: m, In: in, Want: rpc.OK, Replies: len(want), Same: same,
		Check: func(i int, out any) error {
			if i >= len(want) || reflect.TypeOf(out) != reflect.TypeOf(want[i]) {
				return Wrong("reply %d is %T", i, out)
			}
			if got := same(out); !reflect.DeepEqual(got, want[i]) {
				return Wrong("reply %d is %+v, not %+v", i, m.Out.ToProto(got), m.Out.ToProto(want[i]))
			}
			return nil
		},
	}
}

// Failing is a call that must fail.
func Failing(m *rpc.Method, want rpc.Code, in ...any) Call {
	return Call{Method: m, In: in, Want: want, Check: func(i int, out any) error {
		return Wrong("reply %d of a call that must fail: %+v", i, out)
	}}
}
