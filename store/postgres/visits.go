package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/tare-bench/tare/store"
)

// visitStatuses are how the database spells where a visit stands.
var visitStatuses = map[store.VisitStatus]string{
	store.VisitCreated:    "created",
	store.VisitInProgress: "in progress",
	store.VisitSigned:     "signed",
}

// visitRow is a visit as the database has it.
type visitRow struct {
	visit                         store.Visit // without procedures and status
	status, procedures            string
	addedPatient, addedProcedures string // by which it is recognized when it is added again
}

// scan reads visitColumns.
func (r *visitRow) scan(scan func(...any) error) error {
	v := &r.visit
	err := scan(&v.Number, &v.ID, &v.Patient, &r.status, &r.procedures, &v.SignedBy, &v.Revision, &v.Created, &v.Updated, &r.addedPatient, &r.addedProcedures)
	v.Created, v.Updated = instant(v.Created), instant(v.Updated)
	return err
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
	v.Procedures = procedures
	return v, nil
}

// visitChange is a visit to add, or one to change, that waits for its commit.
type visitChange struct{ *visitWork }

type visitWork struct {
	given  visitRow
	add    bool
	kept   visitRow
	made   bool
	answer error
}

func (c visitChange) size() int { return len(c.given.procedures) }

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
		if !add && store.CheckText(v.ID) != nil {
			return store.Visit{}, store.ErrNotFound // no visit has such an ID
		}
		return store.Visit{}, fmt.Errorf("keep visit: %w", err)
	}
	if err := v.Status.Check(); err != nil {
		return store.Visit{}, err
	}
	procedures, err := store.FormatNames(v.Procedures)
	if err != nil {
		return store.Visit{}, err
	}
	v.Created, v.Updated = instant(v.Created), instant(v.Updated)
	c := visitChange{&visitWork{add: add, given: visitRow{
		visit: v, status: visitStatuses[v.Status], procedures: procedures, addedPatient: v.Patient, addedProcedures: procedures,
	}}}
	if err := s.visits.Do(ctx, c); err != nil {
		return store.Visit{}, err
	}
	if c.answer != nil {
		return store.Visit{}, c.answer
	}
	return c.kept.parse()
}

// commitVisits makes all of a batch durable, one after the other in one
// transaction and one round trip, with a lock as writeOrders has.
func (s *Store) commitVisits(batch []visitChange) error {
	attempts := 0
	err := s.write(func(ctx context.Context, conn *pgx.Conn) error {
		attempts++
		var b pgx.Batch
		b.Queue(s.sql.lock, lockKey(s.schema, "visits"))
		for _, c := range batch {
			c.made = false
			s.queueVisit(&b, c)
		}
		return conn.SendBatch(ctx, &b).Close()
	})
	if err != nil {
		return err
	}
	return s.readUnchangedVisits(batch, attempts > 1)
}

func (s *Store) queueVisit(b *pgx.Batch, c visitChange) {
	g, v := &c.given, &c.given.visit
	var queued *pgx.QueuedQuery
	if c.add {
		queued = b.Queue(s.sql.addVisit, v.ID, v.Patient, g.status, g.procedures, v.Created, v.Updated, g.addedPatient, g.addedProcedures)
	} else {
		queued = b.Queue(s.sql.changeVisit, v.Patient, g.status, g.procedures, v.SignedBy, v.Updated, v.ID, v.Revision)
	}
	queued.Query(func(rows pgx.Rows) error {
		return eachVisit(rows, func(row visitRow) { c.kept, c.made = row, true })
	})
}

func eachVisit(rows pgx.Rows, do func(visitRow)) error {
	defer rows.Close()
	for rows.Next() {
		var row visitRow
		if err := row.scan(rows.Scan); err != nil {
			return err
		}
		do(row)
	}
	return rows.Err()
}

// readUnchangedVisits answers the changes that changed nothing, by what was there.
func (s *Store) readUnchangedVisits(batch []visitChange, again bool) error {
	var ids []string
	for _, c := range batch {
		if c.answer = nil; !c.made {
			ids = append(ids, c.given.visit.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	byID := map[string]visitRow{}
	err := s.write(func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, s.sql.visitsByIDs, ids)
		if err != nil {
			return err
		}
		return eachVisit(rows, func(row visitRow) { byID[row.visit.ID] = row })
	})
	if err != nil {
		return err
	}
	for _, c := range batch {
		if row, found := byID[c.given.visit.ID]; c.made {
			continue
		} else if !found {
			c.answer = store.ErrNotFound
		} else {
			c.was(row, again)
		}
	}
	return nil
}

// was answers a change by what was there already. Where it was asked for again,
// since no answer of the commit came, that may be its own.
func (c visitChange) was(row visitRow, again bool) {
	g := c.given
	c.kept = row
	switch {
	case c.add:
		if row.addedPatient != g.addedPatient || row.addedProcedures != g.addedProcedures {
			c.answer = store.ErrExists
		}
	case again && row.visit.Revision == g.visit.Revision+1 && row.visit.Patient == g.visit.Patient && row.status == g.status &&
		row.procedures == g.procedures && row.visit.SignedBy == g.visit.SignedBy && row.visit.Updated.Equal(g.visit.Updated):
	default:
		c.answer = store.ErrChanged
	}
}

// VisitByID implements store.Visits.
func (s *Store) VisitByID(ctx context.Context, id string) (store.Visit, error) {
	var row visitRow
	if err := s.one(ctx, row.scan, s.sql.visit, id); err != nil {
		return store.Visit{}, err
	}
	return row.parse()
}

// VisitsBefore implements store.Visits.
func (s *Store) VisitsBefore(ctx context.Context, patient string, before int64, limit int) ([]store.Visit, error) {
	if limit < 1 || store.CheckText(patient) != nil { // nobody has such a name
		return nil, ctx.Err()
	}
	sql, args := s.sql.visitsBefore, []any{before, limit}
	if patient != "" {
		sql, args = s.sql.visitsOf, []any{before, limit, patient}
	}
	var found []visitRow
	err := s.read(ctx, func(ctx context.Context, c *pgxpool.Conn) error {
		found = nil
		rows, err := c.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		return eachVisit(rows, func(row visitRow) { found = append(found, row) })
	})
	if err != nil {
		return nil, err
	}
	visits := make([]store.Visit, len(found))
	for i := range found {
		if visits[i], err = found[i].parse(); err != nil {
			return nil, err
		}
	}
	return visits, nil
}
