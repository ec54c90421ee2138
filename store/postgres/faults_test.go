package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/postgres/postgrestest"
)

func aPayment(id string) store.Payment {
	return store.Payment{ID: id, User: "u", Amount: store.Money{Currency: "EUR", Minor: 1}}
}

const opening = 1_000_000

// A transaction that has drawn a revision keeps later ones from being visible
// before it.
func TestNoRevisionIsVisibleBeforeALowerOne(t *testing.T) {
	address := apart(t, postgrestest.Address(t), "")
	s := opened(t, address)
	defer s.Close()
	slow := session(t, address, "BEGIN")
	if _, err := slow.Exec(t.Context(), s.sql.lock, lockKey(s.schema, "revisions")); err != nil {
		t.Fatal(err)
	}
	var a addColumns
	a.add(&orderRow{order: store.Order{ID: "slow"}, lines: "[]"})
	if _, err := slow.Exec(t.Context(), s.sql.add, a.ids, a.users, a.lines, a.currencies, a.totals, a.created); err != nil {
		t.Fatal(err)
	}
	added := make(chan error, 1)
	go func() {
		_, err := s.AddOrder(t.Context(), store.Order{ID: "quick"})
		added <- err
	}()
	watch := session(t, address)
	for waiting := 0; waiting == 0; {
		select {
		case err := <-added:
			t.Fatalf("a later order did not wait for the first to be visible: %v", err)
		default:
		}
		if err := watch.QueryRow(t.Context(), "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := slow.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-added; err != nil {
		t.Fatal(err)
	}
	all, err := s.ChangesAfter(t.Context(), 0, 10)
	if err != nil || len(all) != 2 || all[0].ID != "slow" {
		t.Errorf("changes are %+v, %v; want the slow one first", all, err)
	}
}

// What one change alone is at fault for fails that alone: here, a user whose name
// no index holds.
func TestOneFailsAlone(t *testing.T) {
	s := opened(t, apart(t, postgrestest.Address(t), ""))
	defer s.Close()
	var name strings.Builder
	for i := range 5000 { // long, and not to be compressed
		name.WriteRune(rune('a' + i*i*31%4099))
	}
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			o, p := store.Order{ID: fmt.Sprint(i), User: "u"}, aPayment(fmt.Sprint(i))
			if i%10 == 3 {
				o.User, p.User = name.String(), name.String()
			}
			_, err := s.AddOrder(t.Context(), o)
			_, err2 := s.Charge(t.Context(), p, opening)
			if bad := i%10 == 3; bad != (err != nil) || bad != (err2 != nil) {
				t.Errorf("change %d: %v, %v; bad: %v", i, err, err2, bad)
			}
		})
	}
	all.Wait()
	if balance, err := s.Charge(t.Context(), aPayment("after"), opening); err != nil || balance != opening-37 {
		t.Errorf("the account holds %d, %v; want %d", balance, err, opening-37)
	}
	if all, err := s.ChangesAfter(t.Context(), 0, 100); err != nil || len(all) != 36 {
		t.Errorf("%d orders are kept, %v; want 36", len(all), err)
	}
}

func TestTextThatNoDatabaseKeeps(t *testing.T) {
	s := opened(t, apart(t, postgrestest.Address(t), ""))
	defer s.Close()
	for _, bad := range []string{"a\x00b", "\xff"} {
		if _, err := s.AddOrder(t.Context(), store.Order{ID: "a", Lines: []store.OrderLine{{Title: bad}}}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("AddOrder with %q: %v; want ErrInvalid", bad, err)
		}
		if _, err := s.Charge(t.Context(), aPayment(bad), 10); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("Charge %q: %v; want ErrInvalid", bad, err)
		}
		if _, err := s.Refund(t.Context(), store.Refund{PaymentID: "a", ID: bad}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("Refund %q: %v; want ErrInvalid", bad, err)
		}
		if o, err := s.OrderByID(t.Context(), bad); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("OrderByID(%q) = %+v, %v; want ErrNotFound", bad, o, err)
		}
		if _, err := s.SettleOrder(t.Context(), bad, store.Settlement{Status: store.OrderPaid}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("SettleOrder(%q): %v; want ErrNotFound", bad, err)
		}
		if all, err := s.OrdersBefore(t.Context(), bad, 1, 1); err != nil || len(all) > 0 {
			t.Errorf("OrdersBefore(%q): %v, %v", bad, all, err)
		}
	}
}

