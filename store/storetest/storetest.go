// Package storetest is the contract of package store as tests. A store's own
// test calls Run; which parts run follows from the interfaces that the store
// implements, and one that implements none fails.
package storetest

import (
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
	if found == 0 {
		t.Fatal("the store implements none of package store's interfaces")
	}
}

type tests = map[string]func(t *testing.T, s store.Store)

var parts = []struct {
	name  string
	keeps func(store.Store) bool
	tests tests
}{
	{"Orders", keeps[store.Orders], orderTests},
	{"Payments", keeps[store.Payments], paymentTests},
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
