package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ErrChanged is of a record that is not as the caller last saw it.
var ErrChanged = errors.New("changed meanwhile")

// VisitStatus is where a visit stands.
type VisitStatus uint8

// Where a visit stands, in the order in which it may move.
const (
	VisitCreated VisitStatus = iota + 1
	VisitInProgress
	VisitSigned
)

// Check says with ErrInvalid that there is no such status.
func (s VisitStatus) Check() error {
	if s < VisitCreated || s > VisitSigned {
		return fmt.Errorf("keep visit with status %d: %w: there is none such", s, ErrInvalid)
	}
	return nil
}

// Visit is a visit as it is kept. Times are UTC, in whole microseconds.
type Visit struct {
	ID, Patient string
	Status      VisitStatus
	Procedures  []string
	SignedBy    string // "" unless signed
	Number      int64  // above 0; grows from visit to visit as they are created
	Revision    int64  // above 0; grows with each change of this visit
	Created     time.Time
	Updated     time.Time
}

// Visits keeps visits, as durably as Statements does. What may change, and how,
// is for the caller to know.
type Visits interface {
	// AddVisit keeps a new visit under its ID, as VisitCreated and with v.Created
	// as both times, and gives it as it is kept. Status, SignedBy, Number, Revision
	// and Updated of v are not read. Where one is kept under that ID already it
	// changes nothing: it gives that one if it was added with equal patient and
	// procedures, else ErrExists.
	AddVisit(ctx context.Context, v Visit) (Visit, error)
	// ChangeVisit puts v in the place of the visit of its ID and Revision, and
	// gives it as it is kept. Number and Created of v are not read. Where the one
	// that is kept has another revision, ErrChanged; where there is none,
	// ErrNotFound. What v.Status.Check refuses, it does too.
	ChangeVisit(ctx context.Context, v Visit) (Visit, error)
	// VisitByID gives the visit kept under an ID, or ErrNotFound.
	VisitByID(ctx context.Context, id string) (Visit, error)
	// VisitsBefore gives at most limit visits whose Number is below before, the
	// highest first: those of one patient, or where patient is "" of all.
	VisitsBefore(ctx context.Context, patient string, before int64, limit int) ([]Visit, error)
}