// Connections that the server ends are nobody's failure.
func TestConnectionsThatEnd(t *testing.T) {
	address := apart(t, postgrestest.Address(t), "application_name=ended")
	s := opened(t, address)
	defer s.Close()
	killer := session(t, postgrestest.Address(t))
	var done atomic.Bool
	var killing, writing sync.WaitGroup
	killing.Go(func() {
		for !done.Load() {
			if _, err := killer.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended' AND random() < 0.02"); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for w := range 8 {
		writing.Go(func() {
			for n := range 50 {
				id := fmt.Sprintf("%d.%d", w, n)
				if err := addAndPay(t.Context(), s, id); err != nil && !errors.Is(err, store.ErrUnavailable) {
					t.Errorf("%s: %v", id, err)
				}
			}
		})
	}
	writing.Wait()
	done.Store(true)
	killing.Wait()
	for w := range 8 { // what was acknowledged is there, and what was not is taken now
		for n := range 50 {
			if err := addAndPay(t.Context(), s, fmt.Sprintf("%d.%d", w, n)); err != nil {
				t.Errorf("again: %v", err)
			}
		}
	}
	if balance, err := s.Charge(t.Context(), aPayment("after"), opening); err != nil || balance != opening-401 {
		t.Errorf("the account holds %d, %v; want %d", balance, err, opening-401)
	}
}

func addAndPay(ctx context.Context, s *Store, id string) error {
	if _, err := s.AddOrder(ctx, store.Order{ID: id}); err != nil {
		return fmt.Errorf("add: %w", err)
	}
	if _, err := s.Charge(ctx, aPayment(id), opening); err != nil {
		return fmt.Errorf("charge: %w", err)
	}
	if _, err := s.SettleOrder(ctx, id, store.Settlement{Status: store.OrderPaid}); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	_, err := s.OrderByID(ctx, id)
	return err
}

func TestServerThatStops(t *testing.T) {
	server := postgrestest.New(t) // with fsync: what is acknowledged must survive
	s := opened(t, server.Address())
	defer s.Close()
	for what, stop := range map[string]func() error{"stops": server.Stop, "crashes": server.Crash} {
		var acknowledged sync.Map
		var writing sync.WaitGroup
		busy := make(chan struct{}, 1000)
		for w := range 8 {
			writing.Go(func() {
				for n := 0; ; n++ {
					id := fmt.Sprintf("%s.%d.%d", what, w, n)
					err := addAndPay(t.Context(), s, id)
					switch {
					case err == nil:
						acknowledged.Store(id, true)
						select {
						case busy <- struct{}{}:
						default:
						}
					case errors.Is(err, store.ErrUnavailable) && strings.Contains(err.Error(), "database postgres at "+server.Folder()):
						return
					default:
						t.Errorf("a server that %s: %v", what, err)
						return
					}
				}
			})
		}
		for range 100 {
			<-busy
		}
		if err := stop(); err != nil {
			t.Fatal(err)
		}
		writing.Wait()
		if err := s.Ping(t.Context()); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Ping where the server %s: %v; want ErrUnavailable", what, err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("Ping after it %s and starts: %v", what, err)
		}
		acknowledged.Range(func(id, _ any) bool {
			if o, err := s.OrderByID(t.Context(), id.(string)); err != nil || o.Status != store.OrderPaid {
				t.Errorf("order %s was acknowledged before the server %s, and is %+v, %v", id, what, o, err)
			}
			return true
		})
		if err := addAndPay(t.Context(), s, what+" after"); err != nil {
			t.Error(err)
		}
	}
}

// deaf is a way to the server that can lose an answer, and the connection too.
type deaf struct {
	lose atomic.Int32 // how many answers
	lost atomic.Int32
}

// between serves a socket that leads to another, and gives its folder.
func (d *deaf) between(t *testing.T, folder string) string {
	const name = ".s.PGSQL.5432"
	own := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(own, name))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		all.Wait()
	})
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", filepath.Join(folder, name))
			if err != nil {
				_ = client.Close()
				continue
			}
			all.Go(func() { d.carry(server, client, false) })
			all.Go(func() { d.carry(client, server, true) })
		}
	})
	return own
}

