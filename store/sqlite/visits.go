package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/tare-bench/tare/store"
)

const (
	visitColumns = "number, id, patient, status, procedures, signed_by, revision, created_us, updated_us, added_patient, added_procedures"
	visitsFrom   = "SELECT " + visitColumns + " FROM visits "
	visitByID    = visitsFrom + "WHERE id = ?"
)

// visitStatuses are how the file spells where a visit stands.
var visitStatuses = map[store.VisitStatus]string{
	store.VisitCreated:    "created",
	store.VisitInProgress: "in progress",
	store.VisitSigned:     "signed",
}

// visitRow is a visit as the file has it.
type visitRow struct {
	visit                         store.Visit // without procedures, status and times
	status, procedures            string
	created, updated              int64
	addedPatient, addedProcedures string // by which it is recognized when it is added again
}

// scan reads visitColumns.
func (r *visitRow) scan(scan func(...any) error) error {
	v := &r.visit
	return scan(&v.Number, &v.ID, &v.Patient, &r.status, &r.procedures, &v.SignedBy, &v.Revision, &r.created, &r.updated, &r.addedPatient, &r.addedProcedures)
}

// parse completes the visit.
func (r *visitRow) parse() (store.Visit, error) {
	v := r.visit
	procedures, err := store.ParseNames(r.procedures)
	if err != nil {
		return v, fmt.Errorf("read visit %s: %w", v.ID, err)
	}
	for status, text := range visitStatuses {
		if text == r.status {
			v.Status = status
		}
	}
	v.Procedures, v.Created, v.Updated = procedures, instant(r.created), instant(r.updated)
	return v, nil
}

// visitChange is a visit to add, or one to change.
type visitChange struct {
	given  visitRow
	add    bool
	kept   visitRow
	answer error
}

// AddVisit implements store.Visits.
func (s *Store) AddVisit(ctx context.Context, v store.Visit) (store.Visit, error) {
	v.Status, v.SignedBy, v.Updated = store.VisitCreated, "", v.Created
	return s.changeVisit(ctx, v, true)
}

// ChangeVisit implements store.Visits.
func (s *Store) ChangeVisit(ctx context.Context, v store.Visit) (store.Visit, error) {
	return s.changeVisit(ctx, v, false)
}

func (s *Store) changeVisit(ctx context.Context, v store.Visit, add bool) (store.Visit, error) {
	if err := v.CheckText(); err != nil {
		return store.Visit{}, fmt.Errorf("keep visit: %w", err)
	}
	if err := v.Status.Check(); err != nil {
		return store.Visit{}, err
	}
	procedures, err := store.FormatNames(v.Procedures)
	if err != nil {
		return store.Visit{}, err
	}
	op := &visitChange{add: add, given: visitRow{
		visit: v, status: visitStatuses[v.Status], procedures: procedures, created: v.Created.UnixMicro(), updated: v.Updated.UnixMicro(),
		addedPatient: v.Patient, addedProcedures: procedures,
	}}
	if err := s.do(ctx, op); err != nil {
		return store.Visit{}, err
	}
	if op.answer != nil {
		return store.Visit{}, op.answer
	}
	return op.kept.parse()
}

func (op *visitChange) size() int { return len(op.given.procedures) }

func (op *visitChange) run(w *writer) error {
	op.answer = nil
	g, v := &op.given, &op.given.visit
	var done *sql.Row
	if op.add {
		done = w.addVisit.QueryRow(v.ID, v.Patient, g.status, g.procedures, g.created, g.updated, g.addedPatient, g.addedProcedures)
	} else {
		done = w.changeVisit.QueryRow(v.Patient, g.status, g.procedures, v.SignedBy, g.updated, v.ID, v.Revision)
	}
	err := op.kept.scan(done.Scan)
	if !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	err = op.kept.scan(w.visit.QueryRow(v.ID).Scan)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		op.answer = store.ErrNotFound
	case err != nil:
		return err
	case !op.add:
		op.answer = store.ErrChanged
	case op.kept.addedPatient != g.addedPatient || op.kept.addedProcedures != g.addedProcedures:
		op.answer = store.ErrExists
	}
	return nil
}

// VisitByID implements store.Visits.
func (s *Store) VisitByID(ctx context.Context, id string) (store.Visit, error) {
	var row visitRow
	if err := row.scan(s.read.visit.QueryRowContext(ctx, id).Scan); err != nil {
		return store.Visit{}, s.readError(ctx, err)
	}
	return row.parse()
}

// VisitsBefore implements store.Visits.
func (s *Store) VisitsBefore(ctx context.Context, patient string, before int64, limit int) (visits []store.Visit, err error) {
	if limit < 1 {
		return nil, ctx.Err()
	}
	var rows *sql.Rows
	if patient == "" {
		rows, err = s.read.visits.QueryContext(ctx, before, limit)
	} else {
		rows, err = s.read.visitsOf.QueryContext(ctx, patient, before, limit)
	}
	if err != nil {
		return nil, s.readError(ctx, err)
	}
	defer func() {
		if err = errors.Join(err, rows.Close()); err != nil {
			visits, err = nil, s.readError(ctx, err)
		}
	}()
	for rows.Next() {
		var row visitRow
		if err := row.scan(rows.Scan); err != nil {
			return nil, err
		}
		v, err := row.parse()
		if err != nil {
			return nil, err
		}
		visits = append(visits, v)
	}
	return visits, rows.Err()
}
