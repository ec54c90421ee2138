package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/tare-bench/tare/store"
)

// advice is what a person can do about a failure, by SQLite's primary code, and
// whether it may pass.
var advice = map[int]struct {
	passes bool
	text   string
}{
	sqlite3.SQLITE_BUSY:     {true, "another process holds its lock: end that, or wait for it"},
	sqlite3.SQLITE_FULL:     {true, "its disk has no room: make some"},
	sqlite3.SQLITE_IOERR:    {true, "its disk fails: look at the kernel's log"},
	sqlite3.SQLITE_NOMEM:    {true, "there is no memory left"},
	sqlite3.SQLITE_READONLY: {false, "it can only be read: let this user write to it and to its folder, or name another file"},
	sqlite3.SQLITE_CANTOPEN: {false, "it cannot be opened: let this user read and write it and its folder, or name another file"},
	sqlite3.SQLITE_PERM:     {false, "let this user read and write it and its folder, or name another file"},
	sqlite3.SQLITE_NOTADB:   {false, "it is no SQLite database: name another file"},
	sqlite3.SQLITE_CORRUPT:  {false, "it is damaged: restore it from a backup"},
}

// failure is a failure of SQLite. It wraps store.ErrUnavailable where it may
// pass.
type failure struct {
	path string
	text string
	kind error // or nil
	err  error
}

func (f *failure) Error() string { return fmt.Sprintf("database %s: %s: %v", f.path, f.text, f.err) }

func (f *failure) Unwrap() []error {
	if f.kind == nil {
		return []error{f.err}
	}
	return []error{f.kind, f.err}
}

// explain names the file in an error, and the remedy where there is one.
func (s *Store) explain(err error) error { return explain(s.path, err) }

func explain(path string, err error) error {
	if err == nil {
		return nil
	}
	var known *failure
	if errors.As(err, &known) {
		return err
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("database %s: %w", path, err)
	}
	a, ok := advice[e.Code()&0xff]
	if !ok {
		return fmt.Errorf("database %s: %w", path, err)
	}
	f := &failure{path: path, text: a.text, err: err}
	if a.passes {
		f.kind = store.ErrUnavailable
	}
	return f
}
