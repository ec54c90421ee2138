package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Run is a results file, read, or gathered line by line with Add.
type Run struct {
	Header Header
	Blocks []Block
	Trials []Trial // in the order in which they ended
	// Profiles are of trials apart, which no metric knows of.
	Profiles []Profile
	End      *End // nil where the run was cut short
	Cut      bool // the last line was incomplete, and left out

	taken map[place]bool // of the first len(taken) of Trials
}

// place is where a trial stands; there is one for each.
type place struct{ block, round, scenario int }

// longestLine bounds what a damaged file can make Read hold: a Trial line takes
// some 10 kB, a Header line somewhat more.
const longestLine = 16 << 20

// ErrNotResults is wrapped by Read's error for a file that is no results file.
var ErrNotResults = errors.New("not a results file of tare")

// Write writes one line, in one call of w.Write, so that a crash leaves at most
// the last line incomplete.
func Write(w io.Writer, l Line) error {
	set := 0
	for _, isSet := range []bool{l.Header != nil, l.Block != nil, l.Trial != nil, l.Profile != nil, l.End != nil} {
		if isSet {
			set++
		}
	}
	if set != 1 {
		return fmt.Errorf("write results: a line holds one thing, this one holds %d", set)
	}
	return writeLine(w, l)
}

func writeLine(w io.Writer, l any) error {
	text, err := json.Marshal(l)
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

// Read reads a whole results file. It skips kinds of line that it does not
// know, and leaves out a last line that a crash cut short. Any other line that
// is broken, or speaks of a scenario that the header does not name, is an error
// with the number of the line. The error wraps ErrNotResults where the file
// does not begin with a header.
func Read(r io.Reader) (*Run, error) {
	var run Run
	err := eachLine(r, func(text []byte, whole bool) error {
		err := run.add(text)
		if err != nil && !whole && run.Header.Format != 0 {
			run.Cut = true
			return nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if run.Header.Format == 0 {
		return nil, fmt.Errorf("read results: %w: it is empty", ErrNotResults)
	}
	return &run, nil
}

// eachLine hands over each line that is not blank, and whether it had an end.
func eachLine(r io.Reader, do func(text []byte, whole bool) error) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for number := 1; ; number++ {
		text, whole, err := nextLine(lines)
		switch {
		case err != nil:
		case len(text) == 0 && !whole:
			return nil
		case len(bytes.TrimSpace(text)) > 0:
			err = do(text, whole)
		}
		if err != nil {
			return fmt.Errorf("read results: line %d: %w", number, err)
		}
	}
}

// nextLine gives the next line without its end, and whether it had one.
func nextLine(r *bufio.Reader) (text []byte, whole bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if len(text)+len(part) > longestLine {
			return nil, false, fmt.Errorf("longer than %d MiB", longestLine>>20)
		}
		text = append(text, part...)
		switch {
		case err == nil:
			return text[:len(text)-1], true, nil
		case errors.Is(err, io.EOF):
			return text, false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		}
	}
}

// add takes the text of one line in.
func (r *Run) add(text []byte) error {
	if r.Header.Format == 0 {
		if err := checkFormat(text); err != nil {
			return err
		}
	}
	var l Line
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	return r.Add(l)
}

// Add takes in one line, as it comes in the file: the header first. A line that
// cannot stand where it does is an error, and is not taken in.
func (r *Run) Add(l Line) error {
	switch {
	case l.Header != nil:
		if r.Header.Format != 0 {
			return errors.New("a second header")
		}
		h := *l.Header
		if !slices.ContainsFunc(h.Scenarios, func(s Scenario) bool { return s.Name == h.Baseline }) {
			return fmt.Errorf("baseline %q is no scenario of the run", h.Baseline)
		}
		r.Header = h
	case l.Block != nil:
		r.Blocks = append(r.Blocks, *l.Block)
	case l.Trial != nil:
		if n := l.Trial.Scenario; n < 0 || n >= len(r.Header.Scenarios) {
			return fmt.Errorf("no scenario %d; there are %d", n, len(r.Header.Scenarios))
		}
		if err := r.take(*l.Trial); err != nil {
			return err
		}
		r.Trials = append(r.Trials, *l.Trial)
	case l.Profile != nil:
		return r.addProfile(*l.Profile)
	case l.End != nil:
		r.End = l.End
	}
	return nil
}

func (r *Run) addProfile(p Profile) error {
	if n := p.Scenario; n < 0 || n >= len(r.Header.Scenarios) {
		return fmt.Errorf("no scenario %d; there are %d", n, len(r.Header.Scenarios))
	}
	if slices.ContainsFunc(r.Profiles, func(q Profile) bool { return q.Block == p.Block && q.Scenario == p.Scenario }) {
		return fmt.Errorf("a second profile of scenario %d in block %d", p.Scenario, p.Block)
	}
	r.Profiles = append(r.Profiles, p)
	return nil
}

// take marks the place of a trial. A second trial there, as where a file was
// pasted together, would count as more of the first.
func (r *Run) take(t Trial) error {
	if len(r.taken) != len(r.Trials) { // they were not gathered by Add alone
		r.taken = make(map[place]bool, len(r.Trials))
		for _, t := range r.Trials {
			r.taken[place{t.Block, t.Round, t.Scenario}] = true
		}
	}
	at := place{t.Block, t.Round, t.Scenario}
	if r.taken[at] {
		return fmt.Errorf("a second trial of scenario %d in block %d, round %d", t.Scenario, t.Block, t.Round)
	}
	if r.taken == nil {
		r.taken = make(map[place]bool)
	}
	r.taken[at] = true
	return nil
}

// checkFormat reads the format of the first line by itself: the rest of a newer
// header may have changed its shape.
func checkFormat(text []byte) error {
	var first struct {
		Header struct {
			Format int `json:"format"`
		} `json:"header"`
	}
	if err := json.Unmarshal(text, &first); err != nil || first.Header.Format < 1 {
		return fmt.Errorf("%w: it does not begin with a header", ErrNotResults)
	}
	if f := first.Header.Format; f > Format {
		return fmt.Errorf("format %d was written by a newer tare; this one reads up to %d", f, Format)
	}
	return nil
}
