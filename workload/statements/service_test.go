package statements

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/rpc"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/store/memory"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

func count(t testing.TB, s store.Statements) int64 {
	t.Helper()
	n, err := s.CountStatements(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What is kept is the schema's own encoding, the same for equal statements.
func TestKeptIsTheSchemasEncoding(t *testing.T) {
	s := memory.New()
	odd := awkwardStatement()
	h := service(t, statementTier, writeLeg, s, nil)
	if _, err := rpc.Invoke(t.Context(), h, clinical.BatchWrite, &clinical.BatchWriteRequest{Statements: []clinical.MedicationStatement{*odd}}); err != nil {
		t.Fatal(err)
	}
	kept, err := s.StatementByID(t.Context(), odd.StatementID)
	if err != nil {
		t.Fatal(err)
	}
	want, err := proto.MarshalOptions{Deterministic: true}.Marshal(clinical.StatementType.ToProto(odd))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(kept.Body, want) || kept.Subject != odd.Subject.Reference || kept.Updated.IsZero() {
		t.Errorf("kept is %x of %q at %v; want %x", kept.Body, kept.Subject, kept.Updated, want)
	}
}

// A statement that cannot be read as it is kept is told of as lost, and not given.
func TestWhatCannotBeReadIsDataLoss(t *testing.T) {
	s := memory.New()
	if _, err := s.PutStatements(t.Context(), []store.Statement{{ID: "1", Subject: "Patient/1", Body: []byte("not protobuf")}}); err != nil {
		t.Fatal(err)
	}
	h := service(t, statementTier, writeLeg, s, nil)
	for m, in := range map[*rpc.Method]any{
		clinical.GetStatement: &clinical.GetStatementRequest{StatementID: "1"}, clinical.ListStatements: new(clinical.ListStatementsRequest),
		clinical.Export: new(clinical.ExportRequest),
	} {
		err := rpc.Call(t.Context(), h, m, []any{in}, func(any) error { return nil })
		if e := rpc.ErrorOf(err); e == nil || e.Code != rpc.DataLoss || strings.Contains(e.Outside, "proto") {
			t.Errorf("%s gives %v; want DATA_LOSS", m.Name, err)
		}
	}
}

// An import with more bad statements than an answer has room for ends with an
// error that says so, once what is good in the message is kept.
func TestRejectsBeyondReason(t *testing.T) {
	s := memory.New()
	var messages []any
	for range 3 {
		all := make([]clinical.MedicationStatement, maxBatch)
		copy(all, probed("good", 1))
		messages = append(messages, &clinical.ImportRequest{Statements: all})
	}
	taken := 0
	stream := &script{recv: func() (any, error) {
		taken++
		return messages[taken-1], nil
	}}
	err := service(t, statementTier, importLeg, s, nil).Handle(t.Context(), clinical.Import, stream)
	e := rpc.ErrorOf(err)
	if e == nil || e.Code != rpc.InvalidArgument || !strings.Contains(e.Message, "too many to tell") || len(stream.sent) != 0 {
		t.Errorf("gave %v and %d replies", err, len(stream.sent))
	}
	if n := count(t, s); n != 1 || taken == len(messages) {
		t.Errorf("%d statements are kept after %d messages; want the one that is good", n, taken)
	}
}

// A report has a bound in bytes too, and is never cut without a word.
func TestReportsAreCompleteOrRefused(t *testing.T) {
	e := &rpc.Error{Code: rpc.InvalidArgument, Message: "bad"}
	for range 32 {
		e.Violations = append(e.Violations, rpc.Violation{Field: strings.Repeat("f", 64), Description: strings.Repeat("d", 64), Reason: "R"})
	}
	var r rejects
	for i := range mostRejects {
		r.add(int64(i), strings.Repeat("é", 1000), e)
		if told := r.beyondReason(int64(i)) != nil; told == (len(r.all) == i+1) {
			t.Fatalf("of %d rejects %d are reported, and the call fails: %v", i+1, len(r.all), told)
		}
	}
	report := &clinical.ImportResponse{Rejected: r.all}
	if size := proto.Size(clinical.Import.Out.ToProto(report)); size > 4<<20 || size < 1<<20 {
		t.Errorf("the longest report has %d bytes", size)
	}
}

// What is escaped in JSON counts as it is sent.
func TestReportsOfAwkwardIDsAreBounded(t *testing.T) {
	for name, id := range map[string]string{
		"control characters": strings.Repeat("\x01", 200), "angle brackets": strings.Repeat("<", 200), "quotes": strings.Repeat(`"`, 200),
		"no UTF-8": strings.Repeat("\xff", longestGiven), "separators": strings.Repeat("\u2028", 200),
	} {
		var r rejects
		for i := range mostRejects {
			r.add(int64(i), id, &rpc.Error{Message: "bad", Violations: []rpc.Violation{{Field: "statement_id", Description: "must be ASCII"}}})
		}
		text, err := json.Marshal(&clinical.ImportResponse{Rejected: r.all})
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > longestTold+1<<10 {
			t.Errorf("of %s the longest report has %d bytes in JSON", name, len(text))
		}
	}
}

// script is a call's stream as a handler holds it.
type script struct {
	recv func() (any, error)
	send func(any) error
	sent []any
}

func (s *script) Recv() (any, error) { return s.recv() }

func (s *script) Send(out any) error {
	s.sent = append(s.sent, out)
	if s.send != nil {
		return s.send(out)
	}
	return nil
}

func once(in any) func() (any, error) {
	taken := false
	return func() (any, error) {
		if taken {
			return nil, io.EOF
		}
		taken = true
		return in, nil
	}
}

// An export that breaks off goes on where its last message ended, and one that
// its caller ends gives the caller's own error.
func TestExportGoesOn(t *testing.T) {
	h := service(t, statementTier, exportLeg, memory.New(), map[string]string{recordsParam: "100"})
	gone, last, next := errors.New("gone"), "", 0
	take := func(out any) {
		r := out.(*clinical.ExportResponse)
		for i := range r.Statements {
			if r.Statements[i].StatementID != keptStatement(next).StatementID {
				t.Errorf("statement %d is %q", next, r.Statements[i].StatementID)
			}
			next++
		}
		last = r.ResumeToken
	}
	broken := &script{recv: once(&clinical.ExportRequest{BatchSize: 9})}
	broken.send = func(out any) error {
		take(out)
		if len(broken.sent) == 4 {
			return gone
		}
		return nil
	}
	if err := h.Handle(t.Context(), clinical.Export, broken); !errors.Is(err, gone) || next != 4*9 {
		t.Fatalf("gave %v after %d statements", err, next)
	}
	err := rpc.Call(t.Context(), h, clinical.Export, []any{&clinical.ExportRequest{BatchSize: 9, ResumeToken: last}}, func(out any) error {
		take(out)
		return nil
	})
	if err != nil || next != 100 {
		t.Errorf("%d statements came, %v", next, err)
	}
}

// An export gives what was kept when it began, however slowly it is read.
func TestExportIsOfOneMoment(t *testing.T) {
	s := memory.New()
	h := service(t, statementTier, exportLeg, s, map[string]string{recordsParam: "50"})
	came := 0
	slow := &script{recv: once(&clinical.ExportRequest{BatchSize: 10})}
	slow.send = func(out any) error {
		came += len(out.(*clinical.ExportResponse).Statements)
		_, err := rpc.Invoke(t.Context(), h, clinical.BatchWrite, &clinical.BatchWriteRequest{Statements: probed("later", 20)})
		return err
	}
	if err := h.Handle(t.Context(), clinical.Export, slow); err != nil || came != 50 || count(t, s) != 70 {
		t.Errorf("%d statements came and %d are kept, %v", came, count(t, s), err)
	}
}

// Calls that stream end between two messages once serving does, and say how to
// go on.
func TestStreamsEndWithServing(t *testing.T) {
	for m, c := range map[*rpc.Method]struct {
		leg, says string
		in        any
	}{
		clinical.Import: {importLeg, "import again", &clinical.ImportRequest{Statements: probed("a", 2)}},
		clinical.Sync:   {syncLeg, "after sequence 7", &clinical.SyncRequest{Sequence: 7, Statements: probed("a", 2)}},
		clinical.Export: {exportLeg, "resume_token", &clinical.ExportRequest{BatchSize: 1}},
	} {
		t.Run(m.Name, func(t *testing.T) {
			s := memory.New()
			serving, stop := context.WithCancel(t.Context())
			defer stop()
			h, err := newStatementService(serving, workload.Env{Leg: c.leg, Store: s, Params: map[string]string{recordsParam: "10"}})
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			stream := &script{recv: func() (any, error) {
				if asked++; asked == 2 {
					return nil, io.EOF
				}
				stop()
				return c.in, nil
			}}
			err = h.Handle(t.Context(), m, stream)
			if e := rpc.ErrorOf(err); e == nil || e.Code != rpc.Unavailable || !strings.Contains(e.Message, c.says) {
				t.Errorf("gave %v; want UNAVAILABLE that says %q", err, c.says)
			}
			if m != clinical.Export && count(t, s) != 2 {
				t.Errorf("%d statements are kept; want what had come", count(t, s))
			}
		})
	}
}

// IDs of different seeds and places never meet.
func TestIDsAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, seed := range []uint64{0, 1, 2, 1 << 32, 1 << 63, math.MaxUint64} {
		for n := range uint64(10_000) {
			id := newID(seed, n)
			if seen[id] {
				t.Fatalf("ID %q comes twice", id)
			}
			seen[id] = true
		}
	}
	for _, id := range keptIDs(100) {
		if seen[id] {
			t.Errorf("ID %q is kept beforehand too", id)
		}
	}
}

// A mistake in the middle of an import is told with its place, and keeps the code.
func TestMistakesInAnImportArePlaced(t *testing.T) {
	s := memory.New()
	good := &clinical.ImportRequest{Statements: probed("good", 2)}
	taken := 0
	stream := &script{recv: func() (any, error) {
		if taken++; taken == 3 {
			return nil, rpc.Errorf(rpc.InvalidArgument, "parse it")
		}
		return good, nil
	}}
	e := rpc.ErrorOf(service(t, statementTier, importLeg, s, nil).Handle(t.Context(), clinical.Import, stream))
	if e == nil || e.Code != rpc.InvalidArgument || e.Message != "message 3, after 4 statements that were taken: parse it" {
		t.Errorf("gave %v", e)
	}
}
