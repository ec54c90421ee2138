package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tare-bench/tare/catalog"
	"github.com/tare-bench/tare/store"
	"github.com/tare-bench/tare/workload"
	"github.com/tare-bench/tare/workload/statements/dataset"
)

// bulk is a workload that is nothing but its records.
type bulk struct{ workload.Workload }

func (bulk) Spec() workload.Spec       { return workload.Spec{Name: "bulk"} }
func (bulk) Dataset() workload.Dataset { return dataset.Statements() }

// single is one that has none.
type single struct{ workload.Workload }

func (single) Spec() workload.Spec { return workload.Spec{Name: "single"} }

// shelf is a kind of store with one store, which outlives its users.
type shelf struct {
	store.Kind
	rows  []store.Statement
	puts  int
	fails func(put int) error // instead of a put, counted from 1
}

func (s *shelf) Spec() store.Spec                                  { return store.Spec{Name: "shelf"} }
func (s *shelf) Open(context.Context, string) (store.Store, error) { return board{shelf: s}, nil }

type board struct {
	store.Statements
	shelf *shelf
}

func (board) Ping(context.Context) error { return nil }
func (board) Close() error               { return nil }

func (b board) PutStatements(_ context.Context, all []store.Statement) (done []store.Outcome, err error) {
	b.shelf.puts++
	if b.shelf.fails != nil {
		if err := b.shelf.fails(b.shelf.puts); err != nil {
			return nil, err
		}
	}
	for _, row := range all {
		done = append(done, b.shelf.put(row))
	}
	return done, nil
}

func (s *shelf) put(row store.Statement) store.Outcome {
	row.Body = bytes.Clone(row.Body)
	for i := range s.rows {
		if s.rows[i].ID != row.ID {
			continue
		}
		if bytes.Equal(s.rows[i].Body, row.Body) && s.rows[i].Subject == row.Subject {
			return store.Unchanged
		}
		s.rows[i] = row
		return store.Replaced
	}
	s.rows = append(s.rows, row)
	return store.Added
}

func (b board) EachStatement(ctx context.Context, _ string, _ int64, do func(*store.Statement) error) error {
	for i := range b.shelf.rows {
		if err := errors.Join(ctx.Err(), do(&b.shelf.rows[i])); err != nil {
			return err
		}
	}
	return nil
}

// desk runs tare data in a folder, over a shelf.
type desk struct {
	t     *testing.T
	dir   string
	shelf *shelf
	in    string
}

func newDesk(t *testing.T) *desk { return &desk{t: t, dir: t.TempDir(), shelf: new(shelf)} }

// path is that of a file in the folder.
func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *desk) write(name string, text []byte) {
	d.t.Helper()
	if err := os.WriteFile(d.path(name), text, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) read(name string) []byte {
	d.t.Helper()
	text, err := os.ReadFile(d.path(name))
	if err != nil {
		d.t.Fatal(err)
	}
	return text
}

// run must end with an exit code; @NAME in a word is a file of the folder.
func (d *desk) run(code int, words ...string) (out, told string) {
	d.t.Helper()
	for i := range words {
		if name, is := strings.CutPrefix(words[i], "@"); is {
			words[i] = d.path(name)
		}
	}
	var stdout, stderr bytes.Buffer
	c := catalog.Catalog{Workloads: []workload.Workload{single{}, bulk{}}, Stores: []store.Kind{d.shelf}, ServedIn: "shelf:%s"}
	got := Main(append([]string{"data"}, words...), c, System{
		In: strings.NewReader(d.in), Out: &stdout, Err: &stderr, Now: time.Now,
		Terminal: func(io.Writer) (int, bool) { return 0, false },
	})
	if got != code {
		d.t.Fatalf("tare data %s ended with %d and not %d:\n%s", strings.Join(words, " "), got, code, stderr.String())
	}
	return stdout.String(), stderr.String()
}

func (d *desk) says(text string, wanted ...string) {
	d.t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			d.t.Errorf("%q is not said in:\n%s", w, text)
		}
	}
}

