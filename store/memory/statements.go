package memory

import (
	"bytes"
	"context"
	"errors"

	"github.com/tare-bench/tare/store"
)

// PutStatements implements store.Statements. Readers see all of a call or none
// of it, and wait for it: some hundred nanoseconds a statement.
func (s *Store) PutStatements(ctx context.Context, all []store.Statement) ([]store.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	outcomes := make([]store.Outcome, len(all))
	v := s.statements
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range all {
		given := &all[i]
		kept, ok := v.find(given.ID)
		switch {
		case !ok:
			v.add(given.ID, given.Subject, given.Body, given.Updated.UnixMicro())
			outcomes[i] = store.Added
		case string(kept.group) == given.Subject && bytes.Equal(kept.body, given.Body):
			outcomes[i] = store.Unchanged
		default:
			v.replace(kept, given.Subject, given.Body, given.Updated.UnixMicro())
			outcomes[i] = store.Replaced
		}
	}
	v.endCommit()
	return outcomes, nil
}

// StatementByID implements store.Statements.
func (s *Store) StatementByID(ctx context.Context, id string) (store.Statement, error) {
	if err := ctx.Err(); err != nil {
		return store.Statement{}, err
	}
	s.statements.mu.RLock()
	kept, ok := s.statements.find(id)
	s.statements.mu.RUnlock()
	if !ok {
		return store.Statement{}, store.ErrNotFound
	}
	return kept.statement(nil), nil
}

// statement gives a version as a statement, its body appended to one that may
// be overwritten.
func (e *version) statement(body []byte) store.Statement {
	both := make([]byte, 0, 128) // one allocation for both texts
	text := string(append(append(both, e.id...), e.group...))
	return store.Statement{
		ID: text[:len(e.id)], Subject: text[len(e.id):], Body: append(body, e.body...),
		Number: e.number, Updated: instant(e.updated),
	}
}

var errEnough = errors.New("enough")

// StatementsAfter implements store.Statements.
func (s *Store) StatementsAfter(ctx context.Context, subject string, after int64, limit int) (all []store.Statement, err error) {
	if limit < 1 {
		return nil, ctx.Err()
	}
	from := s.statements.snapshot(subject, after)
	defer from.close()
	err = from.each(ctx, func(e *version) error {
		if all = append(all, e.statement(nil)); len(all) == limit {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	return all, nil
}

// EachStatement implements store.Statements.
func (s *Store) EachStatement(ctx context.Context, subject string, after int64, do func(*store.Statement) error) error {
	from := s.statements.snapshot(subject, after)
	defer from.close()
	var now store.Statement
	return from.each(ctx, func(e *version) error {
		now = e.statement(now.Body[:0]) // a copy: what do does to it is nobody's business
		return do(&now)
	})
}

// CountStatements implements store.Statements.
func (s *Store) CountStatements(ctx context.Context) (int64, error) {
	s.statements.mu.RLock()
	defer s.statements.mu.RUnlock()
	return s.statements.rows.len(), ctx.Err()
}
