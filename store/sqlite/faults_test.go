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
)

func aPayment(id string) store.Payment {
	return store.Payment{ID: id, User: "u", Amount: store.Money{Currency: "EUR", Minor: 1}}
}

func large(id string) store.Order {
	o := store.Order{ID: id, User: "u"}
	for range 1000 {
		o.Lines = append(o.Lines, store.OrderLine{SKU: "S", Title: strings.Repeat("x", 100)})
	}
	return o
}

func TestAFullDisk(t *testing.T) {
	s := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	defer s.Close()
	limitPages := func(n int) {
		if _, err := s.write.conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
			t.Fatal(err)
		}
	}
	limitPages(200)
	kept := map[string]bool{}
	var failed error
	for n := 0; failed == nil && n < 100; n++ {
		var mu sync.Mutex
		var all sync.WaitGroup
		for w := range 4 {
			all.Go(func() {
				o := large(fmt.Sprintf("%d.%d", n, w))
				_, err := s.AddOrder(t.Context(), o)
				mu.Lock()
				defer mu.Unlock()
				if kept[o.ID] = err == nil; err != nil {
					failed = err
				}
			})
		}
		all.Wait()
	}
	if !errors.Is(failed, store.ErrUnavailable) || !strings.Contains(failed.Error(), "no room: make some") || !strings.Contains(failed.Error(), s.path) {
		t.Fatalf("a full disk gives %v; want ErrUnavailable, the file and the remedy", failed)
	}
	for id, is := range kept {
		if _, err := s.OrderByID(t.Context(), id); is != (err == nil) || !is && !errors.Is(err, store.ErrNotFound) {
			t.Errorf("order %s, kept %v: %v", id, is, err)
		}
	}
	limitPages(1_000_000)
	for id := range kept {
		if _, err := s.AddOrder(t.Context(), large(id)); err != nil {
			t.Errorf("with room again: %v", err)
		}
	}
	all, err := s.ChangesAfter(t.Context(), 0, 1000)
	if err != nil || len(all) != len(kept) {
		t.Errorf("%d orders are kept, %v; want %d", len(all), err, len(kept))
	}
}

func TestAnotherProcessHoldsTheLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	s, err := open(t.Context(), "sqlite:"+file, 20*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Charge(t.Context(), aPayment("a"), 10); err != nil {
		t.Fatal(err)
	}
	other := raw(t, file, "BEGIN IMMEDIATE")
	for what, do := range map[string]func(context.Context) error{
		"Ping":   s.Ping,
		"Charge": func(ctx context.Context) error { _, err := s.Charge(ctx, aPayment("b"), 10); return err },
	} {
		if err := do(t.Context()); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), "another process holds its lock") {
			t.Errorf("%s: %v; want ErrUnavailable and the remedy", what, err)
		}
	}
	if p, err := s.PaymentByID(t.Context(), "a"); err != nil || p.ID != "a" {
		t.Errorf("a reader waits for no writer, and has %+v, %v", p, err)
	}
	if _, err := other.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if balance, err := s.Charge(t.Context(), aPayment("b"), 10); err != nil || balance != 8 {
		t.Errorf("once the lock is free: %d, %v; want 8", balance, err)
	}
}

// Two processes may keep their records in one file.
func TestTwoStoresOfOneFile(t *testing.T) {
	address := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	var stores [2]*Store
	var opening sync.WaitGroup
	for i := range stores {
		opening.Go(func() { stores[i] = opened(t, address) }) // at one time: one migrates
	}
	opening.Wait()
	var writing sync.WaitGroup
	for i, s := range stores {
		defer s.Close()
		for n := range 40 {
			writing.Go(func() {
				if _, err := s.AddOrder(t.Context(), store.Order{ID: fmt.Sprintf("%d.%d", i, n), User: "u"}); err != nil {
					t.Error(err)
				}
				if _, err := s.Charge(t.Context(), aPayment(fmt.Sprintf("%d.%d", i, n/2)), 1000); err != nil {
					t.Error(err)
				}
			})
		}
	}
	writing.Wait()
	if balance, err := stores[0].Charge(t.Context(), aPayment("after"), 1000); err != nil || balance != 1000-41 {
		t.Errorf("the account holds %d, %v; want %d", balance, err, 1000-41)
	}
	all, err := stores[0].ChangesAfter(t.Context(), 0, 1000)
	if err != nil || len(all) != 80 {
		t.Fatalf("%d orders are kept, %v; want 80", len(all), err)
	}
	for i, o := range all {
		if o.Number != int64(i+1) || o.Revision != int64(i+1) {
			t.Errorf("order %d has number %d and revision %d", i+1, o.Number, o.Revision)
		}
	}
}

// broken is an operation that changes something and then fails.
type broken struct{}

var errBroken = errors.New("broken")

func (broken) size() int { return 0 }

func (broken) run(w *writer) error {
	p := &charge{payment: aPayment("of the broken"), opening: 10}
	return errors.Join(p.run(w), errBroken)
}

func TestOneFailsAlone(t *testing.T) {
	s := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	defer s.Close()
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			if i%10 == 3 {
				if err := s.do(t.Context(), broken{}); !errors.Is(err, errBroken) {
					t.Errorf("what fails: %v; want its error", err)
				}
			} else if _, err := s.Charge(t.Context(), aPayment(fmt.Sprint(i)), 1000); err != nil {
				t.Errorf("what shares its commit: %v", err)
			}
		})
	}
	all.Wait()
	if balance, err := s.Charge(t.Context(), aPayment("after"), 1000); err != nil || balance != 1000-46 {
		t.Errorf("the account holds %d, %v; want %d", balance, err, 1000-46)
	}
	if p, err := s.PaymentByID(t.Context(), "of the broken"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what failed left %+v, %v", p, err)
	}
}

func TestTextThatNoDatabaseKeeps(t *testing.T) {
	s := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	defer s.Close()
	for _, bad := range []string{"a\x00b", "\xff"} {
		if _, err := s.AddOrder(t.Context(), store.Order{ID: "a", User: bad}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("AddOrder for %q: %v; want ErrInvalid", bad, err)
		}
		if _, err := s.Charge(t.Context(), aPayment(bad), 10); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("Charge %q: %v; want ErrInvalid", bad, err)
		}
		if o, err := s.OrderByID(t.Context(), bad); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("OrderByID(%q) = %+v, %v; want ErrNotFound", bad, o, err)
		}
	}
}

func TestAStoreThatIsClosed(t *testing.T) {
	s := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for what, err := range map[string]error{
		"Ping":   s.Ping(t.Context()),
		"Charge": func() error { _, err := s.Charge(t.Context(), aPayment("a"), 10); return err }(),
		"read":   func() error { _, err := s.PaymentByID(t.Context(), "a"); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: %v; want an error that says so", what, err)
		}
	}
}
