package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/tare-bench/tare/store"
)

// address is what follows the scheme, read.
type address struct {
	file  string
	group bool // commits are shared
}

// parseAddress reads sqlite:FILE, sqlite:FILE?commit=group or ?commit=each.
func parseAddress(text string) (address, error) {
	rest, ok := strings.CutPrefix(text, (Kind{}).Spec().Name+":")
	file, query, _ := strings.Cut(rest, "?")
	if !ok || file == "" {
		return address{}, fmt.Errorf("%q names no file: write %s:FILE", text, Kind{}.Spec().Name)
	}
	a := address{file: file, group: true}
	options, err := url.ParseQuery(query)
	if err != nil {
		return a, fmt.Errorf("read options of %s: %w", text, err)
	}
	for name, values := range options {
		value := values[len(values)-1]
		switch {
		case name != "commit":
			return a, fmt.Errorf("%s has no option %q: there is commit=group and commit=each", text, name)
		case value == "each":
			a.group = false
		case value != "group":
			return a, fmt.Errorf("commit=%s of %s is neither group nor each", value, text)
		}
	}
	return a, nil
}

// Apart gives a file beside the one at an address, or in the folder there.
func (k Kind) Apart(text, name string) (string, error) {
	a, err := parseAddress(text)
	if err != nil {
		return "", err
	}
	name = store.NameApart(name)
	extension := filepath.Ext(a.file)
	apart := strings.TrimSuffix(a.file, extension) + "-" + name + extension
	if at, err := os.Stat(a.file); err == nil && at.IsDir() {
		apart = filepath.Join(a.file, name+".db")
	}
	_, options, _ := strings.Cut(text, "?")
	if options != "" {
		options = "?" + options
	}
	return k.Spec().Name + ":" + apart + options, nil
}

// beside are the endings of the files that SQLite keeps beside a database.
var beside = []string{"", "-wal", "-shm", "-journal"}

// Remove deletes the file and those that SQLite left beside it.
func (Kind) Remove(_ context.Context, text string) error {
	a, err := parseAddress(text)
	if err != nil {
		return err
	}
	var errs []error
	for _, ending := range beside {
		if err := os.Remove(a.file + ending); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove store: %w", err))
		}
	}
	return errors.Join(errs...)
}

// makeFile makes an empty file, which SQLite takes for a new database, that
// nobody else may read. One that is there stays as it is: even to open and close
// it would drop the locks that this process may hold on it.
func makeFile(path string) error {
	switch at, err := os.Stat(path); {
	case err == nil && at.IsDir():
		return fmt.Errorf("%s is a folder: name a file in it", path)
	case err == nil:
		return nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist): // by another process, at this time
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no folder %s: make it first, or name another", filepath.Dir(path))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: let this user write to %s, or name a file elsewhere", err, filepath.Dir(path))
	case err != nil:
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// source is what the driver opens: a URL, so that no letter of the path has a
// meaning of its own.
func source(path string, pragmas ...string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	q := url.Values{"_pragma": pragmas, "_dqs": {"0"}, "_error_rc": {"1"}}
	return (&url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}).String(), nil
}
