package storetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tare-bench/tare/store"
)

var statementModelTests = tests{"whatever is put, in whatever order, is as the contract says": statementsModelled}

// statementsModelled is what modelled is for orders.
func statementsModelled(t *testing.T, s store.Store) {
	var runs atomic.Int64
	rapid.Check(t, func(t *rapid.T) {
		m := &statementModel{t: t, ctx: context.Background(), store: s.(store.Statements), run: fmt.Sprintf("run %d ", runs.Add(1)), kept: map[string]*store.Statement{}}
		m.begin()
		t.Repeat(map[string]func(*rapid.T){"put": m.put, "one": m.one, "after": m.after, "each": m.each})
	})
}

type statementModel struct {
	t     *rapid.T
	ctx   context.Context
	store store.Statements
	run   string
	since int64 // the newest number when the run began
	kept  map[string]*store.Statement
}

// begin finds where the store stands, by a statement of its own.
func (m *statementModel) begin() {
	first := store.Statement{ID: m.run + "first", Updated: noon}
	if _, err := m.store.PutStatements(m.ctx, []store.Statement{first}); err != nil {
		m.t.Fatal(err)
	}
	got, err := m.store.StatementByID(m.ctx, first.ID)
	if err != nil {
		m.t.Fatal(err)
	}
	m.since = got.Number
}

func (m *statementModel) id(t *rapid.T) string {
	return m.run + rapid.SampledFrom([]string{"a", "b", "c", "d", "é"}).Draw(t, "ID")
}

func (m *statementModel) subject(t *rapid.T) string {
	return rapid.SampledFrom([]string{m.run + "s", m.run + "S", m.run + "%"}).Draw(t, "subject")
}

func (m *statementModel) put(t *rapid.T) {
	given := make([]store.Statement, rapid.IntRange(0, 6).Draw(t, "statements"))
	want := make([]store.Outcome, len(given))
	next := map[string]*store.Statement{}
	for id, kept := range m.kept {
		next[id] = kept
	}
	for i := range given {
		one := store.Statement{
			ID: m.id(t), Subject: m.subject(t), Body: []byte(rapid.SampledFrom([]string{"", "x", "\x00y"}).Draw(t, "body")),
			Updated: noon.Add(time.Duration(rapid.IntRange(0, 9).Draw(t, "hours")) * time.Hour),
		}
		given[i] = one
		kept := next[one.ID]
		switch {
		case kept == nil:
			want[i] = store.Added
		case kept.Subject == one.Subject && bytes.Equal(kept.Body, one.Body):
			want[i] = store.Unchanged
			continue
		default:
			want[i], one.Number = store.Replaced, kept.Number
		}
		next[one.ID] = &one
	}
	got, err := m.store.PutStatements(m.ctx, given)
	if err != nil || !slices.Equal(want, got) {
		t.Fatalf("PutStatements %+v: %v, %v; want %v", given, got, err, want)
	}
	m.kept = next
	for i, o := range want { // numbers are the store's to give, and grow in the order of the call
		if o != store.Added {
			continue
		}
		one, err := m.store.StatementByID(m.ctx, given[i].ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range m.kept {
			if one.Number <= other.Number {
				t.Fatalf("%q has number %d, and %q before it %d", one.ID, one.Number, other.ID, other.Number)
			}
		}
		next[one.ID].Number = one.Number
	}
}

func (m *statementModel) one(t *rapid.T) {
	id := m.id(t)
	got, err := m.store.StatementByID(m.ctx, id)
	kept := m.kept[id]
	switch {
	case kept == nil && !errors.Is(err, store.ErrNotFound):
		t.Fatalf("StatementByID of none: %v", err)
	case kept != nil:
		m.same("StatementByID", []store.Statement{got}, err, []store.Statement{*kept})
	}
}

func (m *statementModel) same(what string, got []store.Statement, err error, want []store.Statement) {
	if d := gocmp.Diff(want, got, likeStatements); err != nil || d != "" {
		m.t.Fatalf("%s: %v (-want +got):\n%s", what, err, d)
	}
}

// those gives the statements of a subject above a number.
func (m *statementModel) those(subject string, after int64) (list []store.Statement) {
	for _, one := range m.kept {
		if one.Number > after && (subject == "" || one.Subject == subject) {
			list = append(list, *one)
		}
	}
	slices.SortFunc(list, func(a, b store.Statement) int { return cmp.Compare(a.Number, b.Number) })
	return list
}

func (m *statementModel) from(t *rapid.T) int64 {
	return m.since + int64(rapid.IntRange(0, 8).Draw(t, "after"))
}

func (m *statementModel) after(t *rapid.T) {
	subject, after, n := rapid.SampledFrom([]string{"", m.subject(t)}).Draw(t, "of"), m.from(t), limit(t)
	want := m.those(subject, after)
	got, err := m.store.StatementsAfter(m.ctx, subject, after, n)
	m.same("StatementsAfter", got, err, want[:min(n, len(want))])
}

func (m *statementModel) each(t *rapid.T) {
	subject, after := rapid.SampledFrom([]string{"", m.subject(t)}).Draw(t, "of"), m.from(t)
	var got []store.Statement
	err := m.store.EachStatement(m.ctx, subject, after, func(one *store.Statement) error {
		kept := *one
		kept.Body = bytes.Clone(one.Body)
		got = append(got, kept)
		return nil
	})
	m.same("EachStatement", got, err, m.those(subject, after))
}
