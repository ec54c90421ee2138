package link_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/link"
)

const ms = time.Millisecond

func TestLinksAreRead(t *testing.T) {
	for text, want := range map[string]link.Spec{
		"100mbit,10ms":           {Rate: 100e6, RoundTrip: 10 * ms},
		"10ms,100mbit":           {Rate: 100e6, RoundTrip: 10 * ms},
		" 1gbit , 0ms ":          {Rate: 1e9},
		"500kbit":                {Rate: 500e3},
		"1.5mbit,0.5ms":          {Rate: 1500e3, RoundTrip: 500 * time.Microsecond},
		"64000bit,1s":            {Rate: 64000, RoundTrip: time.Second},
		"40ms":                   {RoundTrip: 40 * ms},
		"lan":                    {Rate: 1e9, RoundTrip: 500 * time.Microsecond},
		"mobile,loss=1%":         {Rate: 9e6, RoundTrip: 170 * ms, Loss: 0.01},
		"wan,jitter=20ms":        {Rate: 100e6, RoundTrip: 40 * ms, Jitter: 20 * ms},
		"10mbit,by=relay,2ms":    {Rate: 10e6, RoundTrip: 2 * ms, By: link.Relay},
		"10mbit,0,loss=0.001":    {Rate: 10e6, Loss: 0.001},
		"jitter=1ms,10mbit,10ms": {Rate: 10e6, RoundTrip: 10 * ms, Jitter: ms},
	} {
		got, err := link.Parse(text)
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v; want %+v", text, got, err, want)
		}
		if again, err := link.Parse(got.String()); err != nil || again != got {
			t.Errorf("%q is spelled %q, which is %+v, %v", text, got, again, err)
		}
	}
}

func TestWhatIsNoLinkIsRefused(t *testing.T) {
	for text, says := range map[string]string{
		"":                       "no word of a link",
		"100mbit,":               "no word of a link",
		"fast":                   "lan (1gbit,0.5ms), wan",
		"100":                    "no word of a link",
		"mbit":                   "takes 100mbit",
		"-1mbit":                 "from 1kbit to 100gbit",
		"nanmbit":                "from 1kbit to 100gbit",
		"infbit":                 "from 1kbit to 100gbit",
		"1bit":                   "from 1kbit to 100gbit",
		"1000gbit":               "from 1kbit to 100gbit",
		"-1ms":                   "from 0ms to 10s",
		"1h":                     "from 0ms to 10s",
		"1ms,jitter=1ms":         "up to half of it",
		"10mbit,jitter=2ms":      "up to half of it",
		"10ms,jitter=-1ms":       "jitter=2ms",
		"10ms,jitter=soon":       "jitter=2ms",
		"loss=100%":              "loss=0.1%",
		"loss=-1%":               "loss=0.1%",
		"loss=nan":               "loss=0.1%",
		"10ms,by=pigeon":         "by=tunnel or relay",
		"loss=1%,10ms,by=relay":  "have by=tunnel",
		"10mbit,100mbit":         "is 2 links",
		"10mbit,10ms,20ms":       "is 2 links",
		"lan,wan":                "is 2 links",
		"wan,10ms":               "is 2 links",
		"loss=1%,wan":            "a preset comes first",
		"10ms,loss=1%,loss=0.1%": "is 2 links",
	} {
		if got, err := link.Parse(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: got %+v, %v; want an error that says %q", text, got, err, says)
		}
	}
}

func TestListsOfLinks(t *testing.T) {
	for text, want := range map[string][]string{
		"10mbit,0ms,10mbit,10ms,1gbit,100ms": {"10mbit,0ms", "10mbit,10ms", "1gbit,100ms"},
		"lan,wan":                            {"1gbit,0.5ms", "100mbit,40ms"},
		"lan,loss=1%,wan,10mbit":             {"1gbit,0.5ms,loss=0.01", "100mbit,40ms", "10mbit,0ms"},
		"0ms,10ms,100ms":                     {"0ms", "10ms", "100ms"},
		"10mbit,100mbit":                     {"10mbit,0ms", "100mbit,0ms"},
		"by=relay,10ms,by=tunnel,10ms":       {"10ms,by=relay", "10ms,by=tunnel"},
	} {
		got, err := link.ParseList(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		var spelled []string
		for _, s := range got {
			spelled = append(spelled, s.String())
		}
		if !slices.Equal(spelled, want) {
			t.Errorf("%q: got %q, want %q", text, spelled, want)
		}
	}
}

// TestPresetsAreWhatTheyAreSpelled holds the names apart from every other word.
func TestPresetsAreWhatTheyAreSpelled(t *testing.T) {
	for _, p := range link.Presets {
		if got, err := link.Parse(p.Spec.String()); err != nil || got != p.Spec {
			t.Errorf("%s is spelled %q, which is %+v, %v", p.Name, p.Spec, got, err)
		}
		if !strings.Contains(link.Takes(), p.Name) {
			t.Errorf("help does not name %s: %s", p.Name, link.Takes())
		}
	}
}

// FuzzParseList: what is read is within bounds, and is read again from how it
// is spelled.
func FuzzParseList(f *testing.F) {
	for _, s := range []string{"10mbit,0ms,10mbit,10ms", "lan,wan", "mobile,loss=1%,jitter=2ms", "1e3mbit,by=relay", "0x1p3gbit", ",", "0.0000001ms"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := link.ParseList(text)
		if err != nil {
			return
		}
		for _, s := range all {
			switch {
			case s.Rate != 0 && (s.Rate < 1e3 || s.Rate > 100e9), s.RoundTrip < 0, s.RoundTrip > 10*time.Second,
				s.Jitter < 0, s.Jitter > s.OneWay(), !(s.Loss >= 0 && s.Loss < 1):
				t.Errorf("%q gives %+v", text, s)
			}
			if again, err := link.Parse(s.String()); err != nil || again != s {
				t.Errorf("%q gives %+v, spelled %q, which is %+v, %v", text, s, s, again, err)
			}
		}
	})
}
