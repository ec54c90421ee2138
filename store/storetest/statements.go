package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/store"
)

var statementTests = tests{
	"a statement comes back as it was put":               statementComesBack,
	"an unknown ID is not found":                         statementNotFound,
	"what is put again is replaced or unchanged":         statementAgain,
	"of two with one ID in a call the later wins":        statementTwice,
	"a call may be empty, small or large":                statementSizes,
	"numbers grow":                                       statementNumbers,
	"a body that changes later stays":                    statementKeepsNoReference,
	"statements are listed by subject and number":        statementsListed,
	"of statements put at one time the calls stay whole": statementsConcurrent,
	"a small call waits for no more than a few large":    statementsLetThrough,
	"who follows numbers misses none":                    statementsFollowed,
	"an ended context is returned and none is put":       statementContext,
	"a call whose context ends is whole or none":         statementInterrupted,
	"what is no text is kept as it is, or refused":       statementOfNoText,
}

// likeStatements compares bodies as bytes, since a large one takes cmp seconds.
var likeStatements = cmp.Options{
	cmp.Comparer(bytes.Equal),
	cmp.FilterValues(func(a, b []store.Statement) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore()),
}

// aStatement is a statement of its own for each i.
func aStatement(i int) store.Statement {
	return store.Statement{
		ID: fmt.Sprintf("statement-%06d", i), Subject: fmt.Sprint("Patient/", i%7),
		Body:    fmt.Appendf(nil, `{"medication":"%d mg"}`, i),
		Updated: noon.Add(time.Duration(i) * time.Second),
	}
}

func someStatements(from, n int) []store.Statement {
	all := make([]store.Statement, n)
	for i := range all {
		all[i] = aStatement(from + i)
	}
	return all
}

func put(t *testing.T, s store.Store, all ...store.Statement) []store.Outcome {
	t.Helper()
	outcomes, err := s.(store.Statements).PutStatements(t.Context(), all)
	if err != nil {
		t.Fatalf("PutStatements: %v", err)
	}
	if len(outcomes) != len(all) {
		t.Fatalf("PutStatements of %d gives %d outcomes", len(all), len(outcomes))
	}
	return outcomes
}

// putAs puts statements and holds what became of each against want.
func putAs(t *testing.T, s store.Store, want store.Outcome, all ...store.Statement) {
	t.Helper()
	for i, got := range put(t, s, all...) {
		if got != want {
			t.Fatalf("statement %d, %s, is %d; want %d", i, all[i].ID, got, want)
		}
	}
}

func hasStatement(t *testing.T, s store.Store, want store.Statement) store.Statement {
	t.Helper()
	got, err := s.(store.Statements).StatementByID(t.Context(), want.ID)
	if err != nil {
		t.Fatalf("StatementByID %q: %v", want.ID, err)
	}
	if want.Number == 0 {
		want.Number = got.Number
	}
	if d := cmp.Diff(want, got, likeStatements); d != "" {
		t.Errorf("statement %q (-want +got):\n%s", want.ID, d)
	}
	return got
}

func statementComesBack(t *testing.T, s store.Store) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	all := []store.Statement{
		aStatement(1),
		{ID: "bare", Updated: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)},
		{ID: "every byte", Subject: "s", Body: every, Updated: time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)},
		{ID: "large", Subject: strings.Repeat("長", 85), Body: bytes.Repeat(every, 5000), Updated: noon},
	}
	for _, text := range awkward {
		all = append(all, store.Statement{ID: "awkward " + text, Subject: text, Body: []byte(text), Updated: noon})
	}
	putAs(t, s, store.Added, all...)
	for i := range all {
		all[i] = hasStatement(t, s, all[i])
	}
	listed, err := s.(store.Statements).StatementsAfter(t.Context(), "", 0, len(all)+1)
	if d := cmp.Diff(all, listed, likeStatements); err != nil || d != "" {
		t.Errorf("StatementsAfter: %v (-want +got):\n%s", err, d)
	}
	if d := cmp.Diff(all, each(t, s, "", 0), likeStatements); d != "" {
		t.Errorf("EachStatement (-want +got):\n%s", d)
	}
	putAs(t, s, store.Unchanged, all...)
	putAs(t, s, store.Unchanged, store.Statement{ID: "bare", Body: []byte{}})
}

