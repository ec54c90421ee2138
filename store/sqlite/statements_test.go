package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/storetest"
)

func BenchmarkStatements(b *testing.B) {
	storetest.BenchmarkStatements(b, func(b *testing.B) store.Store {
		return opened(b, "sqlite:"+filepath.Join(b.TempDir(), "a.db"))
	})
}

// some are n statements of 1 kB, whose IDs begin with a name.
func some(name string, n int) []store.Statement {
	all := make([]store.Statement, n)
	for i := range all {
		all[i] = store.Statement{ID: fmt.Sprint(name, " ", i), Subject: fmt.Sprint("Patient/", i%10), Body: []byte(strings.Repeat(name[:1], 1000))}
	}
	return all
}

func keepsStatements(t *testing.T, s *Store, want int64) {
	t.Helper()
	if n, err := s.CountStatements(t.Context()); err != nil || n != want {
		t.Errorf("%d statements are kept, %v; want %d", n, err, want)
	}
}

// What is asked for by subject and by number is looked for in an index, and
// comes in its order.
func TestStatementsAreFoundByIndex(t *testing.T) {
	s := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	defer s.Close()
	for query, want := range map[string]string{
		statementsOf:  "SEARCH statements USING INDEX statements_of_subject (subject=? AND number>?)",
		statementsAll: "SEARCH statements USING INTEGER PRIMARY KEY (rowid>?)",
		statementByID: "SEARCH statements USING INDEX sqlite_autoindex_statements_1 (id=?)",
		visitsFrom + "WHERE patient = ? AND number < ? ORDER BY number DESC LIMIT ?": "SEARCH visits USING INDEX visits_of_patient (patient=? AND number<?)",
	} {
		rows, err := s.reads.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, make([]any, strings.Count(query, "?"))...)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(plan, "; "); got != want {
			t.Errorf("%s: %s; want %s", query, got, want)
		}
	}
}

func TestAFullDiskTakesCallsWholeOrNot(t *testing.T) {
	s := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	defer s.Close()
	limitPages := func(n int) {
		if _, err := s.write.conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
			t.Fatal(err)
		}
	}
	limitPages(400)
	kept := map[string]bool{}
	var failed error
	for n := 0; failed == nil && n < 100; n++ {
		var mu sync.Mutex
		var all sync.WaitGroup
		for w := range 4 {
			all.Go(func() {
				name := fmt.Sprintf("x%d.%d", n, w)
				_, err := s.PutStatements(t.Context(), some(name, 60))
				mu.Lock()
				defer mu.Unlock()
				if kept[name] = err == nil; err != nil {
					failed = err
				}
			})
		}
		all.Wait()
	}
	if !errors.Is(failed, store.ErrUnavailable) || !strings.Contains(failed.Error(), "no room: make some") {
		t.Fatalf("a full disk gives %v; want ErrUnavailable and the remedy", failed)
	}
	want := int64(0)
	for name, is := range kept {
		if is {
			want += 60
		}
		for _, one := range some(name, 60) {
			if _, err := s.StatementByID(t.Context(), one.ID); is != (err == nil) || !is && !errors.Is(err, store.ErrNotFound) {
				t.Errorf("statement %s, kept %v: %v", one.ID, is, err)
			}
		}
	}
	keepsStatements(t, s, want)
	limitPages(1_000_000)
	for name := range kept {
		if _, err := s.PutStatements(t.Context(), some(name, 60)); err != nil {
			t.Errorf("with room again: %v", err)
		}
	}
	keepsStatements(t, s, int64(len(kept))*60)
}

func TestStatementsWhileAnotherProcessHoldsTheLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	s, err := open(t.Context(), "sqlite:"+file, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.PutStatements(t.Context(), some("a", 100)); err != nil {
		t.Fatal(err)
	}
	other := raw(t, file, "BEGIN IMMEDIATE")
	if _, err := s.PutStatements(t.Context(), some("b", 100)); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "another process holds its lock") {
		t.Errorf("PutStatements: %v; want ErrUnavailable and the remedy", err)
	}
	seen := 0
	if err := s.EachStatement(t.Context(), "", 0, func(*store.Statement) error { seen++; return nil }); err != nil || seen != 100 {
		t.Errorf("a cursor waits for no writer, and saw %d, %v", seen, err)
	}
	if _, err := other.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutStatements(t.Context(), some("b", 100)); err != nil {
		t.Errorf("once the lock is free: %v", err)
	}
	keepsStatements(t, s, 200)
}

