package store

import (
	"context"
	"fmt"
	"time"
)

// Statement is a medication statement as it is kept: what stores look for, and
// the whole record as bytes, which they do not read.
type Statement struct {
	ID      string
	Subject string // whose it is: "Patient/123"
	Body    []byte
	Number  int64     // above 0; grows from statement to statement as their IDs first come
	Updated time.Time // when this content came; UTC, in whole microseconds
}

// OwnStatements gives statements as a database keeps them, with none of the
// caller's memory, and how many bytes they are: a store that commits for its
// callers may still read them when one that no longer waits uses its own again.
// It refuses, with ErrInvalid, what is no text.
func OwnStatements(all []Statement) (own []Statement, bytes int, err error) {
	for i := range all {
		if err := CheckText(all[i].ID, all[i].Subject); err != nil {
			return nil, 0, fmt.Errorf("put statement %d of %d: %w", i+1, len(all), err)
		}
		bytes += len(all[i].Body)
	}
	own = make([]Statement, len(all))
	bodies := make([]byte, 0, bytes)
	for i, s := range all {
		from := len(bodies)
		bodies = append(bodies, s.Body...)
		s.Body = bodies[from:len(bodies):len(bodies)] // never nil, which is no content
		bytes += len(s.ID) + len(s.Subject)
		own[i] = s
	}
	return own, bytes, nil
}

// Outcome is what became of a statement that was put.
type Outcome uint8

// What becomes of a statement.
const (
	Added     Outcome = iota + 1 // its ID is new
	Replaced                     // it took the place of another of its ID, and its Number
	Unchanged                    // it was kept before, with the same subject and body
)

// Statements keeps statements. What PutStatements returned without an error is
// there for every call that begins afterwards, and in a store that outlives its
// process after a crash too.
type Statements interface {
	// PutStatements keeps statements under their IDs, all in one commit, and says
	// what became of each, in their order. Of two with the same ID the later wins.
	// Number is not read. Where ctx ends before it returns, all are kept or none.
	// It keeps no reference to a Body.
	PutStatements(ctx context.Context, all []Statement) ([]Outcome, error)
	// StatementByID gives the statement kept under an ID, or ErrNotFound.
	StatementByID(ctx context.Context, id string) (Statement, error)
	// StatementsAfter gives at most limit statements whose Number is above after,
	// the lowest first: those of one subject, or where subject is "" of all.
	// Numbers become visible in their order.
	StatementsAfter(ctx context.Context, subject string, after int64, limit int) ([]Statement, error)
	// EachStatement hands each statement whose Number is above after to do, the
	// lowest first, as it is read from a cursor: those of one subject, or where
	// subject is "" of all, as they stood when it began. It holds one at a time,
	// whose Body is do's until it returns. What do returns ends it, and is its
	// error. Writers are not kept waiting.
	EachStatement(ctx context.Context, subject string, after int64, do func(*Statement) error) error
	// CountStatements says how many are kept.
	CountStatements(ctx context.Context) (int64, error)
}
