package storetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tare-bench/tare/store"
)

var visitTests = tests{
	"a visit comes back as it was added":           visitComesBack,
	"an unknown ID is not found":                   visitNotFound,
	"an equal visit may be added again":            visitRepeated,
	"an ID is taken once":                          visitExists,
	"a visit changes as it was last seen":          visitChanges,
	"of changes made at one time one is":           visitChangesConcurrent,
	"of visits added at one time one is kept":      visitsConcurrent,
	"a visit whose procedures change later stays":  visitKeepsNoReference,
	"visits are listed by patient and number":      visitsListed,
	"an ended context is returned and no visit is": visitContext,
	"what is no text is kept as it is, or refused": visitOfNoText,
}

func aVisit(i int) store.Visit {
	return store.Visit{
		ID: fmt.Sprint("visit-", i), Patient: fmt.Sprint("Patient/", i%3), Procedures: []string{"CPT-99213", "Größe 煎茶"},
		Created: noon.Add(time.Duration(i) * time.Second),
	}
}

// addVisit adds a visit that is new, and holds what is kept against it.
func addVisit(t *testing.T, s store.Store, v store.Visit) store.Visit {
	t.Helper()
	got, err := s.(store.Visits).AddVisit(t.Context(), v)
	if err != nil {
		t.Fatalf("AddVisit %q: %v", v.ID, err)
	}
	v.Status, v.SignedBy, v.Updated, v.Number, v.Revision = store.VisitCreated, "", v.Created, got.Number, got.Revision
	if d := cmp.Diff(v, got, cmpopts.EquateEmpty()); d != "" || got.Number < 1 || got.Revision < 1 {
		t.Errorf("AddVisit %q: number %d, revision %d (-want +got):\n%s", v.ID, got.Number, got.Revision, d)
	}
	return got
}

func changeVisit(t *testing.T, s store.Store, v store.Visit) store.Visit {
	t.Helper()
	got, err := s.(store.Visits).ChangeVisit(t.Context(), v)
	if err != nil {
		t.Fatalf("ChangeVisit %q: %v", v.ID, err)
	}
	if got.Revision <= v.Revision {
		t.Errorf("ChangeVisit %q gives revision %d after %d", v.ID, got.Revision, v.Revision)
	}
	v.Revision = got.Revision
	if d := cmp.Diff(v, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("ChangeVisit %q (-want +got):\n%s", v.ID, d)
	}
	return got
}

func hasVisit(t *testing.T, s store.Store, want store.Visit) {
	t.Helper()
	got, err := s.(store.Visits).VisitByID(t.Context(), want.ID)
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || d != "" {
		t.Errorf("VisitByID %q: %v (-want +got):\n%s", want.ID, err, d)
	}
}

func visitComesBack(t *testing.T, s store.Store) {
	bare, many := aVisit(1), aVisit(2)
	bare.Procedures, bare.Patient, bare.Created = nil, "", time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	many.Procedures, many.Created = make([]string, 1000), time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC)
	all := []store.Visit{bare, many}
	for i, text := range awkward {
		v := aVisit(10 + i)
		v.ID, v.Patient, v.Procedures = "awkward "+text, text, []string{text, "", text}
		all = append(all, v)
	}
	last := int64(0)
	for i, v := range all {
		v.Status, v.SignedBy, v.Number, v.Revision, v.Updated = store.VisitSigned, "nobody", 99, 99, noon // none of them is read
		all[i] = addVisit(t, s, v)
		if all[i].Number <= last {
			t.Errorf("visit %q has number %d after %d", v.ID, all[i].Number, last)
		}
		last = all[i].Number
	}
	for i, v := range all {
		hasVisit(t, s, v)
		v.Status, v.SignedBy, v.Updated = store.VisitSigned, "Dr. "+v.Patient, noon.Add(time.Hour)
		all[i] = changeVisit(t, s, v)
	}
	for _, v := range all {
		hasVisit(t, s, v)
	}
}

func visitNotFound(t *testing.T, s store.Store) {
	addVisit(t, s, aVisit(1))
	for _, id := range []string{"", "visit-", "visit-11", "VISIT-1", "visit-1 "} {
		if got, err := s.(store.Visits).VisitByID(t.Context(), id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("VisitByID(%q) = %+v, %v; want ErrNotFound", id, got, err)
		}
		v := aVisit(1)
		v.ID, v.Revision, v.Status = id, 1, store.VisitSigned
		if got, err := s.(store.Visits).ChangeVisit(t.Context(), v); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("ChangeVisit(%q) = %+v, %v; want ErrNotFound", id, got, err)
		}
	}
}

