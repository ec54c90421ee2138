// Package storetest is the contract of package store as tests. A store's own
// test calls Run; which parts run follows from the interfaces that the store
// implements, and one that implements none fails.
package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/tare-bench/tare/store"
)

// Run holds stores of one kind to the contract. Each test works on an open and
// empty store, which open gives and Run closes.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	found := 0
	for _, part := range parts {
		s := fresh(t, open)
		if !part.keeps(s) {
			continue
		}
		found++
		for name, test := range part.tests {
			t.Run(part.name+"/"+name, func(t *testing.T) { test(t, fresh(t, open)) })
		}
	}
	if found == 1 {
		t.Fatal("the store implements none of package store's interfaces but Store")
	}
}

type tests = map[string]func(t *testing.T, s store.Store)

var parts = []struct {
	name  string
	keeps func(store.Store) bool
	tests tests
}{
	{"Store", keeps[store.Store], storeTests},
	{"Orders", keeps[store.Orders], orderTests},
	{"OrderLists", keeps[store.OrderLists], listTests},
	{"Payments", keeps[store.Payments], paymentTests},
	{"Payments", keeps[store.Payments], refundTests},
	{"Everything", keeps[all], modelTests},
	{"Statements", keeps[store.Statements], statementTests},
	{"Statements", keeps[store.Statements], cursorTests},
	{"Statements", keeps[store.Statements], statementModelTests},
	{"Visits", keeps[store.Visits], visitTests},
}

func keeps[I any](s store.Store) bool {
	_, ok := s.(I)
	return ok
}

func fresh(t *testing.T, open func(t *testing.T) store.Store) store.Store {
	t.Helper()
	s := open(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close store: %v", err)
		}
	})
	return s
}

var storeTests = tests{
	"an open store answers a ping":       ping,
	"a ping whose context ended says so": pingContext,
}

func ping(t *testing.T, s store.Store) {
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
}

func pingContext(t *testing.T, s store.Store) {
	if err := s.Ping(ended(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("Ping: %v; want context.Canceled", err)
	}
}

// ended is a context that has ended.
func ended(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// callers is how many goroutines the tests of concurrency use.
const callers = 64

// together calls f for each caller, all at one time, and waits for them.
func together(f func(i int)) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range callers {
		wg.Go(func() {
			<-gate
			f(i)
		})
	}
	close(gate)
	wg.Wait()
}