// What shares its commit with a call that fails is kept all the same.
func TestStatementsBesideOneThatFails(t *testing.T) {
	s := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	defer s.Close()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if i%10 == 3 {
				if err := s.do(t.Context(), broken{}); !errors.Is(err, errBroken) {
					t.Errorf("what fails: %v; want its error", err)
				}
				return
			}
			outcomes, err := s.PutStatements(t.Context(), some(fmt.Sprint("x", i), 30))
			for _, o := range outcomes { // of the attempt that was kept
				if o != store.Added {
					t.Errorf("what shares its commit is %v", outcomes)
					break
				}
			}
			if err != nil {
				t.Errorf("what shares its commit: %v", err)
			}
		})
	}
	all.Wait()
	keepsStatements(t, s, 45*30)
}

// Who no longer waits may use what it gave again, though it is still written.
func TestWhatWasGivenIsNotReadAfterwards(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	s := opened(t, "sqlite:"+file)
	defer s.Close()
	other := raw(t, file, "BEGIN IMMEDIATE")
	ctx, cancel := context.WithCancel(t.Context())
	given := some("a", 300)
	put := make(chan error, 1)
	go func() {
		_, err := s.PutStatements(ctx, given)
		put <- err
	}()
	cancel()
	if err := <-put; !errors.Is(err, context.Canceled) {
		t.Fatalf("PutStatements: %v; want context.Canceled", err)
	}
	for i := range given {
		clear(given[i].Body)
		given[i].ID, given[i].Subject = "another", "another"
	}
	if _, err := other.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := s.Ping(t.Context()); err != nil { // comes after it
		t.Fatal(err)
	}
	err := s.EachStatement(t.Context(), "", 0, func(one *store.Statement) error {
		if !strings.HasPrefix(one.ID, "a ") || strings.Trim(string(one.Body), "a") != "" {
			return fmt.Errorf("it kept %+v", one)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestStatementsOfAStoreThatIsClosed(t *testing.T) {
	s := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"PutStatements": func() error { _, err := s.PutStatements(t.Context(), some("a", 1)); return err }(),
		"EachStatement": s.EachStatement(t.Context(), "", 0, func(*store.Statement) error { return nil }),
		"AddVisit":      func() error { _, err := s.AddVisit(t.Context(), store.Visit{ID: "a"}); return err }(),
		"VisitsBefore":  func() error { _, err := s.VisitsBefore(t.Context(), "", 1, 1); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: %v; want an error that says so", what, err)
		}
	}
}

// A file that an older tare wrote has no statements, and keeps what it has.
func TestAFileOfTheFirstVersion(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	if err := makeFile(file); err != nil {
		t.Fatal(err)
	}
	old := raw(t, file, migrations[0], fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 1", applicationID),
		`INSERT INTO orders VALUES (1, 'old', 'u', '[]', 'EUR', 7, 'pending', 0, 1, 5, 5)`)
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s := opened(t, "sqlite:"+file)
	defer s.Close()
	if o, err := s.OrderByID(t.Context(), "old"); err != nil || o.Total.Minor != 7 {
		t.Errorf("the order that was kept is %+v, %v", o, err)
	}
	if _, err := s.PutStatements(t.Context(), some("a", 3)); err != nil {
		t.Error(err)
	}
	keepsStatements(t, s, 3)
}

// Readers who stand still hold their cursors. Who comes after the last is told
// so, and is kept waiting neither for good nor when its own call ends.
func TestCursorsHeldBySlowReaders(t *testing.T) {
	s, err := open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "a.db"), 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.PutStatements(t.Context(), some("a", 1)); err != nil {
		t.Fatal(err)
	}
	held, free := make(chan struct{}), make(chan struct{})
	var readers sync.WaitGroup
	for range cursors {
		readers.Go(func() {
			err := s.EachStatement(t.Context(), "", 0, func(*store.Statement) error { held <- struct{}{}; <-free; return nil })
			if err != nil {
				t.Errorf("a slow reader is given %v", err)
			}
		})
	}
	for range cursors {
		<-held
	}
	late := func(ctx context.Context) error {
		return s.EachStatement(ctx, "", 0, func(*store.Statement) error { return nil })
	}
	err = late(t.Context())
	if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "slow readers") {
		t.Errorf("one reader too many is given %v; want that all cursors are held", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := late(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("a reader whose call has ended is given %v", err)
	}
	if _, err := s.PutStatements(t.Context(), some("b", 1)); err != nil {
		t.Errorf("a writer is given %v", err)
	}
	close(free)
	readers.Wait()
	if err := late(t.Context()); err != nil {
		t.Errorf("once they have ended a reader is given %v", err)
	}
}