func statementNotFound(t *testing.T, s store.Store) {
	put(t, s, aStatement(1))
	for _, id := range []string{"", "statement", "statement-0000011", "STATEMENT-000001", "statement-000001 "} {
		if got, err := s.(store.Statements).StatementByID(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("StatementByID(%q) = %+v, %v; want ErrNotFound", id, got, err)
		}
	}
}

func statementAgain(t *testing.T, s store.Store) {
	putAs(t, s, store.Added, someStatements(0, 3)...)
	first := hasStatement(t, s, aStatement(1))
	later := first
	later.Updated, later.Number = first.Updated.Add(time.Hour), 99 // neither is content
	putAs(t, s, store.Unchanged, later)
	hasStatement(t, s, first)
	for what, change := range map[string]func(*store.Statement){
		"subject":        func(s *store.Statement) { s.Subject = "Patient/other" },
		"body":           func(s *store.Statement) { s.Body = []byte("other") },
		"longer body":    func(s *store.Statement) { s.Body = append(bytes.Clone(s.Body), 0) },
		"empty body":     func(s *store.Statement) { s.Body = nil },
		"both":           func(s *store.Statement) { s.Subject, s.Body = "both", []byte("both") },
		"swapped length": func(s *store.Statement) { s.Subject, s.Body = "bot", []byte("hboth") },
	} {
		later.Updated = later.Updated.Add(time.Minute)
		change(&later)
		if got := put(t, s, later); got[0] != store.Replaced {
			t.Errorf("with another %s it is %d; want Replaced", what, got[0])
		}
		later.Number = first.Number
		hasStatement(t, s, later)
	}
	if n, err := s.(store.Statements).CountStatements(t.Context()); err != nil || n != 3 {
		t.Errorf("CountStatements = %d, %v; want 3", n, err)
	}
}

func statementTwice(t *testing.T, s store.Store) {
	as := func(id, body string, hour int) store.Statement {
		return store.Statement{ID: id, Subject: "s", Body: []byte(body), Updated: noon.Add(time.Duration(hour) * time.Hour)}
	}
	putAs(t, s, store.Added, as("kept", "1", 0), as("other", "1", 0))
	got := put(t, s,
		as("kept", "1", 1), as("new", "1", 1), as("kept", "2", 2), as("new", "1", 2), as("kept", "1", 3),
		as("other", "2", 3), as("new", "2", 4), as("other", "2", 4), as("kept", "1", 5), as("new", "3", 6))
	want := []store.Outcome{
		store.Unchanged, store.Added, store.Replaced, store.Unchanged, store.Replaced,
		store.Replaced, store.Replaced, store.Unchanged, store.Unchanged, store.Replaced,
	}
	if !slices.Equal(got, want) {
		t.Errorf("they are %v; want %v", got, want)
	}
	kept, other := hasStatement(t, s, as("kept", "1", 3)), hasStatement(t, s, as("other", "2", 3))
	if last := hasStatement(t, s, as("new", "3", 6)); kept.Number >= other.Number || other.Number >= last.Number {
		t.Errorf("their numbers are %d, %d and %d", kept.Number, other.Number, last.Number)
	}
	same := slices.Repeat([]store.Statement{as("same", "1", 0)}, 500)
	if got := put(t, s, same...); got[0] != store.Added || slices.ContainsFunc(got[1:], func(o store.Outcome) bool { return o != store.Unchanged }) {
		t.Errorf("500 times the same is %v", got)
	}
}

func statementSizes(t *testing.T, s store.Store) {
	put(t, s)
	from := 0
	for _, n := range []int{1, 2, 31, 500, 5000} {
		all := someStatements(from, n)
		from += n
		putAs(t, s, store.Added, all...)
		for i := range all {
			all[i].Body = append(all[i].Body, 'x')
		}
		putAs(t, s, store.Replaced, all...)
		putAs(t, s, store.Unchanged, all...)
		if kept, err := s.(store.Statements).CountStatements(t.Context()); err != nil || kept != int64(from) {
			t.Fatalf("CountStatements = %d, %v; want %d", kept, err, from)
		}
	}
}

