package storetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tare-bench/tare/store"
)

// What tells a test binary that it is the process to be killed: what its IDs
// begin with, and the address.
const (
	writesAs = "TARE_STORETEST_WRITES_AS"
	writesTo = "TARE_STORETEST_WRITES_TO"
)

const (
	kills        = 4
	childWriters = 8
	childUsers   = 3
	childOpening = math.MaxInt64
)

// Outlives holds the store at an address to what package store says of a crash.
// It starts the test that calls it again as a process of its own, which writes
// and says each record that was acknowledged, kills it at a drawn moment, and
// looks for all of them: they must be there, and no others but whole ones.
func Outlives(t *testing.T, kind store.Kind, address string) {
	if prefix := os.Getenv(writesAs); prefix != "" {
		writeUntilKilled(t, kind, os.Getenv(writesTo), prefix)
		return
	}
	r := rand.New(rand.NewPCG(2026, 12))
	last := int64(0) // the newest revision that was found
	for round := range kills {
		prefix := fmt.Sprintf("round%d", round)
		said := killed(t, address, prefix, 1+r.IntN(400))
		t.Logf("round %d: killed after %d acknowledgements", round, len(said))
		func() {
			s, err := kind.Open(t.Context(), address)
			if err != nil {
				t.Fatalf("open after a crash: %v", err)
			}
			defer func() {
				if err := s.Close(); err != nil {
					t.Errorf("close store: %v", err)
				}
			}()
			for _, ack := range said {
				acknowledged(t, s.(all), ack)
			}
			last = whole(t, s.(all), last)
			balanced(t, s.(all), prefix)
			wholeCalls(t, s)
		}()
	}
}

// killed starts the process, and kills it once it has said so many lines. It
// gives all that it said.
func killed(t *testing.T, address, prefix string, after int) (said []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = from.Close() }() // read to its end
	c := exec.CommandContext(t.Context(), self, "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$", "-test.timeout=2m")
	c.Env = append(os.Environ(), writesAs+"="+prefix, writesTo+"="+address)
	c.ExtraFiles = []*os.File{to}
	var log strings.Builder
	c.Stdout, c.Stderr = &log, &log
	if err := errors.Join(c.Start(), to.Close()); err != nil {
		t.Fatalf("start the process to kill: %v", err)
	}
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		if said = append(said, lines.Text()); len(said) == after {
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = c.Wait() // it was killed
	if len(said) < after {
		t.Fatalf("the process ended by itself after %d acknowledgements of %d:\n%s", len(said), after, &log)
	}
	return said
}

// writeUntilKilled says what was acknowledged to the pipe that it was given.
func writeUntilKilled(t *testing.T, kind store.Kind, address, prefix string) {
	s, err := kind.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	out := os.NewFile(3, "acknowledgements")
	var writers sync.WaitGroup
	for w := range childWriters {
		writers.Go(func() {
			for n := 0; ; n++ {
				if err := writeOne(t.Context(), s.(all), fmt.Sprintf("%s.%d.%d", prefix, w, n), n, out); err != nil {
					t.Errorf("write: %v", err)
					return
				}
			}
		})
	}
	writers.Wait()
}

// writeOne adds, charges, gives back and settles one order, as its ID tells.
func writeOne(ctx context.Context, s all, id string, n int, out *os.File) error {
	say := func(what string, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		_, err = out.WriteString(what + " " + id + "\n") // at once: the pipe holds it when the process is killed
		return err
	}
	o, p, r, end := told(id)
	_, err := s.AddOrder(ctx, o)
	if err := say("added", err); err != nil {
		return err
	}
	_, err = s.Charge(ctx, p, childOpening)
	if err := say("charged", err); err != nil {
		return err
	}
	if n%3 == 0 {
		_, err = s.Refund(ctx, r)
		if err := say("refunded", err); err != nil {
			return err
		}
	}
	_, err = s.SettleOrder(ctx, o.ID, end)
	if err := say("settled", err); err != nil {
		return err
	}
	_, err = s.PutStatements(ctx, toldStatements(id))
	if err := say("put", err); err != nil {
		return err
	}
	v, err := s.AddVisit(ctx, store.Visit{ID: id, Patient: o.User, Procedures: []string{id}, Created: noon})
	if err := say("visited", err); err != nil {
		return err
	}
	v.Status, v.SignedBy = store.VisitSigned, id
	_, err = s.ChangeVisit(ctx, v)
	return say("signed", err)
}