// visitRepeated adds a visit again that has changed since: it is recognized by
// what it was when it was added.
func visitRepeated(t *testing.T, s store.Store) {
	again := func(want store.Visit) {
		t.Helper()
		v := aVisit(1)
		v.Created = noon.Add(time.Hour)
		if got, err := s.(store.Visits).AddVisit(t.Context(), v); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("AddVisit again = %+v, %v; want %+v", got, err, want)
		}
	}
	kept := addVisit(t, s, aVisit(1))
	again(kept)
	kept.Status, kept.Updated = store.VisitInProgress, noon.Add(time.Minute)
	kept = changeVisit(t, s, kept)
	again(kept)
	kept.Procedures, kept.Patient = []string{"another"}, "Patient/another"
	kept = changeVisit(t, s, kept)
	again(kept)
	asItIs := aVisit(1)
	asItIs.Procedures, asItIs.Patient = kept.Procedures, kept.Patient
	if got, err := s.(store.Visits).AddVisit(t.Context(), asItIs); !errors.Is(err, store.ErrExists) {
		t.Errorf("AddVisit as it has become = %+v, %v; want ErrExists", got, err)
	}
}

func visitExists(t *testing.T, s store.Store) {
	kept := addVisit(t, s, aVisit(1))
	for what, change := range map[string]func(*store.Visit){
		"patient":    func(v *store.Visit) { v.Patient += "0" },
		"fewer":      func(v *store.Visit) { v.Procedures = v.Procedures[:1] },
		"more":       func(v *store.Visit) { v.Procedures = append(v.Procedures, "") },
		"order":      func(v *store.Visit) { slices.Reverse(v.Procedures) },
		"procedures": func(v *store.Visit) { v.Procedures = nil },
	} {
		v := aVisit(1)
		change(&v)
		if got, err := s.(store.Visits).AddVisit(t.Context(), v); !errors.Is(err, store.ErrExists) {
			t.Errorf("AddVisit with other %s = %+v, %v; want ErrExists", what, got, err)
		}
	}
	hasVisit(t, s, kept)
}

func visitChanges(t *testing.T, s store.Store) {
	first := addVisit(t, s, aVisit(1))
	second := first
	second.Status, second.Updated = store.VisitInProgress, noon.Add(time.Hour)
	given := second
	given.Number, given.Created = 99, noon.Add(9*time.Hour) // not read
	got, err := s.(store.Visits).ChangeVisit(t.Context(), given)
	second.Revision = got.Revision
	if d := cmp.Diff(second, got); err != nil || d != "" || got.Revision <= first.Revision {
		t.Fatalf("ChangeVisit: %v (-want +got):\n%s", err, d)
	}
	for _, revision := range []int64{first.Revision, second.Revision + 1, 0, -1, math.MaxInt64} {
		stale := second
		stale.Revision, stale.Procedures = revision, nil
		if got, err := s.(store.Visits).ChangeVisit(t.Context(), stale); !errors.Is(err, store.ErrChanged) {
			t.Errorf("ChangeVisit of revision %d = %+v, %v; want ErrChanged", revision, got, err)
		}
	}
	for _, status := range []store.VisitStatus{0, store.VisitSigned + 1, 255} {
		odd := second
		odd.Status = status
		if got, err := s.(store.Visits).ChangeVisit(t.Context(), odd); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("ChangeVisit to status %d = %+v, %v; want ErrInvalid", status, got, err)
		}
	}
	hasVisit(t, s, second)
}

func visitChangesConcurrent(t *testing.T, s store.Store) {
	kept := addVisit(t, s, aVisit(1))
	errs := make([]error, callers)
	together(func(i int) {
		v := kept
		v.Status, v.SignedBy = store.VisitSigned, fmt.Sprint("caller ", i)
		_, errs[i] = s.(store.Visits).ChangeVisit(t.Context(), v)
	})
	made := 0
	for i, err := range errs {
		if err == nil {
			made++
			kept.SignedBy = fmt.Sprint("caller ", i)
		} else if !errors.Is(err, store.ErrChanged) {
			t.Errorf("ChangeVisit: %v; want ErrChanged", err)
		}
	}
	got, err := s.(store.Visits).VisitByID(t.Context(), kept.ID)
	if err != nil || made != 1 || got.SignedBy != kept.SignedBy {
		t.Errorf("%d of the changes were made; it is signed by %q, %v; want %q", made, got.SignedBy, err, kept.SignedBy)
	}
}

