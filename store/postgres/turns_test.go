package postgres

import (
	"testing"

	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/postgres/postgrestest"
)

// Who puts statements waits until those before are visible, or who follows numbers
// would miss the lower one.
func TestNoStatementIsVisibleBeforeALowerOne(t *testing.T) {
	address := apart(t, postgrestest.Address(t), "")
	s := opened(t, address)
	defer s.Close()
	slow := session(t, address, "BEGIN")
	if _, err := slow.Exec(t.Context(), s.sql.lockPuts, lockKey(s.schema, "statements")); err != nil {
		t.Fatal(err)
	}
	var c putColumns
	c.add(&store.Statement{ID: "slow", Subject: "Patient/1", Body: []byte{}})
	if _, err := slow.Exec(t.Context(), s.sql.put, c.ids, c.subjects, c.bodies, c.updated); err != nil {
		t.Fatal(err)
	}
	put := make(chan error, 1)
	go func() {
		_, err := s.PutStatements(t.Context(), []store.Statement{{ID: "quick", Subject: "Patient/1"}})
		put <- err
	}()
	watch := session(t, address)
	for waiting := 0; waiting == 0; {
		select {
		case err := <-put:
			t.Fatalf("a later statement did not wait for the first to be visible: %v", err)
		default:
		}
		if err := watch.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := slow.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-put; err != nil {
		t.Fatal(err)
	}
	all, err := s.StatementsAfter(t.Context(), "", 0, 10)
	if err != nil || len(all) != 2 || all[0].ID != "slow" {
		t.Errorf("statements are %+v, %v; want the slow one first", all, err)
	}
}
