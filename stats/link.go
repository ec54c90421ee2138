package stats

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tare-bench/tare/record"
)

// kindsOfLink say what a link of each kind carries, and what readers of its
// figures must know.
var kindsOfLink = map[string]struct{ carries, leaves, remedy string }{
	record.Tunnel: {"packets",
		"TCP's work on packets that arrive is done in it, and so in no stack's CPU", ""},
	record.Relay: {"bytes of connections",
		"which do not start slowly as TCP does, lose nothing, and count without the headers of packets",
		"have the link carry packets, by=tunnel, which takes root"},
}

// LinkWords says what a link is: "100 Mbit/s and 10 ms of round trip (tunnel)".
func LinkWords(l *record.Link) string {
	var all []string
	if l.Rate > 0 {
		all = append(all, rate(l.Rate))
	}
	all = append(all, shortest(1e3*l.RoundTripS)+" ms of round trip")
	if l.JitterS > 0 {
		all = append(all, "±"+shortest(1e3*l.JitterS)+" ms each way")
	}
	if l.Loss > 0 {
		all = append(all, shortest(100*l.Loss)+" % of packets lost")
	}
	text := all[0]
	if n := len(all) - 1; n > 0 {
		text = strings.Join(all[:n], ", ") + " and " + all[n]
	}
	return fmt.Sprintf("%s (%s)", text, l.Kind)
}

func rate(bits float64) string {
	for _, u := range []struct {
		name string
		bits float64
	}{{"Gbit/s", 1e9}, {"Mbit/s", 1e6}, {"kbit/s", 1e3}} {
		if bits >= u.bits {
			return shortest(bits/u.bits) + " " + u.name
		}
	}
	return shortest(bits) + " bit/s"
}

// shortest shows up to six digits, and no more than there are.
func shortest(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// acrossLink says what the calls that vary crossed, and what carrying took.
func acrossLink(r *record.Run) (text, remedy string) {
	l := r.Header.Link
	if l == nil {
		return "", ""
	}
	kind, known := kindsOfLink[l.Kind]
	text = fmt.Sprintf("the calls that vary crossed an emulated link on one machine: %s", LinkWords(l))
	if known {
		text += fmt.Sprintf("; it carries %s, %s", kind.carries, kind.leaves)
	}
	if r.End == nil || r.End.Link == nil || !(r.End.Link.Seconds > 0) {
		return text, kind.remedy
	}
	u := r.End.Link
	text += fmt.Sprintf("; it used %.0f %% of a processor", 100*u.CPUS/u.Seconds)
	if u.Packets > 0 {
		text += fmt.Sprintf(" for %s, of which %s met a full queue", Counted(int(u.Packets), "packet"), Thousands(strconv.FormatInt(u.Dropped, 10)))
		if l.Loss > 0 {
			text += fmt.Sprintf(" and %s were lost as asked", Thousands(strconv.FormatInt(u.Lost, 10)))
		}
	}
	return text, kind.remedy
}
