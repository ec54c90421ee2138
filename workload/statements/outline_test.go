package statements

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/service/validate"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// The rules of a batch are those of its outline, and no more.
func TestAnOutlineIsHeldInPlaceOfTheWhole(t *testing.T) {
	rules, err := validate.New(clinical.StatementService)
	if err != nil {
		t.Fatal(err)
	}
	for _, method := range []*rpc.Method{clinical.BatchWrite, clinical.Import, clinical.Sync} {
		whole := *method.In
		whole.Outline = nil
		for _, n := range []int{0, 1, 5000, 5001} {
			m := method.In.NewProto().ProtoReflect()
			list := m.Mutable(m.Descriptor().Fields().ByName("statements")).List()
			for range n {
				list.AppendMutable() // a statement that breaks rules of its own
			}
			plain := method.In.FromProto(m.Interface())
			want, got := rules.Check(&whole, plain), rules.Check(method.In, plain)
			if (want == nil) != (n == 1 || n == 5000) || !cmp.Equal(want, got) {
				t.Errorf("%s of %d: %v; the whole: %v", method.In.Name, n, got, want)
			}
		}
	}
}
