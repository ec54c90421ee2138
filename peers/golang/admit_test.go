package golang

import (
	"testing"

	"github.com/tare-bench/tare/peer"
	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/rpc"
)

// What a server does not take on is refused at once, and counted as that.
func TestServersRefuseWhatIsBeyondTheirLimit(t *testing.T) {
	d := start(t, plan.Native, func(s *peer.Start) { s.InFlight, s.Admit = 64, 1 })
	sum, err := d.trial(t.Context(), peer.Trial{Seed: 7, InFlight: 64, Calls: 3000})
	if err != nil {
		t.Fatal(err)
	}
	refused := sum.Errors[rpc.Class(rpc.Errorf(rpc.ResourceExhausted, ""))]
	if refused == 0 || sum.OK == 0 || sum.OK+refused != sum.Calls {
		t.Errorf("of %d calls %d were answered and %d refused: %v", sum.Calls, sum.OK, refused, sum.Errors)
	}
}

func TestServersRefuseNoOrdinaryLoop(t *testing.T) {
	d := start(t, plan.Native, func(s *peer.Start) { s.InFlight, s.TimeoutS = 1000, 100 })
	sum, err := d.trial(t.Context(), peer.Trial{Seed: 7, InFlight: 1000, Calls: 2000})
	if err != nil || sum.OK != 2000 {
		t.Errorf("of 2000 calls %d were answered: %v, %v", sum.OK, sum.Errors, err)
	}
}

// Streams are calls too, and a server takes on as many.
func TestServersTakeOnAsManyStreamsAsCalls(t *testing.T) {
	for admit, refused := range map[int]bool{2: true, 1200: false} {
		d := inBulkOf(t, "sync", "grpc+proto", 5, 100, func(s *peer.Start) { s.InFlight, s.Admit, s.TimeoutS = 1200, admit, 100 })
		sum, err := d.trial(t.Context(), peer.Trial{Seed: 7, InFlight: 1200, Calls: 1200})
		if err != nil {
			t.Fatal(err)
		}
		if n := sum.Errors[rpc.Class(rpc.Errorf(rpc.ResourceExhausted, ""))]; (n > 0) != refused || sum.OK+n != 1200 {
			t.Errorf("admitting %d, %d of 1200 streams were refused: %v", admit, n, sum.Errors)
		}
	}
}

// What breaks the rules of the schema is refused by every server.
func TestServersHoldRequestsToTheirRules(t *testing.T) {
	d := start(t, plan.Native)
	call := d.work.Probes(d.start.Leg, d.start.Params)[0]
	_, err := rpc.Invoke(t.Context(), d.next.conn, call.Method, call.Method.In.New())
	if e := rpc.ErrorOf(err); e == nil || e.Code != rpc.InvalidArgument || len(e.Violations) == 0 {
		t.Errorf("an empty request gave %v", err)
	}
}