// What goes through every form of file and a store comes out byte for byte.
func TestRecordsComeOutAsTheyWentIn(t *testing.T) {
	d := newDesk(t)
	d.run(exitFine, "generate", "bulk", "--count", "1234", "--seed", "9", "--out", "@a.ndjson")
	want := d.read("a.ndjson")
	if n := bytes.Count(want, []byte("\n")); n != 1234 {
		t.Fatalf("%d lines", n)
	}
	from := "ndjson"
	for _, to := range []string{"fhir", "fhir-collection", "fhir-searchset", "fhir-transaction", "ndjson"} {
		_, told := d.run(exitFine, "convert", "@a."+from, "--from", from, "--to", to, "--out", "@b."+to)
		if told != "" {
			t.Errorf("%s to %s: %s", from, to, told)
		}
		if err := os.Rename(d.path("b."+to), d.path("a."+to)); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	if !bytes.Equal(d.read("a.ndjson"), want) {
		t.Error("records are others after each format")
	}
	out, _ := d.run(exitFine, "import", "bulk", "@a.fhir-transaction", "--format", "fhir", "--store", "shelf:x")
	d.says(out, "1234 statements written to shelf:x, 0 there already, 0 rejected")
	if d.shelf.puts != 3 {
		t.Errorf("%d commits", d.shelf.puts)
	}
	out, _ = d.run(exitFine, "import", "bulk", "@a.ndjson")
	d.says(out, "0 statements written to shelf:bulk, 1234 there already, 0 rejected")
	if out, told := d.run(exitFine, "export", "bulk"); out != string(want) {
		t.Error("records are others after a store")
	} else {
		d.says(told, "1234 statements of shelf:bulk written")
	}
}

// Each record that is not taken is told, and the others are kept.
func TestEachRejectIsTold(t *testing.T) {
	d := newDesk(t)
	good, _ := d.run(exitFine, "generate", "bulk", "--count", "2")
	lines := strings.SplitAfter(good, "\n")
	d.in = lines[0] + "\n" + `{"statementId":"b1","status":"MEDICATION_STATEMENT_STATUS_ACTIVE","visitId":"a b"}` + "\n" + `{"statementId":"b2","x":1}` + "\n" + lines[1]
	out, told := d.run(exitFailed, "import", "bulk", "-", "--rejects", "@rejects")
	d.says(out, "2 statements written to shelf:bulk, 0 there already, 2 rejected")
	d.says(told,
		"rejected: line 3, index 1, b1: visit_id: does not match regex pattern",
		"rejected: line 3, index 1, b1: subject: value is required",
		`rejected: line 4, index 2, b2: column 21: unknown field "x"`,
		"tare: error: 2 of 4 statements were rejected", "tare: hint: the others have been taken",
	)
	d.says(string(d.read("rejects")), `{"line":3,"index":1,"id":"b1","problems":["`, `{"line":4,"index":2,"id":"b2","problems":["column 21: unknown field \"x\""]}`)
	if len(d.shelf.rows) != 2 {
		t.Errorf("%d are kept", len(d.shelf.rows))
	}

	d.in = strings.Repeat("x\n", 500)
	_, told = d.run(exitFailed, "convert", "-", "--from", "ndjson", "--to", "fhir")
	if n := strings.Count(told, "rejected: line"); n != toldRejects {
		t.Errorf("%d rejects are told one by one", n)
	}
	d.says(told, "further rejects are counted; --rejects FILE keeps all", "500 of 500 statements were rejected")
}

func TestWhatIsLeftOutIsTold(t *testing.T) {
	d := newDesk(t)
	d.in = `{"resourceType":"Patient","id":"p"}` + "\n" + `{"resourceType":"MedicationStatement","id":"a","identifier":[{}],"status":"active","medicationCodeableConcept":{"text":"x"},"subject":{"reference":"Patient/p"}}`
	out, told := d.run(exitFine, "convert", "-", "--from", "fhir", "--to", "ndjson")
	d.says(out, `{"statementId":"a",`)
	d.says(told, "left out: (Patient), 1 times", "left out: identifier, 1 times")
}

// An import that breaks off says how far it came, and goes on when it is repeated.
func TestAnImportThatBreaksOff(t *testing.T) {
	d := newDesk(t)
	d.run(exitFine, "generate", "bulk", "--count", "1600", "--out", "@a")
	full := errors.New("database or disk is full")
	d.shelf.fails = func(put int) error {
		if put == 3 {
			return full
		}
		return nil
	}
	out, told := d.run(exitFailed, "import", "bulk", "@a")
	d.says(out, "1000 statements written")
	d.says(told, "tare: error: keep statements in shelf:bulk: database or disk is full; up to line 1000 of the file all is kept or rejected",
		"tare: hint: free some space on the store's disk; the same command again goes on")
	d.shelf.fails = nil
	out, _ = d.run(exitFine, "import", "bulk", "@a")
	d.says(out, "600 statements written to shelf:bulk, 1000 there already, 0 rejected")
}

// Whoever is interrupted is told so at once, even where input does not come.
func TestInterruptsEndTheMovingOfRecords(t *testing.T) {
	d := newDesk(t)
	d.run(exitFine, "generate", "bulk", "--count", "1600", "--out", "@a")
	for _, words := range [][]string{
		{"import", "bulk", d.path("a")},
		{"import", "bulk", "-"},
		{"convert", "-", "--from", "ndjson", "--to", "fhir", "--out", d.path("b")},
		{"generate", "bulk", "--count", "100000000", "--out", d.path("b")},
		{"export", "bulk", "--out", d.path("b")},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		d.shelf.rows, d.shelf.puts = nil, 0
		d.shelf.fails = func(int) error { cancel(); return ctx.Err() }
		if words[1] != "bulk" || words[0] != "import" || words[2] == "-" {
			cancel()
		}
		never, _, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		a := &app{
			System: System{
				In: never, Out: new(bytes.Buffer), Err: new(bytes.Buffer), Now: time.Now,
				Terminal: func(io.Writer) (int, bool) { return 0, false },
			},
			catalog: catalog.Catalog{Workloads: []workload.Workload{bulk{}}, Stores: []store.Kind{d.shelf}, ServedIn: "shelf:%s"},
		}
		root := a.root()
		root.SetArgs(append([]string{"data"}, words...))
		if err := root.ExecuteContext(ctx); !errors.Is(err, errStopped) {
			t.Errorf("%v: %v", words, err)
		}
		if _, err := os.Stat(d.path("b")); err == nil {
			t.Errorf("%v: a part of a file is left", words)
		}
		cancel()
	}
}

func TestDataIsUsedWrongly(t *testing.T) {
	d := newDesk(t)
	d.write("there", []byte("x"))
	for _, c := range []struct {
		code  int
		want  string
		words []string
	}{
		{exitUsage, `unknown workload "x"; there is single, bulk`, []string{"generate", "x"}},
		{exitUsage, "single has no records that move in bulk; there is bulk", []string{"generate", "single"}},
		{exitUsage, `unknown format "xml"; of statements there is ndjson, fhir, fhir-collection`, []string{"generate", "bulk", "--format", "xml"}},
		{exitUsage, "--count -1", []string{"generate", "bulk", "--count", "-1"}},
		{exitUsage, "say --from FORMAT and --to FORMAT", []string{"convert", "@there", "--from", "fhir"}},
		{exitUsage, `unknown format "xml"`, []string{"convert", "@there", "--from", "fhir", "--to", "xml"}},
		{exitUsage, "takes a workload and a file", []string{"import", "bulk"}},
		{exitUsage, `unknown store "y"; there is shelf`, []string{"export", "bulk", "--store", "y:z"}},
		{exitFailed, "no such file", []string{"import", "bulk", "@nowhere"}},
		{exitFailed, "is a folder, and a file is wanted", []string{"import", "bulk", "@"}},
		{exitFailed, "tare: hint: give another name, or remove the file", []string{"generate", "bulk", "--out", "@there"}},
		{exitFailed, "tare: hint: give another name, or remove the file", []string{"import", "bulk", "@there", "--rejects", "@there"}},
	} {
		_, told := d.run(c.code, c.words...)
		d.says(told, c.want)
	}
	if string(d.read("there")) != "x" {
		t.Error("a file was overwritten")
	}
	out, _ := d.run(exitFine, "--help")
	d.says(out, "Formats of bulk:", fmt.Sprintf("  %-18s %s", "fhir", "a line with a resource"))
}
