package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/tare-bench/tare/workload"
)

// fileError is of a file that records are written to.
type fileError struct{ error }

func (e *fileError) Unwrap() error { return e.error }

func (e *fileError) Hint() string {
	switch {
	case errors.Is(e.error, fs.ErrExist):
		return "give another name, or remove the file; no file is overwritten"
	case errors.Is(e.error, syscall.ENOSPC):
		return "free some space, or give a file on another disk; what was begun has been removed"
	}
	return "look at the folder and its permissions"
}

// create makes a file that is not there.
func create(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, &fileError{fmt.Errorf("create file: %w", err)}
	}
	return f, nil
}

// write has records written to a file, or to standard output where path is "". A
// file that cannot be written to its end is removed: none that is there is a part.
func (a *app) write(path string, f workload.Format, fill func(workload.RecordWriter) error) (err error) {
	out := a.Out
	if path != "" {
		file, failed := create(path)
		if failed != nil {
			return failed
		}
		defer func() {
			if err = errors.Join(err, file.Close()); err != nil {
				err = errors.Join(err, os.Remove(path))
			}
		}()
		out = &written{file, nil}
	}
	w := f.Write(out)
	if err := fill(w); err != nil {
		return writeFailure(out, err)
	}
	if err := w.Close(); err != nil {
		return writeFailure(out, fmt.Errorf("write records: %w", err))
	}
	if file, ok := out.(*written); ok {
		if err := file.Sync(); err != nil {
			return &fileError{fmt.Errorf("write records: %w", err)}
		}
	}
	return nil
}

// written is a file that remembers how writing to it failed.
type written struct {
	*os.File
	failed error
}

func (w *written) Write(b []byte) (int, error) {
	n, err := w.File.Write(b)
	if err != nil {
		w.failed = err
	}
	return n, err
}

func writeFailure(out io.Writer, err error) error {
	if file, ok := out.(*written); ok && file.failed != nil && errors.Is(err, file.failed) {
		return &fileError{err}
	}
	return err
}

// meter shows how far records have come: a bar on a terminal, now and then a line
// elsewhere.
type meter struct {
	app   *app
	what  string
	bar   *progressbar.ProgressBar
	begun time.Time
	next  time.Time
}

const (
	meterPause = 10 * time.Second
	meterSteps = 1 << 10 // records between two looks at the clock
)

// meter gives one of work whose size is told, or -1.
func (a *app) meter(what string, size int64) *meter {
	now := a.Now()
	m := &meter{app: a, what: what, begun: now, next: now.Add(meterPause)}
	if columns, ok := a.Terminal(a.Err); ok && columns > 0 {
		m.bar = progressbar.NewOptions64(size,
			progressbar.OptionSetWriter(a.Err), progressbar.OptionFullWidth(), progressbar.OptionSetDescription(what),
			progressbar.OptionSetPredictTime(size > 0), progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond))
	}
	return m
}

// step says how many records have come, and where in the work that is.
func (m *meter) step(records, position int64) {
	if records%meterSteps != 0 {
		return
	}
	if m.bar != nil {
		_ = m.bar.Set64(position) // a bar that cannot be drawn ends nothing
		return
	}
	if now := m.app.Now(); !now.Before(m.next) {
		fmt.Fprintf(m.app.Err, "%s: %d, %.0f/s\n", m.what, records, float64(records)/now.Sub(m.begun).Seconds())
		m.next = now.Add(meterPause)
	}
}

func (m *meter) end() {
	if m.bar != nil {
		_ = m.bar.Clear()
	}
}