// told is all that is kept of an order, which its ID tells, so that a torn
// record shows.
func told(id string) (store.Order, store.Payment, store.Refund, store.Settlement) {
	seed := uint64(0)
	for _, c := range id {
		seed = seed*31 + uint64(c)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	round, _, _ := strings.Cut(id, ".")
	o := store.Order{ID: id, User: fmt.Sprint(round, " user ", r.IntN(childUsers)), Total: store.Money{Currency: "EUR", Minor: 2 + r.Int64N(1000)}, Created: noon}
	size := r.IntN(5)
	if r.IntN(20) == 0 {
		size = 1000
	}
	for range size {
		o.Lines = append(o.Lines, store.OrderLine{SKU: fmt.Sprint("S", r.Uint32()), Title: strings.Repeat("é", r.IntN(100)), Quantity: r.Int32(), UnitPriceMinor: r.Int64()})
	}
	return o, store.Payment{ID: id, User: o.User, Amount: o.Total, Created: noon}, store.Refund{PaymentID: id, ID: "r", Minor: 1}, paid(o.Total.Minor)
}

// acknowledged looks for what the killed process said that was kept.
func acknowledged(t *testing.T, s all, ack string) {
	t.Helper()
	what, id, _ := strings.Cut(ack, " ")
	o, err := s.OrderByID(t.Context(), id)
	if err != nil {
		t.Errorf("%s: OrderByID: %v", ack, err)
	}
	if slices.Contains([]string{"put", "visited", "signed"}, what) {
		acknowledgedCare(t, s.(store.Store), what, id)
	}
	if what == "settled" && o.Status != store.OrderPaid {
		t.Errorf("%s, and stands at %d", ack, o.Status)
	}
	if what == "added" {
		return
	}
	p, err := s.PaymentByID(t.Context(), id)
	if err != nil {
		t.Errorf("%s: PaymentByID: %v", ack, err)
	}
	if what == "refunded" && p.Refunded != 1 {
		t.Errorf("%s, and of it %d", ack, p.Refunded)
	}
}

// whole holds every order that there is to what its ID tells, and gives the
// newest revision.
func whole(t *testing.T, s all, found int64) int64 {
	t.Helper()
	before, orders := found, 0
	for {
		page, err := s.ChangesAfter(t.Context(), found, 100)
		if err != nil {
			t.Fatalf("ChangesAfter: %v", err)
		}
		if len(page) == 0 {
			break
		}
		for _, o := range page {
			found = o.Revision
			orders++
			wholeOrder(t, o)
		}
	}
	if found == before {
		t.Errorf("no order has a revision above %d", before)
	}
	t.Logf("found %d orders that are whole", orders)
	return found
}

func wholeOrder(t *testing.T, o store.Order) {
	t.Helper()
	want, _, _, end := told(o.ID)
	want.Number, want.Revision, want.Status, want.Updated = o.Number, o.Revision, store.OrderPending, want.Created
	if o.Status != store.OrderPending {
		want.Status, want.Balance, want.Updated = end.Status, end.Balance, end.At
	}
	if d := cmp.Diff(want, o, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("order %s is torn (-want +got):\n%s", o.ID, d)
	}
}

// balanced holds each account to the payments that there are of it.
func balanced(t *testing.T, s all, prefix string) {
	t.Helper()
	left := map[string]int64{}
	for before := int64(math.MaxInt64); ; {
		page, err := s.OrdersBefore(t.Context(), "", before, 500)
		if err != nil {
			t.Fatalf("OrdersBefore: %v", err)
		}
		if len(page) == 0 {
			break
		}
		for _, o := range page {
			before = o.Number
			p, err := s.PaymentByID(t.Context(), o.ID)
			switch {
			case err == nil:
				left[o.User] -= p.Amount.Minor - p.Refunded
			case !errors.Is(err, store.ErrNotFound):
				t.Errorf("PaymentByID %s: %v", o.ID, err)
			case o.Status == store.OrderPaid:
				t.Errorf("order %s is paid by no payment", o.ID)
			}
		}
	}
	for user, spent := range left {
		if !strings.HasPrefix(user, prefix+" ") {
			continue // looked at in its round
		}
		p := store.Payment{ID: "probe " + user, User: user, Amount: store.Money{Currency: "EUR", Minor: 1}, Created: noon}
		if balance, err := s.Charge(t.Context(), p, childOpening); err != nil || balance != childOpening+spent-1 {
			t.Errorf("the account of %s holds %d, %v; its payments leave %d", user, balance, err, childOpening+spent-1)
		}
	}
}
