package memory

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/tare-bench/tare/store"
)

// AddVisit implements store.Visits.
func (s *Store) AddVisit(ctx context.Context, given store.Visit) (store.Visit, error) {
	if err := ctx.Err(); err != nil {
		return store.Visit{}, err
	}
	v := s.visits
	v.mu.Lock()
	defer v.mu.Unlock()
	if e, ok := v.find(given.ID); ok {
		kept, added := e.visit()
		if added.patient != given.Patient || !slices.Equal(added.procedures, given.Procedures) {
			return store.Visit{}, store.ErrExists
		}
		return kept, nil
	}
	made := given
	made.Procedures = slices.Clone(given.Procedures)
	made.Status, made.SignedBy, made.Revision = store.VisitCreated, "", 1
	made.Created = instant(given.Created.UnixMicro())
	made.Updated = made.Created
	body := appendVisit(nil, &made, addedVisit{given.Patient, given.Procedures})
	made.Number = v.add(given.ID, given.Patient, body, made.Updated.UnixMicro())
	v.endCommit()
	return made, nil
}

// ChangeVisit implements store.Visits.
func (s *Store) ChangeVisit(ctx context.Context, given store.Visit) (store.Visit, error) {
	if err := ctx.Err(); err != nil {
		return store.Visit{}, err
	}
	if err := given.Status.Check(); err != nil {
		return store.Visit{}, err
	}
	v := s.visits
	v.mu.Lock()
	defer v.mu.Unlock()
	e, ok := v.find(given.ID)
	if !ok {
		return store.Visit{}, store.ErrNotFound
	}
	kept, added := e.visit()
	if kept.Revision != given.Revision {
		return store.Visit{}, store.ErrChanged
	}
	made := given
	made.Procedures = slices.Clone(given.Procedures)
	made.Number, made.Revision, made.Created = kept.Number, kept.Revision+1, kept.Created
	made.Updated = instant(given.Updated.UnixMicro())
	v.replace(e, given.Patient, appendVisit(nil, &made, added), made.Updated.UnixMicro())
	v.endCommit()
	return made, nil
}

// VisitByID implements store.Visits.
func (s *Store) VisitByID(ctx context.Context, id string) (store.Visit, error) {
	if err := ctx.Err(); err != nil {
		return store.Visit{}, err
	}
	s.visits.mu.RLock()
	e, ok := s.visits.find(id)
	s.visits.mu.RUnlock()
	if !ok {
		return store.Visit{}, store.ErrNotFound
	}
	kept, _ := e.visit()
	return kept, nil
}

// VisitsBefore implements store.Visits.
func (s *Store) VisitsBefore(ctx context.Context, patient string, before int64, limit int) (all []store.Visit, err error) {
	for more := true; more && len(all) < limit; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var found []version
		found, before, more = s.visits.before(patient, before, limit-len(all))
		for i := range found {
			kept, _ := found[i].visit()
			all = append(all, kept)
		}
	}
	return all, ctx.Err()
}

// addedVisit is what a visit is recognized by when it is added again.
type addedVisit struct {
	patient    string
	procedures []string
}

// appendVisit encodes what of a visit is not in a version's other fields.
func appendVisit(b []byte, v *store.Visit, added addedVisit) []byte {
	b = append(b, byte(v.Status))
	b = binary.AppendVarint(b, v.Revision)
	b = binary.AppendVarint(b, v.Created.UnixMicro())
	b = appendString(b, v.SignedBy)
	b = appendStrings(b, v.Procedures)
	b = appendString(b, added.patient)
	return appendStrings(b, added.procedures)
}

func (e *version) visit() (store.Visit, addedVisit) {
	r := reader{text: string(e.body[1:]), rest: e.body[1:]}
	v := store.Visit{
		ID: string(e.id), Patient: string(e.group), Status: store.VisitStatus(e.body[0]), Number: e.number,
		Updated: instant(e.updated), Revision: r.varint(), Created: instant(r.varint()), SignedBy: r.string(),
	}
	v.Procedures = r.strings()
	return v, addedVisit{r.string(), r.strings()}
}
