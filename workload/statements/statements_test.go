package statements

import (
	"testing"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/validate"
	"github.com/tare-bench/tare/setting"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/workloadtest"
)

func TestContract(t *testing.T) {
	workloadtest.Run(t, workloadtest.Contract{
		Workload: Workload{},
		Store:    func(testing.TB) store.Store { return memory.New() },
		Instead:  map[string]string{batchParam: "7", streamParam: "3", recordsParam: "100"},
		Params:   []map[string]string{{batchParam: "1", streamParam: "1", recordsParam: "9"}},
		Calls:    40, Drawn: 5,
		Alike: []string{exportLeg},
	})
}

// service gives a tier of a leg behind the rules of its schema.
func service(t testing.TB, tier, leg string, s store.Store, params map[string]string) rpc.Handler {
	t.Helper()
	of := map[string]*rpc.Service{statementTier: clinical.StatementService, visitTier: clinical.VisitService}
	rules, err := validate.New(of[tier])
	if err != nil {
		t.Fatal(err)
	}
	values, err := setting.Resolve(Workload{}.Spec().Params, params)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Workload{}.Handler(t.Context(), workload.Env{Tier: tier, Leg: leg, Params: values, Store: s, Check: rules.Check})
	if err != nil {
		t.Fatal(err)
	}
	return rules.Handler(h)
}
