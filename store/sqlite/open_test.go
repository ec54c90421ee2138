package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tare-bench/tare/store"
)

func TestAddresses(t *testing.T) {
	for text, want := range map[string]address{
		"sqlite:a.db":                          {file: "a.db", group: true},
		"sqlite:/var/lib/a b#.db":              {file: "/var/lib/a b#.db", group: true},
		"sqlite:a.db?commit=group":             {file: "a.db", group: true},
		"sqlite:a.db?commit=each":              {file: "a.db"},
		"sqlite:a.db?commit=group&commit=each": {file: "a.db"},
	} {
		if got, err := parseAddress(text); err != nil || got != want {
			t.Errorf("%s is %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, names := range map[string]string{
		"sqlite":                       "write sqlite:FILE",
		"sqlite:":                      "write sqlite:FILE",
		"sqlite:?commit=each":          "write sqlite:FILE",
		"sqlite:a.db?commit=never":     "neither group nor each",
		"sqlite:a.db?comit=each":       `no option "comit"`,
		"sqlite:a.db?_pragma=x":        `no option "_pragma"`,
		"sqlite:a.db?commit=each&%zz=": "read options",
	} {
		s, err := Kind{}.Open(t.Context(), text)
		if err == nil || !strings.Contains(err.Error(), names) || !strings.Contains(err.Error(), text) {
			t.Errorf("Open(%q) = %v, %v; want an error that names it, and %q", text, s, err, names)
		}
	}
}

func TestApart(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"sqlite:/x/a.db":             "sqlite:/x/a-b0-rest.db",
		"sqlite:/x/a":                "sqlite:/x/a-b0-rest",
		"sqlite:/x/a.db?commit=each": "sqlite:/x/a-b0-rest.db?commit=each",
		"sqlite:" + dir:              "sqlite:" + dir + "/b0-rest.db",
	} {
		if got, err := (Kind{}).Apart(text, "b0-rest"); err != nil || got != want {
			t.Errorf("Apart(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
	if got, err := (Kind{}).Apart("sqlite:", "b0"); err == nil {
		t.Errorf("Apart of no file = %q", got)
	}
	odd, err := Kind{}.Apart("sqlite:"+dir+"?commit=each", "b0/../rest+json?x=1")
	if err != nil {
		t.Fatal(err)
	}
	s := opened(t, odd)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("the folder holds %v; want one file", left)
	}
	for range 2 { // what is gone is gone
		if err := (Kind{}).Remove(t.Context(), odd); err != nil {
			t.Error(err)
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("Remove left %v", left)
	}
}

func TestRemoveTakesWhatACrashLeaves(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	s := opened(t, "sqlite:"+file)
	if _, err := s.Charge(t.Context(), aPayment("a"), 10); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file + "-wal"); err != nil {
		t.Fatalf("an open file has no log: %v", err)
	}
	if err := (Kind{}).Remove(t.Context(), "sqlite:"+file); err != nil { // before Close: as after a kill
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(file)); len(left) != 0 {
		t.Errorf("Remove left %v", left)
	}
	_ = s.Close() // of a file that is gone
}

func TestFilesAreTheUsersOwn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	s := opened(t, "sqlite:"+file)
	if _, err := s.Charge(t.Context(), aPayment("a"), 10); err != nil {
		t.Fatal(err)
	}
	for _, ending := range []string{"", "-wal", "-shm"} {
		if at, err := os.Stat(file + ending); err != nil || at.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v; want 0600", file+ending, at.Mode(), err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again := opened(t, "sqlite:"+file)
	if p, err := again.PaymentByID(t.Context(), "a"); err != nil || p.User != "u" {
		t.Errorf("after Close and Open: %+v, %v", p, err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// What a commit costs, and what it survives, hang on these.
func TestCommitsAreSynced(t *testing.T) {
	s := opened(t, "sqlite:"+filepath.Join(t.TempDir(), "a.db"))
	defer s.Close()
	for pragma, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1", "application_id": "1952543333", "user_version": fmt.Sprint(len(migrations))} {
		var got string
		if err := s.write.conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", pragma, got, err, want)
		}
	}
}

// raw runs SQL on a file beside any store, as another program does.
func raw(t *testing.T, file string, texts ...string) *sql.Conn {
	t.Helper()
	db, err := database(file, 1)
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		if _, err := c.ExecContext(t.Context(), text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	t.Cleanup(func() { _, _ = c.Close(), db.Close() })
	return c
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(in("text.db"), []byte(strings.Repeat("no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	_ = raw(t, in("other.db"), "CREATE TABLE notes (text)").Close()
	_ = raw(t, in("marked.db"), "PRAGMA application_id = 7; CREATE TABLE t (x)").Close()
	s := opened(t, "sqlite:"+in("newer.db"))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_ = raw(t, in("newer.db"), "PRAGMA user_version = 99").Close()
	for name, want := range map[string]string{
		"none/a.db": "there is no folder",
		"":          "is a folder: name a file in it",
		"text.db":   "no SQLite database: name another file",
		"other.db":  "another program's database: name another file",
		"marked.db": "another program's database",
		"newer.db":  fmt.Sprintf("version 99 and this program knows %d: use the newer program", len(migrations)),
	} {
		s, err := Kind{}.Open(t.Context(), "sqlite:"+in(name))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), in(name)) {
			t.Errorf("Open %s = %v, %v; want an error with %q", name, s, err, want)
		}
		if errors.Is(err, store.ErrUnavailable) {
			t.Errorf("Open %s: %v: it will not pass", name, err)
		}
	}
	var mode string
	if err := raw(t, in("other.db")).QueryRowContext(t.Context(), "PRAGMA journal_mode").Scan(&mode); err != nil || mode != "delete" {
		t.Errorf("what is another program's was changed: journal mode %s, %v", mode, err)
	}
}

func TestOpenWithoutLeave(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.db")
	s := opened(t, "sqlite:"+file)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Dir(filepath.Dir(dir)), filepath.Dir(dir), dir} {
		if err := os.Chmod(path, 0o755); err != nil && path != filepath.Dir(filepath.Dir(dir)) {
			t.Fatal(err)
		}
	}
	fresh := filepath.Join(dir, "fresh.db")
	if err := os.WriteFile(fresh, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		mode os.FileMode
		want string
	}{
		{file, 0o444, "let this user"},
		{file, 0, "let this user"},
		{fresh, 0o444, "it can only be read: let this user"},
	} {
		if err := os.Chmod(c.file, c.mode); err != nil {
			t.Fatal(err)
		}
		asNobody(t, func() {
			if _, err := (Kind{}).Open(t.Context(), "sqlite:"+c.file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Open %s of mode %v: %v; want an error with %q", c.file, c.mode, err, c.want)
			}
		})
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		if _, err := (Kind{}).Open(t.Context(), "sqlite:"+dir+"/new.db"); err == nil || !strings.Contains(err.Error(), "let this user write to") {
			t.Errorf("Open in a folder that can only be read: %v", err)
		}
	})
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

// asNobody runs f as a user whom files' modes bind: root's are not.
func asNobody(t *testing.T, f func()) {
	if os.Geteuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const nobody = 65534
	if _, err := unix.SetfsuidRetUid(nobody); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = unix.SetfsuidRetUid(0) }()
	f()
}
