package orders

import (
	"reflect"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/workload"
)

// beyondDouble is the least whole number that a float64 cannot hold: a stack
// that carries money as a double, or as a JSON number, alters it.
const beyondDouble = 1<<53 + 1

// awkward is text that codecs get wrong: what JSON and HTML escape, letters of
// one to four bytes, combining, joining and right-to-left ones, line ends.
const awkward = "Zo\u00eb e\u0301 \"<b>&'</b>\" \\ / \t\n\u2028 \U0001F469\u200D\U0001F680 עברית \u202e𠮷 ﷽ %s {}"

// probe is a call of which more is known: its failure, or the balance left.
func probe(c workload.Call, want rpc.Code, left int64, balance func(out any) int64) workload.Call {
	c.Want = want
	if want != rpc.OK {
		c.Replies = 0
		return c
	}
	check := c.Check
	c.Check = func(i int, out any) error {
		if err := check(i, out); err != nil {
			return err
		}
		if got := balance(out); got != left {
			return wrong("balance is %d, not %d", got, left)
		}
		return nil
	}
	return c
}

// reading is a call whose reply is known but for what same takes out of it.
func reading(m *rpc.Method, in, want any, same func(any) any) workload.Call {
	return workload.Call{
		Method: m, In: []any{in}, Want: rpc.OK, Replies: 1, Same: same,
		Check: func(i int, out any) error {
			if reflect.TypeOf(out) != reflect.TypeOf(want) {
				return wrong("reply %d is %T", i, out)
			}
			if got := same(out); !reflect.DeepEqual(got, want) {
				return wrong("reply is %+v, not %+v", m.Out.ToProto(got), m.Out.ToProto(want))
			}
			return nil
		},
	}
}

// failing is a call that must fail.
func failing(m *rpc.Method, in any, want rpc.Code) workload.Call {
	return workload.Call{Method: m, In: []any{in}, Want: want, Check: func(i int, out any) error {
		return wrong("reply %d of a call that must fail: %+v", i, out)
	}}
}
