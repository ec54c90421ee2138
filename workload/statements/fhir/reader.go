package fhir

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tare-bench/tare/workload/statements/clinical"
	"github.com/tare-bench/tare/workload/statements/ndjson"
)

// Entry is one resource of a file: a statement, or what is wrong with it.
type Entry struct {
	Statement *clinical.MedicationStatement // nil where Err is not
	ID        string                        // that it came with, where that much can be read
	Index     int64                         // its place among all entries, from 0
	Line      int64                         // of the file, from 1, on which it begins
	Err       error
}

const (
	// maxResource bounds the bytes of one resource, and so the memory that a file
	// takes, whatever its size.
	maxResource = ndjson.MaxLine
	// manyMedications bounds those that are remembered for statements behind them.
	manyMedications = 100_000
)

// ErrTooLarge is of a resource beyond all reason, behind which nothing is read.
var ErrTooLarge = fmt.Errorf("a resource of more than %d MiB", maxResource>>20)

// Read hands each statement of a file to do, in order, and each resource that
// should be one and cannot be read. The file is resources line by line, or one
// document: a resource or a Bundle, which may be larger than memory. Resources of
// other types are counted in losses. A line that is broken is one entry, and what
// comes behind it is read; behind the first fault of a document nothing is. What
// do returns ends it, and is its error.
func Read(r io.Reader, losses *Losses, do func(Entry) error) error {
	in := reader{losses: losses, known: make(medications), do: do}
	buffered := bufio.NewReaderSize(r, 1<<16)
	start, err := buffered.Peek(len(byteOrderMark))
	if err == nil && string(start) == byteOrderMark {
		_, _ = buffered.Discard(len(byteOrderMark)) // they are there
	}
	lines, err := byLine(buffered)
	switch {
	case err != nil:
		return fmt.Errorf("read resources: %w", err)
	case lines:
		return ndjson.Lines(buffered, in.line)
	}
	return in.document(buffered, 1)
}

const byteOrderMark = "\ufeff"

// byLine says whether the first line is a whole resource, or looks as if it
// should be: a document that goes over many lines begins with an open one. A line
// that is longer than the buffer belongs to a document.
func byLine(r *bufio.Reader) (bool, error) {
	for size := 512; ; size *= 2 {
		start, err := r.Peek(min(size, r.Size()))
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		line, _, whole := bytes.Cut(bytes.TrimLeft(start, " \t\r\n"), []byte("\n"))
		line = bytes.TrimSpace(line)
		switch {
		case whole && len(line) > 0:
			return jsontext.Value(line).IsValid() || line[len(line)-1] == '}' || line[0] != '{', nil
		case err != nil: // the file is one line
			return !bytes.HasSuffix(line, []byte("}")), nil
		case size >= r.Size():
			return false, nil
		}
	}
}

// reader is one file on its way.
type reader struct {
	losses *Losses
	known  medications
	index  int64
	do     func(Entry) error
}

// line reads the resource of one line.
func (in *reader) line(number int64, line []byte) error {
	head, err := headOf(line)
	switch {
	case err != nil:
		return in.give(Entry{ID: head.ID, Line: number, Err: err})
	case head.ResourceType == bundleType:
		return in.document(bytes.NewReader(line), number)
	}
	return in.resource(line, head, "", number)
}

// head is what must be known of a resource before it is read.
type head struct {
	ResourceType string `json:"resourceType"`
	ID           string `json:"id"`
}

// headOf reads it; with an error, what there is of it.
func headOf(text []byte) (h head, err error) {
	if err := json.Unmarshal(text, &h); err != nil {
		return h, fieldError(err)
	}
	if h.ResourceType == "" {
		return h, &FieldError{"resourceType", "is missing: this is no resource"}
	}
	return h, nil
}

// resource takes one that has been read whole. url is how its Bundle calls it.
func (in *reader) resource(text []byte, h head, url string, line int64) error {
	switch h.ResourceType {
	case resourceType:
		id := uuidOf(url)
		s, err := parse(text, id, in.known, in.losses)
		if h.ID != "" {
			id = h.ID
		}
		return in.give(Entry{Statement: s, ID: id, Line: line, Err: err})
	case medicationType:
		in.remember(text, h, url)
	}
	in.losses.add("("+h.ResourceType+")", 1)
	return nil
}

// remember keeps the code of a medication for statements that refer to it.
func (in *reader) remember(text []byte, h head, url string) {
	var m struct {
		Code *concept `json:"code"`
	}
	if json.Unmarshal(text, &m) != nil || m.Code == nil || len(in.known) >= manyMedications {
		return
	}
	for _, name := range []string{medicationType + "/" + h.ID, url} {
		if name != "" && name != medicationType+"/" {
			in.known[name] = m.Code
		}
	}
}

func (in *reader) give(e Entry) error {
	e.Index = in.index
	in.index++
	if e.Err != nil {
		e.Statement = nil
	}
	return in.do(e)
}
