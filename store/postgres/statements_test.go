package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/postgres/postgrestest"
	"github.com/tare-bench/tare/store/storetest"
)

func BenchmarkStatements(b *testing.B) {
	server := postgrestest.New(b)
	storetest.BenchmarkStatements(b, func(b *testing.B) store.Store {
		return opened(b, apart(b, server.Address(), ""))
	})
}

// some are n statements of 1 kB, whose IDs begin with a name.
func some(name string, n int) []store.Statement {
	all := make([]store.Statement, n)
	for i := range all {
		all[i] = store.Statement{ID: fmt.Sprint(name, " ", i), Subject: fmt.Sprint("Patient/", i%400), Body: []byte(strings.Repeat(name[:1], 1000))}
	}
	return all
}

func mustPut(t *testing.T, s *Store, all []store.Statement) {
	t.Helper()
	if _, err := s.PutStatements(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

func keepsStatements(t *testing.T, s *Store, want int64) {
	t.Helper()
	if n, err := s.CountStatements(t.Context()); err != nil || n != want {
		t.Errorf("%d statements are kept, %v; want %d", n, err, want)
	}
}

// plan gives how the server would answer a query, after another in its
// transaction.
func plan(t *testing.T, c *pgx.Conn, before []any, query string, args ...any) string {
	t.Helper()
	tx, err := c.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if len(before) > 0 {
		if _, err := tx.Exec(t.Context(), before[0].(string), before[1:]...); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := tx.Query(t.Context(), "EXPLAIN (COSTS OFF) "+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return strings.Join(lines, "\n")
}

// What is asked for by ID, subject and number is looked for in an index, and a
// cursor's rows come in its order: with a table that is empty, small or large.
func TestStatementsAreFoundByIndex(t *testing.T) {
	address := apart(t, postgrestest.Address(t), "")
	s := opened(t, address)
	defer s.Close()
	c := session(t, address)
	for _, rows := range []int{0, 3, 20_000} {
		for from := 0; from < rows; from += 2000 {
			mustPut(t, s, some(fmt.Sprint("x", rows, from), min(rows, 2000)))
		}
		for _, analyzed := range []bool{false, true} {
			if analyzed {
				if _, err := c.Exec(t.Context(), "ANALYZE "+pgx.Identifier{s.schema}.Sanitize()+".statements"); err != nil {
					t.Fatal(err)
				}
			}
			puts, bodies, updated := make([]string, 500), make([][]byte, 500), make([]time.Time, 500)
			lock := []any{s.sql.lockPuts, int64(1)}
			for what, p := range map[string]string{
				"put":             plan(t, c, lock, s.sql.put, puts, puts, bodies, updated),
				"cursor":          plan(t, c, []any{s.sql.orderByIndex}, s.sql.statementsAfter, 0, nil),
				"cursor of one":   plan(t, c, []any{s.sql.orderByIndex}, s.sql.statementsOf, 0, nil, "Patient/1"),
				"page of subject": plan(t, c, []any{s.sql.orderByIndex}, s.sql.statementsOf, 0, 10, "Patient/1"),
			} {
				want := map[string]string{"put": "statements_id_key", "cursor": "statements_pkey"}[what]
				if want == "" {
					want = "statements_of_subject"
				}
				if !strings.Contains(p, "Index Scan using "+want) || strings.Contains(p, "Seq Scan on statements") || what != "put" && strings.Contains(p, "Sort") {
					t.Errorf("%s, of %d rows, analyzed %v, uses no index %s:\n%s", what, rows, analyzed, want, p)
				}
			}
		}
	}
	if p := plan(t, c, nil, s.sql.statementsOf, 0, 10, "Patient/1"); !strings.Contains(p, "Index Scan using statements_of_subject") || strings.Contains(p, "Sort") {
		t.Errorf("a page of one subject uses no index:\n%s", p)
	}
}

// What is unchanged is not written: neither the row, nor that it was locked.
func TestUnchangedStatementsAreLeftAlone(t *testing.T) {
	address := apart(t, postgrestest.Address(t), "")
	s := opened(t, address)
	defer s.Close()
	c := session(t, address)
	versions := func() (all string) {
		if err := c.QueryRow(t.Context(), "SELECT string_agg(concat(ctid, xmin, xmax), ' ' ORDER BY number) FROM "+pgx.Identifier{s.schema}.Sanitize()+".statements").Scan(&all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	mustPut(t, s, some("a", 100))
	before := versions()
	mustPut(t, s, some("a", 100))
	if after := versions(); after != before {
		t.Errorf("rows were written:\n%s\n%s", before, after)
	}
	changed := some("a", 100)[:1]
	changed[0].Subject = "another"
	mustPut(t, s, changed)
	if after := versions(); after == before {
		t.Error("a change shows in no row: this tests nothing")
	}
}

// What one call alone is at fault for fails that alone: here, an ID that no index
// holds.
func TestStatementsBesideOneThatFails(t *testing.T) {
	s := opened(t, apart(t, postgrestest.Address(t), ""))
	defer s.Close()
	var name strings.Builder
	for i := range 5000 { // long, and not to be compressed
		name.WriteRune(rune('a' + i*i*31%4099))
	}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			given, bad := some(fmt.Sprint("x", i), 20), i%10 == 3
			v := store.Visit{ID: fmt.Sprint(i)}
			if bad {
				given[13].ID, v.ID = name.String(), name.String()
			}
			outcomes, err := s.PutStatements(t.Context(), given)
			_, err2 := s.AddVisit(t.Context(), v)
			if bad != (err != nil) || bad != (err2 != nil) {
				t.Errorf("call %d: %v, %v; bad: %v", i, err, err2, bad)
			}
			for _, o := range outcomes {
				if o != store.Added {
					t.Errorf("call %d is %v", i, outcomes)
					break
				}
			}
		})
	}
	all.Wait()
	keepsStatements(t, s, 36*20)
	if visits, err := s.VisitsBefore(t.Context(), "", 1000, 1000); err != nil || len(visits) != 36 {
		t.Errorf("%d visits are kept, %v; want 36", len(visits), err)
	}
}

// Connections that the server ends are nobody's failure, but a cursor's whose
// rows were handed over: those do not come again.
func TestStatementsWhileConnectionsEnd(t *testing.T) {
	address := apart(t, postgrestest.Address(t), "application_name=ended+too")
	s := opened(t, address)
	defer s.Close()
	killer := session(t, postgrestest.Address(t))
	var done atomic.Bool
	var killing, working sync.WaitGroup
	killing.Go(func() {
		for !done.Load() {
			if _, err := killer.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended too' AND random() < 0.02"); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for w := range 4 {
		working.Go(func() {
			for n := range 40 {
				if _, err := s.PutStatements(t.Context(), some(fmt.Sprintf("%d.%d", w, n), 50)); err != nil && !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("PutStatements: %v", err)
				}
			}
		})
		working.Go(func() {
			for range 40 {
				last := int64(0)
				err := s.EachStatement(t.Context(), "", 0, func(one *store.Statement) error {
					if one.Number <= last {
						t.Errorf("number %d comes after %d", one.Number, last)
					}
					last = one.Number
					return nil
				})
				if err != nil && (!errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "database ")) {
					t.Errorf("EachStatement: %v", err)
				}
			}
		})
	}
	working.Wait()
	done.Store(true)
	killing.Wait()
	for w := range 4 { // what was acknowledged is there, and what was not is taken now
		for n := range 40 {
			mustPut(t, s, some(fmt.Sprintf("%d.%d", w, n), 50))
		}
	}
	keepsStatements(t, s, 4*40*50)
}

// A cursor that has begun does not begin again where its connection ends.
func TestACursorWhoseConnectionEnds(t *testing.T) {
	s := opened(t, apart(t, postgrestest.Address(t), "application_name=cut"))
	defer s.Close()
	for i := range 10 { // more than the way holds
		mustPut(t, s, some(fmt.Sprint("x", i), 2000))
	}
	killer := session(t, postgrestest.Address(t))
	seen, last := 0, int64(0)
	err := s.EachStatement(t.Context(), "", 0, func(one *store.Statement) error {
		if seen++; one.Number <= last {
			t.Fatalf("number %d comes after %d", one.Number, last)
		}
		last = one.Number
		if seen > 1 {
			return nil
		}
		_, err := killer.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut'")
		return err
	})
	if !errors.Is(err, store.ErrUnavailable) || seen >= 20_000 {
		t.Errorf("EachStatement: %v after %d; want ErrUnavailable", err, seen)
	}
	if n := 0; s.EachStatement(t.Context(), "", 0, func(*store.Statement) error { n++; return nil }) != nil || n != 20_000 {
		t.Errorf("asked for again it gives %d statements; want 20000", n)
	}
}

// A cursor whose server goes away fails, and does not hand over anything twice.
func TestACursorWhoseServerStops(t *testing.T) {
	server := postgrestest.New(t, "fsync=off")
	s := opened(t, server.Address())
	defer s.Close()
	mustPut(t, s, some("a", 5000)) // more than the way holds
	mustPut(t, s, some("b", 5000))
	seen := 0
	err := s.EachStatement(t.Context(), "", 0, func(*store.Statement) error {
		if seen++; seen == 1 {
			return server.Crash()
		}
		return nil
	})
	if !errors.Is(err, store.ErrUnavailable) || seen >= 10_000 {
		t.Errorf("EachStatement: %v after %d; want ErrUnavailable", err, seen)
	}
	if _, err := s.PutStatements(t.Context(), some("c", 5)); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("PutStatements: %v; want ErrUnavailable", err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	mustPut(t, s, some("c", 5))
	seen = 0
	if err := s.EachStatement(t.Context(), "", 0, func(*store.Statement) error { seen++; return nil }); err != nil || seen != 10_005 {
		t.Errorf("EachStatement once it has started: %v after %d; want 10005", err, seen)
	}
}

// A call whose answer is lost is asked for again, and is then found made.
func TestStatementsWhoseAnswerIsLost(t *testing.T) {
	server := postgrestest.New(t, "fsync=off")
	var way deaf
	s := opened(t, "postgres://postgres@/postgres?host="+way.between(t, server.Folder()))
	defer s.Close()
	mustPut(t, s, some("warm", 1))
	visit, err := s.AddVisit(t.Context(), store.Visit{ID: "changed"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		name := fmt.Sprint("x", i)
		for _, change := range []struct {
			what string
			make func(name string) error
		}{
			{"PutStatements", func(name string) error { _, err := s.PutStatements(t.Context(), some(name, 20)); return err }},
			{"AddVisit", func(name string) error { _, err := s.AddVisit(t.Context(), store.Visit{ID: name}); return err }},
			{"ChangeVisit", func(name string) (err error) {
				visit.Status, visit.SignedBy = store.VisitSigned, name
				visit, err = s.ChangeVisit(t.Context(), visit)
				return err
			}},
		} {
			if err := change.make("before " + name); err != nil { // or what is lost is how the server prepares it
				t.Fatal(err)
			}
			lost := way.lost.Load()
			way.lose.Store(1)
			if err := change.make(name); err != nil {
				t.Errorf("%s whose answer is lost: %v", change.what, err)
			}
			if way.lost.Load() == lost {
				t.Errorf("%s lost no answer: this tests nothing", change.what)
			}
		}
	}
	keepsStatements(t, s, 121)
	if got, err := s.VisitByID(t.Context(), "changed"); err != nil || got.Revision != 7 || got.SignedBy != "x2" {
		t.Errorf("the visit is %+v, %v; want six changes", got, err)
	}
}

// A schema that an older tare made has no statements, and keeps what it has.
func TestASchemaOfTheFirstVersion(t *testing.T) {
	address := apart(t, postgrestest.Address(t), "")
	s := opened(t, address)
	quoted := pgx.Identifier{s.schema}.Sanitize()
	if _, err := s.AddOrder(t.Context(), store.Order{ID: "old", User: "u"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := session(t, address).Exec(t.Context(), fmt.Sprintf("DROP TABLE %[1]s.statements, %[1]s.visits; UPDATE %[1]s.tare_schema SET version = 1", quoted)); err != nil {
		t.Fatal(err)
	}
	s = opened(t, address)
	defer s.Close()
	if o, err := s.OrderByID(t.Context(), "old"); err != nil || o.User != "u" {
		t.Errorf("the order that was kept is %+v, %v", o, err)
	}
	mustPut(t, s, some("a", 3))
	keepsStatements(t, s, 3)
}

func TestStatementsOfAStoreThatIsClosed(t *testing.T) {
	s := opened(t, apart(t, postgrestest.Address(t), ""))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for what, do := range map[string]func(context.Context) error{
		"PutStatements": func(ctx context.Context) error { _, err := s.PutStatements(ctx, some("a", 1)); return err },
		"EachStatement": func(ctx context.Context) error {
			return s.EachStatement(ctx, "", 0, func(*store.Statement) error { return nil })
		},
		"AddVisit": func(ctx context.Context) error { _, err := s.AddVisit(ctx, store.Visit{ID: "a"}); return err },
	} {
		if err := do(t.Context()); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: %v; want an error that says so", what, err)
		}
	}
}