func statementNumbers(t *testing.T, s store.Store) {
	last := int64(0)
	for call := range 3 { // IDs that fall, so that no order but that of the call gives them
		all := someStatements(100-10*call, 10)
		slices.Reverse(all)
		put(t, s, all...)
		for _, one := range all {
			got := hasStatement(t, s, one)
			if got.Number <= last {
				t.Fatalf("%s has number %d after %d", got.ID, got.Number, last)
			}
			last = got.Number
		}
	}
}

func statementKeepsNoReference(t *testing.T, s store.Store) {
	given := aStatement(1)
	put(t, s, given)
	for range 2 {
		clear(given.Body)
		hasStatement(t, s, aStatement(1))
		given, _ = s.(store.Statements).StatementByID(t.Context(), given.ID)
	}
}

func statementsListed(t *testing.T, s store.Store) {
	all := someStatements(0, 50)
	all[49].Subject = "patient/1"
	put(t, s, all...)
	for i := range all {
		all[i] = hasStatement(t, s, all[i])
	}
	moved := &all[15] // of Patient/1, between others of Patient/3
	moved.Subject = "Patient/3"
	put(t, s, *moved)
	statements := s.(store.Statements)
	for _, subject := range []string{"", "Patient/1", "Patient/3", "patient/1", "Patient", "nobody", "%"} {
		for _, after := range []int64{math.MinInt64, 0, all[0].Number, all[9].Number, moved.Number, all[49].Number - 1, all[49].Number, math.MaxInt64} {
			var want []store.Statement
			for _, one := range all {
				if one.Number > after && (subject == "" || one.Subject == subject) {
					want = append(want, one)
				}
			}
			if d := cmp.Diff(want, each(t, s, subject, after), likeStatements); d != "" {
				t.Errorf("EachStatement(%q, %d) (-want +got):\n%s", subject, after, d)
			}
			for _, limit := range []int{1, 3, 1000} {
				got, err := statements.StatementsAfter(t.Context(), subject, after, limit)
				if d := cmp.Diff(want[:min(limit, len(want))], got, likeStatements); err != nil || d != "" {
					t.Errorf("StatementsAfter(%q, %d, %d): %v (-want +got):\n%s", subject, after, limit, err, d)
				}
			}
		}
	}
}

func statementContext(t *testing.T, s store.Store) {
	statements := s.(store.Statements)
	put(t, s, aStatement(1))
	_, putting := statements.PutStatements(ended(t), someStatements(2, 3))
	_, finding := statements.StatementByID(ended(t), aStatement(1).ID)
	_, listing := statements.StatementsAfter(ended(t), "", 0, 9)
	_, counting := statements.CountStatements(ended(t))
	walking := statements.EachStatement(ended(t), "", 0, func(*store.Statement) error {
		t.Error("EachStatement went on")
		return nil
	})
	for what, err := range map[string]error{
		"PutStatements": putting, "StatementByID": finding, "StatementsAfter": listing, "CountStatements": counting, "EachStatement": walking,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v; want context.Canceled", what, err)
		}
	}
	if n, err := statements.CountStatements(t.Context()); err != nil || n != 1 {
		t.Errorf("CountStatements = %d, %v; want 1", n, err)
	}
}

func statementOfNoText(t *testing.T, s store.Store) {
	for _, text := range []string{"\x00", "a\x00b", "\xff", "\xed\xa0\x80"} {
		for what, change := range map[string]func(*store.Statement){
			"ID": func(s *store.Statement) { s.ID = text }, "subject": func(s *store.Statement) { s.Subject = text },
		} {
			bad := aStatement(1)
			bad.ID = fmt.Sprintf("%s %x", what, text)
			change(&bad)
			good := aStatement(2)
			good.ID = "beside " + bad.ID
			_, err := s.(store.Statements).PutStatements(t.Context(), []store.Statement{good, bad})
			if err == nil {
				hasStatement(t, s, bad)
				continue
			}
			if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("PutStatements with %s %q: %v; want ErrInvalid", what, text, err)
			}
			for _, id := range []string{bad.ID, good.ID} {
				if got, err := s.(store.Statements).StatementByID(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("of a call that was refused there is %+v, %v", got, err)
				}
			}
			if got, err := s.(store.Statements).StatementsAfter(t.Context(), text, 0, 1); err != nil || len(got) > 0 {
				t.Errorf("StatementsAfter of %q: %v, %v", text, got, err)
			}
		}
	}
}
