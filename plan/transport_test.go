package plan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/plan"
)

func (facts) Transport(stack string, inFlight int) *plan.Transport {
	if strings.HasPrefix(stack, "slow") {
		return nil
	}
	return &plan.Transport{HTTP: "2", Conns: inFlight, CallsPerConn: 1}
}

func (facts) Remark(stack string) string {
	if strings.HasSuffix(stack, "bits") {
		return "is not what it seems"
	}
	return ""
}

func TestScenariosSayWhatTheirNamesDoNot(t *testing.T) {
	p := mustNew(t, plan.Request{Stacks: []string{"slow+text", "quick+bits"}, InFlight: 7})
	if s := p.Scenarios[0]; s.Transport != nil || s.Remark != "" {
		t.Errorf("nothing is known of the first, and it says %+v, %q", s.Transport, s.Remark)
	}
	want := &plan.Transport{HTTP: "2", Conns: 7, CallsPerConn: 1}
	if s := p.Header().Scenarios[1]; !cmp.Equal(s.Transport, want) || s.Remark != "is not what it seems" {
		t.Errorf("got %+v, %q", s.Transport, s.Remark)
	}
}
