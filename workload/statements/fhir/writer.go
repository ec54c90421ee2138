package fhir

import (
	"bufio"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/tare-bench/tare/workload/statements/clinical"
)

// Shape is how a file holds resources.
type Shape struct {
	bundle string // its type; "" is a line for each resource
	about  func(id string) entry
}

// The shapes.
var (
	Lines       = Shape{}                     // as in FHIR Bulk Data
	Collection  = Shape{bundle: "collection"} // a Bundle
	Searchset   = Shape{bundle: "searchset", about: func(string) entry { return entry{Search: &search{Mode: "match"}} }}
	Transaction = Shape{bundle: "transaction", about: func(id string) entry {
		return entry{Request: &request{Method: "PUT", URL: resourceType + "/" + id}}
	}}
)

// Writer writes statements one by one, and holds none.
type Writer struct {
	shape Shape
	out   *bufio.Writer
	text  []byte
	any   bool
}

// NewWriter gives one. What it writes is whole once it is closed.
func NewWriter(w io.Writer, shape Shape) *Writer {
	const size = 1 << 16
	return &Writer{shape: shape, out: bufio.NewWriterSize(w, size)}
}

// Write adds a statement.
func (w *Writer) Write(s *clinical.MedicationStatement) (err error) {
	if w.text, err = Append(w.text[:0], s); err != nil {
		return err
	}
	if w.shape.bundle == "" {
		_, err = w.out.Write(append(w.text, '\n'))
		return err
	}
	between := ",\n"
	if !w.any {
		between = w.begin()
	}
	w.any = true
	var e entry
	if w.shape.about != nil {
		e = w.shape.about(s.StatementID)
	}
	e.Resource = jsontext.Value(w.text)
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write %s/%s: %w", resourceType, s.StatementID, err)
	}
	_, _ = w.out.WriteString(between) // an error of it stays for the next
	_, err = w.out.Write(text)
	return err
}

func (w *Writer) begin() string {
	return fmt.Sprintf(`{"resourceType":%q,"type":%q,"entry":[`+"\n", bundleType, w.shape.bundle)
}

// Close ends what has been written, and not what it was written to.
func (w *Writer) Close() error {
	switch {
	case w.shape.bundle == "":
	case w.any:
		_, _ = w.out.WriteString("\n]}\n") // as above
	default: // FHIR has no empty lists
		_, _ = fmt.Fprintf(w.out, "{\"resourceType\":%q,\"type\":%q}\n", bundleType, w.shape.bundle)
	}
	return w.out.Flush()
}
