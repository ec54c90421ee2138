package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/catalog"
	clinicalv1 "github.com/tare-bench/tare/gen/tare/clinical/v1"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/statements/records"
)

// imports is one run of the other kind: statements are imported while the
// service that keeps them is killed, and at the end each is there, once.
type imports struct {
	plan
	statements, batch int
}

// imported is what such a run came to.
type imported struct {
	imports
	took     time.Duration
	attempts map[string]int // by the method that made them
	cut      int            // calls that ended without an answer
	repeated int64          // statements that had been kept, and came again
	victims  []*victim
	wrong    []string
}

func (o *imported) sound() bool { return len(o.wrong) == 0 }

// String tells it to a person.
func (o *imported) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d statements imported in batches of %d in %v\n", o.statements, o.batch, o.took.Round(100*time.Millisecond))
	for _, v := range o.victims {
		fmt.Fprintf(&b, "  the %s was killed %d times\n", v.name, v.kills)
	}
	for _, way := range ways {
		fmt.Fprintf(&b, "  %s: %d calls\n", way, o.attempts[way])
	}
	fmt.Fprintf(&b, "  %d calls ended without an answer, and %d statements came again after they had been kept\n", o.cut, o.repeated)
	if o.sound() {
		fmt.Fprintf(&b, "kept: %d, each once and as it was sent\n", o.statements)
	}
	for _, w := range o.wrong {
		fmt.Fprintf(&b, "wrong: %s\n", w)
	}
	return b.String()
}

// run makes the store, imports into it and removes it, unless something is wrong
// with what it keeps.
func (p imports) run(ctx context.Context, c catalog.Catalog) (o *imported, err error) {
	if p.kills < 1 || p.statements < p.kills || p.batch < 1 {
		return nil, errors.New("there must be a kill, as many statements as kills, and a statement in a batch at least")
	}
	kind, err := c.Store(p.store)
	if err != nil {
		return nil, err
	}
	at, server, err := p.place()
	if err != nil {
		return nil, err
	}
	if server != nil {
		defer func() { err = errors.Join(err, server.End()) }()
	}
	address, err := kind.Apart(at, "crash-statements")
	if err != nil {
		return nil, err
	}
	service, err := start(ctx, "serve", "statements", "--store", address)
	if err != nil {
		return nil, fmt.Errorf("start the service: %w", err)
	}
	defer func() { err = errors.Join(err, service.stop()) }()
	victims := []*victim{{name: "service", process: service}}
	if server != nil {
		victims = append([]*victim{{name: "database", process: database{server}}}, victims...)
	}
	o, err = p.carryOut(ctx, service, victims)
	if err != nil {
		return nil, err
	}
	if err := service.stop(); err != nil {
		return nil, err
	}
	if err := o.count(ctx, kind, address); err != nil {
		return nil, err
	}
	if server == nil && !o.sound() {
		p.log("the store stays for you to look at: %s", address)
		return o, nil
	}
	return o, kind.Remove(ctx, address)
}

// carryOut imports while the victims are killed, and reads what is kept.
func (p imports) carryOut(ctx context.Context, on *service, victims []*victim) (*imported, error) {
	conn, err := grpc.NewClient(on.addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", on.addr, err)
	}
	defer func() { _ = conn.Close() }()
	began := time.Now()
	i := &importer{imports: p, client: clinicalv1.NewStatementServiceClient(conn), attempts: make(map[string]int)}
	importing, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- i.run(importing) }()
	killing := p.kill(importing, i, on, victims)
	if killing != nil {
		end()
	}
	err = <-ended
	end()
	if err := errors.Join(killing, err); err != nil {
		return nil, err
	}
	o := &imported{imports: p, took: time.Since(began), attempts: i.attempts, cut: i.cut, repeated: i.repeated, victims: victims}
	o.wrong = i.wrong
	wrong, err := p.export(ctx, i.client)
	o.wrong = append(o.wrong, wrong...)
	return o, err
}

// kill kills at random moments, spread over the whole import.
func (p imports) kill(ctx context.Context, i *importer, on *service, victims []*victim) error {
	random := rand.New(rand.NewPCG(p.seed, 0))
	for n := range p.kills {
		// Between these two the next kill falls; the last leaves some to import.
		from, to := p.statements*n/(p.kills+1), p.statements*(n+1)/(p.kills+1)
		if err := i.await(ctx, on, int64(from+random.IntN(max(1, to-from)))); err != nil {
			return err
		}
		wait(ctx, time.Duration(random.Int64N(int64(20*time.Millisecond))))
		v := victims[n%len(victims)]
		if err := v.die(); err != nil {
			return err
		}
		if err := v.rise(ctx); err != nil {
			return err
		}
		p.log("%d of %d kills, %d statements acknowledged", n+1, p.kills, i.acked.Load())
	}
	return nil
}

// The ways to import, of which each attempt takes the next.
var ways = []string{"Sync", "Import", "BatchWrite"}

// inStream is how many batches a stream brings at most.
const inStream = 20

// importer is a client that knows which statements are acknowledged: all before
// a batch.
type importer struct {
	imports
	client   clinicalv1.StatementServiceClient
	next     int          // first batch that is not acknowledged
	acked    atomic.Int64 // statements
	attempts map[string]int
	cut      int
	repeated int64
	wrong    []string
}

// run imports all. After a failure it goes on behind what was acknowledged.
func (i *importer) run(ctx context.Context) error {
	batches := (i.statements + i.batch - 1) / i.batch
	pause := firstPause
	for n := 0; i.next < batches; n++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		before, way := i.next, ways[n%len(ways)]
		i.attempts[way]++
		attempt, end := context.WithTimeout(ctx, stuckAfter)
		err := i.attempt(attempt, way, min(inStream, batches-i.next))
		end()
		if i.next > before {
			pause = firstPause
		}
		if err != nil { // something was killed, or will be seen to be stuck
			i.cut++
			wait(ctx, pause)
			pause = min(2*pause, longestPause)
		}
	}
	return nil
}

