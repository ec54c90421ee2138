package orders

import (
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
			return workload.Wrong("balance is %d, not %d", got, left)
		}
		return nil
	}
	return c
}
