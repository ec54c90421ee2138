package plan_test

import (
	"testing"

	"github.com/tare-bench/tare/plan"
)

// A closed loop is never refused, however many callers it has.
func TestServicesAdmitAClosedLoop(t *testing.T) {
	for _, c := range []struct {
		request plan.Request
		want    int
	}{
		{plan.Request{}, plan.DefaultAdmit},
		{plan.Request{InFlight: 1000}, plan.DefaultAdmit},
		{plan.Request{InFlight: 5000}, 5000},
		{plan.Request{InFlight: 5000, Rate: 1000}, plan.DefaultAdmit},
		{plan.Request{InFlight: 5000, Admit: 7}, 7},
	} {
		if p := mustNew(t, c.request); p.Admit != c.want || p.Header().Admit != c.want {
			t.Errorf("%+v admits %d, the header says %d; want %d", c.request, p.Admit, p.Header().Admit, c.want)
		}
	}
}
