package stats_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tare-bench/tare/record"
	"github.com/tare-bench/tare/stats"
)

func TestALinkInWords(t *testing.T) {
	for want, l := range map[string]record.Link{
		"100 Mbit/s and 10 ms of round trip (tunnel)":                                         {Kind: record.Tunnel, Rate: 100e6, RoundTripS: 0.01},
		"1.5 Gbit/s and 0.5 ms of round trip (relay)":                                         {Kind: record.Relay, Rate: 1.5e9, RoundTripS: 0.0005},
		"0 ms of round trip (relay)":                                                          {Kind: record.Relay},
		"64 kbit/s, 600 ms of round trip, ±20 ms each way and 0.1 % of packets lost (tunnel)": {Kind: record.Tunnel, Rate: 64e3, RoundTripS: 0.6, JitterS: 0.02, Loss: 0.001},
		"170 ms of round trip and 2 % of packets lost (tunnel)":                               {Kind: record.Tunnel, RoundTripS: 0.17, Loss: 0.02},
	} {
		if got := stats.LinkWords(&l); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestANoteOnTheLinkTakesThePlaceOfTheOneOnLoopback(t *testing.T) {
	for name, c := range map[string]struct {
		link   record.Link
		used   *record.LinkUsed
		says   []string
		remedy bool
	}{
		"a tunnel": {
			record.Link{Kind: record.Tunnel, Rate: 1e9},
			&record.LinkUsed{Seconds: 50, CPUS: 6, Packets: 1_200_000, Dropped: 1234},
			[]string{"1 Gbit/s", "in no stack's CPU", "used 12 % of a processor for 1,200,000 packets, of which 1,234 met a full queue"}, false,
		},
		"with losses": {
			record.Link{Kind: record.Tunnel, Loss: 0.01},
			&record.LinkUsed{Seconds: 1, CPUS: 0.5, Packets: 1000, Lost: 10},
			[]string{"50 %", "of which 0 met a full queue and 10 were lost as asked"}, false,
		},
		"a relay": {
			record.Link{Kind: record.Relay, RoundTripS: 0.01}, &record.LinkUsed{Seconds: 10, CPUS: 1},
			[]string{"do not start slowly", "used 10 % of a processor"}, true,
		},
		"one that did not tell": {record.Link{Kind: record.Relay}, nil, []string{"emulated link"}, true},
	} {
		run := quiet(stack("a+x"), stack("b+x"))
		run.Header.Link, run.End.Link = &c.link, c.used
		a, err := stats.Analyze(run)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(a.Notes, func(f stats.Finding) bool { return f.Code == "link" })
		if i < 0 || slices.Contains(codes(a.Notes), "loopback") {
			t.Errorf("%s: notes %v", name, codes(a.Notes))
			continue
		}
		for _, want := range c.says {
			if !strings.Contains(a.Notes[i].Text, want) {
				t.Errorf("%s: no %q in %q", name, want, a.Notes[i].Text)
			}
		}
		if (a.Notes[i].Remedy != "") != c.remedy {
			t.Errorf("%s: remedy %q", name, a.Notes[i].Remedy)
		}
	}
}