func (i *importer) attempt(ctx context.Context, way string, batches int) error {
	switch way {
	case "Sync":
		return i.sync(ctx, batches)
	case "Import":
		return i.stream(ctx, batches)
	}
	batch := i.statementsOf(i.next)
	out, err := i.client.BatchWrite(ctx, &clinicalv1.BatchWriteRequest{Statements: batch})
	if err != nil {
		return err
	}
	i.acknowledge(1, int64(out.Written), int64(out.Unchanged), len(out.Rejected))
	return nil
}

// sync sends batches without waiting for each, and notes each that is answered.
func (i *importer) sync(ctx context.Context, batches int) error {
	s, err := i.client.Sync(ctx)
	if err != nil {
		return err
	}
	first := i.next
	sent := make(chan error, 1)
	go func() {
		for n := range batches {
			if err := s.Send(&clinicalv1.SyncRequest{Sequence: int64(first + n), Statements: i.statementsOf(first + n)}); err != nil {
				sent <- err
				return
			}
		}
		sent <- s.CloseSend()
	}()
	for {
		out, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return <-sent
		}
		if err != nil {
			_ = <-sent // what was received says why
			return err
		}
		if out.Sequence != int64(i.next) {
			i.note("batch %d is answered where %d was next", out.Sequence, i.next)
		}
		i.acknowledge(1, int64(out.Written), int64(out.Unchanged), len(out.Rejected))
	}
}

// stream has batches acknowledged all at once.
func (i *importer) stream(ctx context.Context, batches int) error {
	s, err := i.client.Import(ctx)
	if err != nil {
		return err
	}
	for n := range batches {
		if err := s.Send(&clinicalv1.ImportRequest{Statements: i.statementsOf(i.next + n)}); err != nil {
			_, err = s.CloseAndRecv() // which tells why
			return err
		}
	}
	out, err := s.CloseAndRecv()
	if err != nil {
		return err
	}
	i.acknowledge(batches, out.Written, out.Unchanged, len(out.Rejected))
	return nil
}

// acknowledge notes that batches are kept.
func (i *importer) acknowledge(batches int, written, unchanged int64, rejected int) {
	from, to := i.next*i.batch, min((i.next+batches)*i.batch, i.statements)
	if written+unchanged != int64(to-from) || rejected > 0 {
		i.note("of statements %d to %d, %d are written, %d unchanged and %d rejected", from, to, written, unchanged, rejected)
	}
	i.next += batches
	i.repeated += unchanged
	i.acked.Store(int64(to))
}

func (i *importer) note(format string, args ...any) {
	i.wrong = append(i.wrong, fmt.Sprintf(format, args...))
}

// await awaits that so many statements are acknowledged.
func (i *importer) await(ctx context.Context, on *service, n int64) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	seen, since := int64(-1), time.Now()
	for i.acked.Load() < n {
		select {
		case <-on.run.Ended():
			return on.kill() // which tells how it ended by itself
		case <-ctx.Done():
			return context.Cause(ctx)
		case now := <-tick.C:
			if got := i.acked.Load(); got != seen {
				seen, since = got, now
			} else if now.Sub(since) > stuckAfter {
				return fmt.Errorf("no statement was acknowledged for %v; the service said:\n%s", stuckAfter, on.run.Said())
			}
		}
	}
	return nil
}

func (p imports) statementsOf(batch int) (all []*clinicalv1.MedicationStatement) {
	for n := batch * p.batch; n < min((batch+1)*p.batch, p.statements); n++ {
		all = append(all, p.statement(n))
	}
	return all
}

func (p imports) statement(n int) *clinicalv1.MedicationStatement {
	return clinical.StatementType.ToProto(records.Statement(p.seed, n)).(*clinicalv1.MedicationStatement)
}

// export reads all that is kept, and says what of it is not as it was sent.
func (p imports) export(ctx context.Context, client clinicalv1.StatementServiceClient) (wrong []string, err error) {
	s, err := client.Export(ctx, &clinicalv1.ExportRequest{})
	if err != nil {
		return nil, fmt.Errorf("export: %w", err)
	}
	missing := make(map[string]int, p.statements)
	for n := range p.statements {
		missing[records.Statement(p.seed, n).StatementID] = n
	}
	for {
		out, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		for _, got := range out.Statements {
			n, there := missing[got.StatementId]
			delete(missing, got.StatementId)
			switch {
			case !there:
				wrong = append(wrong, fmt.Sprintf("statement %s is there twice, or was never sent", got.StatementId))
			case !proto.Equal(got, p.statement(n)):
				wrong = append(wrong, fmt.Sprintf("statement %s is not as it was sent", got.StatementId))
			}
		}
	}
	for id := range missing {
		wrong = append(wrong, fmt.Sprintf("statement %s was acknowledged and is lost", id))
	}
	return wrong, nil
}

// count holds the number of what the store itself keeps against what was sent.
func (o *imported) count(ctx context.Context, kind store.Kind, address string) (err error) {
	s, err := kind.Open(ctx, address)
	if err != nil {
		return fmt.Errorf("open the store: %w", err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	all, ok := s.(store.Statements)
	if !ok {
		return fmt.Errorf("a store of %s keeps no statements", kind.Spec().Name)
	}
	n, err := all.CountStatements(ctx)
	if err == nil && n != int64(o.statements) {
		o.wrong = append(o.wrong, fmt.Sprintf("the store keeps %d statements", n))
	}
	return err
}
