package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/tare-bench/tare/record"
)

const resultsFile = "results.jsonl"

// results keeps the lines of a run: in memory for the report, and in a file,
// where each stands for good before keep returns.
type results struct {
	file *os.File
	run  record.Run
}

// createResults makes the folder and the file. It overwrites nothing.
func createResults(dir string) (*results, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create results folder: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, resultsFile), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create results file: %w", err)
	}
	return &results{file: f}, nil
}

func (r *results) keep(l record.Line) error {
	if err := record.Write(r.file, l); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	if err := r.file.Sync(); err != nil {
		return fmt.Errorf("keep results: %w", err)
	}
	return r.run.Add(l)
}

func (r *results) close() error { return r.file.Close() }

// defaultDir is where results go when nobody says: a folder of their own.
func defaultDir(now time.Time, workload string) string {
	return filepath.Join("tare-results", now.Format("20060102-150405")+"-"+workload)
}

// readResults reads a results file, or the one in a folder.
func readResults(path string) (*record.Run, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, resultsFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	run, err := record.Read(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return run, nil
}