func visitsConcurrent(t *testing.T, s store.Store) {
	kept := make([]store.Visit, callers)
	errs := make([]error, callers)
	together(func(i int) {
		v := aVisit(1)
		v.Patient = fmt.Sprint("Patient/", i%2) // two contents under one ID
		kept[i], errs[i] = s.(store.Visits).AddVisit(t.Context(), v)
	})
	for i, err := range errs {
		if (err == nil) != (errs[i%2] == nil) || err != nil && !errors.Is(err, store.ErrExists) {
			t.Errorf("visit %d: %v; the first of its content: %v", i, err, errs[i%2])
		}
		if err == nil && cmp.Diff(kept[i%2], kept[i]) != "" {
			t.Errorf("visit %d is kept as %+v, and the first of its content as %+v", i, kept[i], kept[i%2])
		}
	}
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("of two contents under one ID just one may be kept; got %v and %v", errs[0], errs[1])
	}
}

func visitKeepsNoReference(t *testing.T, s store.Store) {
	given := aVisit(1)
	kept := addVisit(t, s, given)
	want := kept
	want.Procedures = aVisit(1).Procedures
	given.Procedures[0], kept.Procedures[1] = "changed", "changed"
	hasVisit(t, s, want)
	given = want
	given.Procedures = aVisit(1).Procedures
	kept = changeVisit(t, s, given)
	want.Revision = kept.Revision
	given.Procedures[0], kept.Procedures[1] = "changed", "changed"
	hasVisit(t, s, want)
}

func visitsListed(t *testing.T, s store.Store) {
	var all []store.Visit
	for i := range 30 {
		all = append(all, addVisit(t, s, aVisit(i)))
	}
	all[10].Status, all[10].Patient = store.VisitInProgress, "Patient/2" // of Patient/1
	all[10] = changeVisit(t, s, all[10])
	for _, patient := range []string{"", "Patient/1", "Patient/2", "patient/1", "%"} {
		for _, before := range []int64{math.MinInt64, 0, all[0].Number, all[9].Number, all[10].Number, all[29].Number, math.MaxInt64} {
			for _, limit := range []int{1, 3, 1000} {
				var want []store.Visit
				for _, v := range slices.Backward(all) {
					if v.Number < before && (patient == "" || v.Patient == patient) && len(want) < limit {
						want = append(want, v)
					}
				}
				got, err := s.(store.Visits).VisitsBefore(t.Context(), patient, before, limit)
				if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); err != nil || d != "" {
					t.Errorf("VisitsBefore(%q, %d, %d): %v (-want +got):\n%s", patient, before, limit, err, d)
				}
			}
		}
	}
}

func visitContext(t *testing.T, s store.Store) {
	visits := s.(store.Visits)
	kept := addVisit(t, s, aVisit(1))
	_, adding := visits.AddVisit(ended(t), aVisit(2))
	_, changing := visits.ChangeVisit(ended(t), kept)
	_, finding := visits.VisitByID(ended(t), kept.ID)
	_, listing := visits.VisitsBefore(ended(t), "", math.MaxInt64, 9)
	for what, err := range map[string]error{"AddVisit": adding, "ChangeVisit": changing, "VisitByID": finding, "VisitsBefore": listing} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v; want context.Canceled", what, err)
		}
	}
	hasVisit(t, s, kept)
	if got, err := visits.VisitByID(t.Context(), aVisit(2).ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("what was cancelled left %+v, %v", got, err)
	}
}

func visitOfNoText(t *testing.T, s store.Store) {
	for _, text := range []string{"\x00", "a\x00b", "\xff", "\xed\xa0\x80"} {
		for what, change := range map[string]func(*store.Visit){
			"ID": func(v *store.Visit) { v.ID = text }, "patient": func(v *store.Visit) { v.Patient = text },
			"procedure": func(v *store.Visit) { v.Procedures[1] = text },
		} {
			v := aVisit(1)
			v.ID = fmt.Sprintf("%s %x", what, text)
			change(&v)
			kept, err := s.(store.Visits).AddVisit(t.Context(), v)
			if err == nil {
				hasVisit(t, s, kept)
			} else if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("AddVisit with %s %q: %v; want ErrInvalid", what, text, err)
			}
			v = addVisit(t, s, store.Visit{ID: fmt.Sprintf("fine %s %x", what, text), Created: noon})
			v.SignedBy = text
			if changed, err := s.(store.Visits).ChangeVisit(t.Context(), v); err == nil {
				hasVisit(t, s, changed)
			} else if !errors.Is(err, store.ErrInvalid) {
				t.Errorf("ChangeVisit signed by %q: %v; want ErrInvalid", text, err)
			}
		}
	}
}
