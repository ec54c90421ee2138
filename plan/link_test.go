package plan_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/link"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

func TestALinkIsInPlanAndHeader(t *testing.T) {
	p := mustNew(t, plan.Request{Link: "jitter=1ms,loss=0.5%,10ms,100mbit"})
	want := link.Spec{Rate: 100e6, RoundTrip: 10 * time.Millisecond, Jitter: time.Millisecond, Loss: 0.005}
	if p.Link == nil || *p.Link != want || p.RoundTrip() != want.RoundTrip {
		t.Fatalf("link %v, round trip %v", p.Link, p.RoundTrip())
	}
	said := &record.Link{Spec: "100mbit,10ms,jitter=1ms,loss=0.005", Rate: 100e6, RoundTripS: 0.01, JitterS: 0.001, Loss: 0.005}
	if diff := cmp.Diff(said, p.Header().Link); diff != "" {
		t.Error(diff)
	}
	text, err := json.Marshal(p)
	if err != nil || !strings.Contains(string(text), `"link":"100mbit,10ms,jitter=1ms,loss=0.005"`) {
		t.Errorf("in JSON it is %.300s, %v", text, err)
	}
	if p = mustNew(t, plan.Request{Link: "1ms,by=relay"}); p.Header().Link.Kind != link.Relay {
		t.Errorf("the kind asked for is %q", p.Header().Link.Kind)
	}
	if p = mustNew(t, plan.Request{}); p.Link != nil || p.Header().Link != nil || p.RoundTrip() != 0 {
		t.Errorf("loopback is the link %v", p.Link)
	}
}

func TestALinkStandsAtTheVariedLeg(t *testing.T) {
	for leg, want := range map[string]string{"whole": "between front and till", "deep": "between driver and till"} {
		if p := mustNew(t, plan.Request{Leg: leg, Link: "10ms"}); !strings.Contains(p.String(), want) {
			t.Errorf("leg %s: no %q in\n%s", leg, want, p)
		}
	}
}

func TestTrialsAreLongEnoughForTheLink(t *testing.T) {
	for name, c := range map[string]struct {
		r     plan.Request
		slice time.Duration
		note  string
	}{
		"short round trips":      {plan.Request{Link: "5ms"}, 100 * time.Millisecond, ""},
		"long ones":              {plan.Request{Link: "100ms"}, 2 * time.Second, "a trial lasts 2s, 20 round trips of the link, and not 100ms"},
		"an open loop":           {plan.Request{Link: "100ms", Rate: 100}, 2 * time.Second, ""},
		"a longer slice is kept": {plan.Request{Link: "100ms", Slice: 5 * time.Second}, 5 * time.Second, ""},
		"the shortest slice":     {plan.Request{Link: "10ms", Slice: 200 * time.Millisecond}, 200 * time.Millisecond, ""},
	} {
		p := mustNew(t, c.r)
		noted := strings.Contains(strings.Join(p.Notes, "\n"), "round trips")
		if p.Slice != c.slice || noted != (c.note != "") || !strings.Contains(strings.Join(p.Notes, "\n"), c.note) {
			t.Errorf("%s: a slice of %v, notes %q", name, p.Slice, p.Notes)
		}
	}
}

func TestWhatIsTooShortForTheLinkIsRefused(t *testing.T) {
	for want, r := range map[string]plan.Request{
		"--timeout 399ms: takes at least 4 round trips of the link, 400ms": {Link: "100ms", Timeout: 399 * time.Millisecond},
		"--timeout 10s: takes at least 4 round trips of the link, 12s":     {Link: "3s"},
		"--slice 1.9s: takes at least 20 round trips of the link, 2s":      {Link: "100ms", Slice: 1900 * time.Millisecond},
		`--link "soon" is no word of a link`:                               {Link: "soon"},
	} {
		r.Workload = "shop"
		if _, err := plan.New(r, facts{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