func (d *deaf) carry(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	b := make([]byte, 1<<20)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		// The last message of an answer says that the transaction has ended.
		if ended := n >= 6 && string(b[n-6:n]) == "Z\x00\x00\x00\x05I"; answers && ended && d.lose.Add(-1) >= 0 {
			d.lost.Add(1)
			return
		}
		if _, err := to.Write(b[:n]); err != nil {
			return
		}
	}
}

// A commit of which no answer came is asked for again, and is then found made.
func TestAnAnswerThatIsLost(t *testing.T) {
	server := postgrestest.New(t, "fsync=off")
	var way deaf
	s := opened(t, "postgres://postgres@/postgres?host="+way.between(t, server.Folder()))
	defer s.Close()
	for i := range 5 {
		id := fmt.Sprint(i)
		for what, change := range map[string]func() error{
			"AddOrder": func() error { _, err := s.AddOrder(t.Context(), store.Order{ID: id}); return err },
			"Charge":   func() error { _, err := s.Charge(t.Context(), aPayment(id), opening); return err },
		} {
			lost := way.lost.Load()
			way.lose.Store(1)
			if err := change(); err != nil {
				t.Errorf("%s whose answer is lost: %v", what, err)
			}
			if way.lost.Load() == lost {
				t.Errorf("%s lost no answer: this tests nothing", what)
			}
		}
	}
	if balance, err := s.Charge(t.Context(), aPayment("after"), opening); err != nil || balance != opening-6 {
		t.Errorf("the account holds %d, %v; want %d", balance, err, opening-6)
	}
	if all, err := s.ChangesAfter(t.Context(), 0, 10); err != nil || len(all) != 5 {
		t.Errorf("%d orders are kept, %v; want 5", len(all), err)
	}
}

func TestAStoreThatIsClosed(t *testing.T) {
	s := opened(t, apart(t, postgrestest.Address(t), ""))
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

// A refund finds a payment whose account was not locked, since another process
// charged it in between: it came before the payment.
func TestARefundThatOvertakesItsPayment(t *testing.T) {
	l := newLedger()
	l.payments["p"] = &paid{paymentRow: paymentRow{aPayment("p"), opening - 1}, kept: true}
	r := &refund{given: store.Refund{PaymentID: "p", ID: "r"}}
	r.apply(l)
	if !errors.Is(r.answer, store.ErrNotFound) || len(l.refunds) > 0 {
		t.Errorf("it is answered by %v, %+v, want %v", r.answer, r.made, store.ErrNotFound)
	}
}

// The first payment of an account waits for the disk as others do, where the
// server's default is not to.
func TestAFirstPaymentIsSynced(t *testing.T) {
	s := opened(t, apart(t, postgrestest.Address(t), "synchronous_commit=off"))
	defer s.Close()
	err := s.writes.AcquireFunc(t.Context(), func(c *pgxpool.Conn) error {
		if _, err := s.readLedger(t.Context(), c.Conn(), []paymentChange{&charge{payment: aPayment("first")}}); err != nil {
			return err
		}
		var set string
		err := c.QueryRow(t.Context(), "SELECT current_setting('synchronous_commit')").Scan(&set)
		if set != "on" {
			t.Errorf("synchronous_commit is %q, want on", set)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
