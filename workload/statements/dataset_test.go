package statements

import (
	"reflect"
	"testing"
	"time"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// What is put without the service and what it keeps are the same: neither
// changes what the other has kept.
func TestTheDatasetKeepsAsTheServiceDoes(t *testing.T) {
	const n = 300
	d := Workload{}.Dataset()
	for name, first := range map[string]string{"put first": "dataset", "written first": "service"} {
		s := memory.New()
		var all []any
		in := new(clinical.BatchWriteRequest)
		for i := range n {
			all = append(all, d.Make(8, i))
			in.Statements = append(in.Statements, *d.Make(8, i).(*clinical.MedicationStatement))
		}
		put := func() int64 {
			done, err := d.Put(t.Context(), s, all, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return done.Written
		}
		write := func() int64 {
			out, err := rpc.Invoke(t.Context(), service(t, statementTier, writeLeg, s, nil), clinical.BatchWrite, in)
			if err != nil {
				t.Fatal(err)
			}
			return int64(out.(*clinical.BatchWriteResponse).Written)
		}
		inTurn := []func() int64{put, write}
		if first == "service" {
			inTurn = []func() int64{write, put}
		}
		if written, again := inTurn[0](), inTurn[1](); written != n || again != 0 {
			t.Errorf("%s: %d are written, and then %d of them again", name, written, again)
		}
		next := 0
		err := d.Each(t.Context(), s, func(record any) error {
			if want := d.Make(8, next); !reflect.DeepEqual(record, want) {
				t.Errorf("%s: record %d is %+v and not %+v", name, next, record, want)
			}
			next++
			return nil
		})
		if err != nil || next != n {
			t.Errorf("%s: %d come out: %v", name, next, err)
		}
	}
}

func TestAStoreThatKeepsNoStatementsIsNamed(t *testing.T) {
	d := Workload{}.Dataset()
	var none struct{ store.Store }
	if _, err := d.Put(t.Context(), none, []any{d.Make(1, 1)}, time.Now()); err == nil {
		t.Error("it took one")
	}
	if err := d.Each(t.Context(), none, func(any) error { return nil }); err == nil {
		t.Error("it gave some")
	}
}
