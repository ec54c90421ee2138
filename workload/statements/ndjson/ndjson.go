// Package ndjson reads and writes medication statements as lines of JSON: each a
// message of the schema in its own JSON form (ProtoJSON). It writes them as the
// plain structs do, and reads whatever ProtoJSON allows. Lines of other JSON are
// read through it too.
package ndjson

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"

	clinicalv1 "github.com/tare-bench/tare/gen/tare/clinical/v1"
	"github.com/tare-bench/tare/workload/statements/clinical"
)

// MaxLine bounds the bytes of one line, and so the memory that a file takes.
const MaxLine = 16 << 20

// ErrTooLong is of a line beyond all reason, behind which nothing is read.
var ErrTooLong = fmt.Errorf("a line of more than %d MiB", MaxLine>>20)

// Lines hands each line of a file to do, without blanks around it, and its number
// from 1. Empty lines count and are left out. A line is do's until it returns;
// what it returns ends Lines, and is its error.
func Lines(r *bufio.Reader, do func(number int64, line []byte) error) error {
	var line []byte
	for number := int64(1); ; {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxLine:
			return fmt.Errorf("read line %d: %w", number, ErrTooLong)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return fmt.Errorf("read line %d: %w", number, err)
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			if failed := do(number, text); failed != nil {
				return failed
			}
		}
		if err != nil {
			return nil //nolint:nilerr // the end of the file
		}
		line = line[:0]
		number++
	}
}

// Append adds a statement as one line, without its end.
func Append(dst []byte, s *clinical.MedicationStatement) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false) // it is nowhere near a page
	if err := e.Encode(s); err != nil {
		return dst, fmt.Errorf("write statement %q: %w", s.StatementID, err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Parse reads one line. Where it is broken, id is that which it has, if so much
// of it can be read.
func Parse(line []byte) (s *clinical.MedicationStatement, id string, err error) {
	var m clinicalv1.MedicationStatement
	if err := protojson.Unmarshal(line, &m); err != nil {
		var named struct {
			StatementID string `json:"statementId"`
		}
		_ = json.Unmarshal(line, &named) // it is broken, and may break this too
		return nil, named.StatementID, errors.New(problem(err))
	}
	plain := clinical.StatementType.FromProto(&m).(*clinical.MedicationStatement)
	return plain, plain.StatementID, nil
}

// problem says what protojson found, without its name and with the column alone:
// the line that it tells is always the first.
func problem(err error) string {
	text := strings.TrimPrefix(strings.ReplaceAll(err.Error(), "\u00a0", " "), "proto: ")
	if rest, ok := strings.CutPrefix(text, "syntax error "); ok {
		text = rest
	}
	if rest, ok := strings.CutPrefix(text, "(line 1:"); ok {
		column, what, _ := strings.Cut(rest, "): ")
		return "column " + column + ": " + what
	}
	return text
}
