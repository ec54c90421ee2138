package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// mostTold is how many findings of a kind are printed.
const mostTold = 10

// String is the table, and after it all that is wrong.
func (o *outcome) String() string {
	var b strings.Builder
	v := o.verdict
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	row := func(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }
	for _, killed := range o.victims {
		row("kills of the %s\t%d\tback after %v at the median, %v at most", killed.name, killed.kills,
			round(quantile(killed.back, .5)), round(quantile(killed.back, 1)))
	}
	row("orders posted\t%d", o.entries)
	row("  acknowledged\t%d", v.acknowledged)
	row("  refused, for want of money\t%d", v.refused)
	row("  never answered\t%d\t%d paid, %d refused, %d not kept", v.unknown, v.paid, v.unpaid, v.absent)
	row("found again right after a kill\t%d\tof the %d acknowledged last, each time", v.found, reread)
	row("answers equal when asked again\t%d", v.asked)
	row("pending after the last kill\t%d\tsettled by the order service alone", o.waited)
	row("orders by payments\t\t%d with none, %d with one", v.payments[0], v.payments[1])
	row("accounts\t%d\t%d do not add up", v.accounts, len(v.notAddedUp))
	row("lost\t%d", len(v.lost))
	row("paid twice, or for no order\t%d", len(v.double))
	row("never settled\t%d", len(v.unsettled))
	row("otherwise wrong\t%d", len(v.wrong))
	row("took\t%v", o.took.Round(100*time.Millisecond))
	_ = t.Flush() // to memory
	for _, of := range [][]string{v.lost, v.double, v.unsettled, v.notAddedUp, v.wrong} {
		for i, finding := range of {
			if i == mostTold {
				fmt.Fprintf(&b, "… and %d more\n", len(of)-i)
				break
			}
			fmt.Fprintln(&b, finding)
		}
	}
	return b.String()
}

func quantile[T cmp.Ordered](of []T, q float64) (none T) {
	if len(of) == 0 {
		return none
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[int(q*float64(len(sorted)-1))]
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
