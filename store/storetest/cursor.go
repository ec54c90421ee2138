package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/store"
)

var cursorTests = tests{
	"a cursor sees what there was when it began":        cursorSnapshot,
	"what is done with a row ends a cursor":             cursorEnds,
	"a cursor ends with its context":                    cursorContext,
	"what a cursor hands over may be written to":        cursorBody,
	"a cursor holds one row at a time":                  cursorMemory,
	"cursors that stand still keep nobody else waiting": cursorsStandStill,
}

// each gives all that EachStatement does, as copies.
func each(t *testing.T, s store.Store, subject string, after int64) (all []store.Statement) {
	t.Helper()
	err := s.(store.Statements).EachStatement(t.Context(), subject, after, func(one *store.Statement) error {
		kept := *one
		kept.Body = bytes.Clone(one.Body)
		all = append(all, kept)
		return nil
	})
	if err != nil {
		t.Fatalf("EachStatement: %v", err)
	}
	return all
}

// cursorSnapshot puts, from within a cursor: new ones, others in the place of
// those that are yet to come, and some out of the subject and into it.
func cursorSnapshot(t *testing.T, s store.Store) {
	for _, subject := range []string{"", "Patient/1"} {
		put(t, s, someStatements(0, 1000)...)
		want := each(t, s, subject, 0)
		var got []store.Statement
		err := s.(store.Statements).EachStatement(t.Context(), subject, 0, func(one *store.Statement) error {
			if n := len(got); n%50 == 0 {
				changed := someStatements(0, 1000)
				for i := range changed {
					changed[i].Body = fmt.Append(nil, "changed ", n, subject)
					changed[i].Subject = fmt.Sprint("Patient/", (i+n)%3)
				}
				put(t, s, append(changed, someStatements(10_000+n, 10)...)...)
			}
			kept := *one
			kept.Body = bytes.Clone(one.Body)
			got = append(got, kept)
			return nil
		})
		if err != nil {
			t.Fatalf("EachStatement: %v", err)
		}
		if d := cmp.Diff(want, got, likeStatements); d != "" {
			t.Errorf("of %q it saw what came later (-want +got):\n%.2000s", subject, d)
		}
	}
}

func cursorEnds(t *testing.T, s store.Store) {
	put(t, s, someStatements(0, 3000)...)
	errEnough := errors.New("enough")
	for n := range 40 { // more than a store has connections
		seen := 0
		err := s.(store.Statements).EachStatement(t.Context(), "", 0, func(*store.Statement) error {
			if seen++; seen > n*10 {
				return errEnough
			}
			return nil
		})
		if err != errEnough || seen != n*10+1 { //nolint:errorlint // it is to come as it is
			t.Fatalf("EachStatement: %v after %d; want what was returned to it, after %d", err, seen, n*10+1)
		}
	}
	hasStatement(t, s, aStatement(1))
	if got := len(each(t, s, "", 0)); got != 3000 {
		t.Errorf("afterwards it gives %d statements; want 3000", got)
	}
}

func cursorContext(t *testing.T, s store.Store) {
	put(t, s, someStatements(0, 3000)...)
	for n := range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		seen := 0
		err := s.(store.Statements).EachStatement(ctx, "", 0, func(*store.Statement) error {
			if seen++; seen > n*10 {
				cancel()
			}
			return nil
		})
		cancel()
		if !errors.Is(err, context.Canceled) || seen != n*10+1 {
			t.Fatalf("EachStatement: %v after %d; want context.Canceled after %d", err, seen, n*10+1)
		}
	}
	putAs(t, s, store.Added, aStatement(9000))
	if got := len(each(t, s, "", 0)); got != 3001 {
		t.Errorf("afterwards it gives %d statements; want 3001", got)
	}
}

func cursorBody(t *testing.T, s store.Store) {
	put(t, s, someStatements(0, 300)...)
	want := each(t, s, "", 0)
	var got []store.Statement
	err := s.(store.Statements).EachStatement(t.Context(), "", 0, func(one *store.Statement) error {
		kept := *one
		kept.Body = bytes.Clone(one.Body)
		got = append(got, kept)
		clear(one.Body[:cap(one.Body)])
		*one = store.Statement{Body: append(one.Body, "more"...)}
		return nil
	})
	if d := cmp.Diff(want, got, likeStatements); err != nil || d != "" {
		t.Errorf("what one call did shows in the next: %v (-want +got):\n%s", err, d)
	}
	if d := cmp.Diff(want, each(t, s, "", 0), likeStatements); d != "" {
		t.Errorf("what it did shows in the store (-want +got):\n%s", d)
	}
}

// cursorMemory walks 20 MB and looks at the heap on the way.
func cursorMemory(t *testing.T, s store.Store) {
	const rows, size, bound = 10_000, 2000, 4 << 20
	for from := 0; from < rows; from += 5000 {
		all := someStatements(from, 5000)
		for i := range all {
			all[i].Body = bytes.Repeat([]byte{byte(i)}, size)
		}
		put(t, s, all...)
	}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, n, most := heap(), 0, int64(0)
	err := s.(store.Statements).EachStatement(t.Context(), "", 0, func(*store.Statement) error {
		if n++; n%(rows/4) == 1 {
			most = max(most, heap()-before)
		}
		return nil
	})
	if err != nil || n != rows {
		t.Fatalf("EachStatement: %v after %d", err, n)
	}
	if most > bound {
		t.Errorf("while it walks %d B the heap is larger by %d B; want at most %d", rows*size, most, bound)
	}
}

// cursorsStandStill has cursors that wait for whom they hand rows to, as one
// does whose client reads slowly.
func cursorsStandStill(t *testing.T, s store.Store) {
	put(t, s, someStatements(0, 3000)...)
	const cursors = 6
	var standing, done sync.WaitGroup
	standing.Add(cursors)
	release := make(chan struct{})
	var seen atomic.Int64
	for range cursors {
		done.Go(func() {
			first := sync.OnceFunc(func() {
				standing.Done()
				<-release
			})
			err := s.(store.Statements).EachStatement(t.Context(), "", 0, func(*store.Statement) error {
				first()
				seen.Add(1)
				return nil
			})
			if err != nil {
				t.Errorf("EachStatement: %v", err)
			}
		})
	}
	standing.Wait()
	for i := range 20 {
		putAs(t, s, store.Added, aStatement(5000+i))
		hasStatement(t, s, aStatement(5000+i))
		if got, err := s.(store.Statements).StatementsAfter(t.Context(), "", 0, 10); err != nil || len(got) != 10 {
			t.Errorf("StatementsAfter: %d, %v", len(got), err)
		}
	}
	close(release)
	done.Wait()
	if seen.Load() != cursors*3000 {
		t.Errorf("%d cursors saw %d rows; want %d each", cursors, seen.Load(), 3000)
	}
}
