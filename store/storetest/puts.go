package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tare-bench/tare/store"
)

// statementsConcurrent has callers put the same statements, each with a body of
// its own: whoever reads must find those of one call. The IDs come in different
// orders, and some twice.
func statementsConcurrent(t *testing.T, s store.Store) {
	const size = 40
	call := func(i int) []store.Statement {
		all := make([]store.Statement, size+5)
		for n := range all {
			all[n] = aStatement((n*(i%7+1)*3 + i) % size)
			all[n].Body = fmt.Append(nil, "of call ", i)
		}
		for n := range size {
			all[n] = aStatement((n*7 + i*3) % size)
			all[n].Body = fmt.Append(nil, "of call ", i)
		}
		return all
	}
	put(t, s, call(0)...)
	whole := func() {
		var first string
		n := 0
		err := s.(store.Statements).EachStatement(t.Context(), "", 0, func(one *store.Statement) error {
			if n++; n == 1 {
				first = string(one.Body)
			}
			if string(one.Body) != first {
				return fmt.Errorf("%s beside %s", one.Body, first)
			}
			return nil
		})
		if err != nil || n != size {
			t.Errorf("a reader saw %d statements: %v", n, err)
		}
	}
	added := atomic.Int64{}
	together(func(i int) {
		if i%4 == 0 {
			whole()
			return
		}
		outcomes, err := s.(store.Statements).PutStatements(t.Context(), call(i))
		if err != nil {
			t.Errorf("PutStatements: %v", err)
		}
		for n, o := range outcomes {
			switch {
			case o == store.Added:
				added.Add(1)
			case n < size && o != store.Replaced, n >= size && o != store.Unchanged:
				t.Errorf("statement %d of call %d is %d", n, i, o)
			}
		}
	})
	if added.Load() > 0 {
		t.Errorf("%d were added that were there", added.Load())
	}
	whole()
}

// statementsFollowed has callers put statements while one asks for those above
// the last number it saw.
func statementsFollowed(t *testing.T, s store.Store) {
	const calls, size = 10, 5
	var writing sync.WaitGroup
	var done atomic.Bool
	writing.Go(func() {
		together(func(i int) {
			for n := range calls {
				all := someStatements((i*calls+n)*size, size)
				if i%8 == 0 && n == 0 { // a bulk beside the small
					all = append(all, someStatements(1_000_000+i*500, 500)...)
				}
				if _, err := s.(store.Statements).PutStatements(t.Context(), all); err != nil {
					t.Errorf("PutStatements: %v", err)
				}
			}
		})
		done.Store(true)
	})
	seen := map[string]bool{}
	for last, more := int64(0), true; more; {
		more = !done.Load() // before it asks: what is asked for last has all
		for {
			page, err := s.(store.Statements).StatementsAfter(t.Context(), "", last, 100)
			if err != nil {
				t.Fatalf("StatementsAfter: %v", err)
			}
			for _, one := range page {
				if one.Number <= last || seen[one.ID] {
					t.Fatalf("%s comes with number %d after %d", one.ID, one.Number, last)
				}
				last, seen[one.ID] = one.Number, true
			}
			if len(page) < 100 {
				break
			}
		}
	}
	writing.Wait()
	if want := callers*calls*size + callers/8*500; len(seen) != want {
		t.Errorf("who followed saw %d statements; want %d", len(seen), want)
	}
}

// statementInterrupted ends contexts while calls are made under them.
func statementInterrupted(t *testing.T, s store.Store) {
	const size = 20
	statements := s.(store.Statements)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	errs := make([][]error, callers)
	together(func(i int) {
		for n := range 10 {
			_, err := statements.PutStatements(ctx, someStatements((i*10+n)*size, size))
			errs[i] = append(errs[i], err)
			if i == callers/2 && n == 2 {
				cancel()
			}
		}
	})
	put(t, s, aStatement(1_000_000)) // so that what was taken is committed
	for i := range errs {
		for n, err := range errs[i] {
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("PutStatements: %v; want context.Canceled", err)
			}
			found := 0
			for _, one := range someStatements((i*10+n)*size, size) {
				switch _, err := statements.StatementByID(t.Context(), one.ID); {
				case err == nil:
					found++
				case !errors.Is(err, store.ErrNotFound):
					t.Fatalf("StatementByID: %v", err)
				}
			}
			if found != size && (found != 0 || err == nil) {
				t.Errorf("a call that gave %v left %d statements of %d", err, found, size)
			}
		}
	}
}

// statementsLetThrough has callers put in bulk without end, and counts how many
// of their calls are made while one small call is: the least of ten counts, since
// the small one may wait for a core.
func statementsLetThrough(t *testing.T, s store.Store) {
	const bulky, size, most = 8, 500, 4 * 8
	var bulk atomic.Int64
	var done atomic.Bool
	var putting sync.WaitGroup
	for w := range bulky {
		putting.Go(func() {
			for n := 0; !done.Load(); n++ {
				all := someStatements(1_000_000+w*size, size)
				for i := range all {
					all[i].Body = fmt.Append(nil, "round ", n)
				}
				if _, err := s.(store.Statements).PutStatements(t.Context(), all); err != nil {
					t.Errorf("PutStatements: %v", err)
					return
				}
				bulk.Add(1)
			}
		})
	}
	for bulk.Load() < bulky {
		runtime.Gosched()
	}
	least := int64(math.MaxInt64)
	for i := range 10 {
		before := bulk.Load()
		put(t, s, aStatement(i))
		least = min(least, bulk.Load()-before)
	}
	if least > most {
		t.Errorf("while one statement was put, %d calls of %d were", least, size)
	}
	done.Store(true)
	putting.Wait()
}
