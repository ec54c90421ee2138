package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/tare-bench/tare/record"
)

// readPoints reads the points of a sweep, which are folders below dir, and says
// which of them cannot be read. There are none where dir is no such folder.
func readPoints(dir string) (runs []*record.Run, unread []error, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == resultsFile }) {
		return nil, nil, nil // a file, or nothing: who reads one run says what is wrong
	}
	for _, e := range entries {
		below := filepath.Join(dir, e.Name())
		if _, err := os.Stat(filepath.Join(below, resultsFile)); err != nil || e.Name() == pilotName {
			continue // something else, or a point that was never begun
		}
		run, err := readResults(below)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		if run.Header.Sweep == nil {
			continue // a run of its own
		}
		for _, other := range runs {
			if why := strangers(other.Header, run.Header); why != "" {
				return nil, nil, fmt.Errorf("read sweep: %s: %s", below, why)
			}
		}
		runs = append(runs, run)
	}
	return runs, unread, nil
}

// strangers says why two runs are no points of one sweep; "" where they are.
func strangers(a, b record.Header) string {
	one, other := *a.Sweep, *b.Sweep
	switch {
	case one.Axis != other.Axis || one.Of != other.Of || !slices.Equal(a.Command, b.Command):
		return fmt.Sprintf("is of another sweep than %v; give a folder with the points of one", one)
	case one.Index == other.Index:
		return fmt.Sprintf("is point %d of the sweep, and so is another folder", one.Index+1)
	}
	return ""
}

// readAlone reads the results of one run.
func readAlone(path string) ([]*record.Run, error) {
	run, err := readResults(path)
	return []*record.Run{run}, err
}

// pointName says which point of its sweep a run is.
func pointName(run *record.Run) string {
	return fmt.Sprintf("at %v", run.Header.Sweep)
}

// refuseSweep is the error of a sweep where one run is compared with another.
func refuseSweep(folder string, points []*record.Run) error {
	if len(points) == 0 {
		return nil
	}
	return usage(fmt.Errorf("%s holds a sweep: two runs are compared; give the folder of a point of it", folder))
}
