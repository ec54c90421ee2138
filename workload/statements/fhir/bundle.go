package fhir

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// document reads resources and Bundles one behind the other, the first of which
// begins on a line.
func (in *reader) document(r io.Reader, line int64) error {
	d := document{reader: in, source: &counted{Reader: r, line: line, limit: maxResource}}
	d.json = jsontext.NewDecoder(d.source)
	for {
		switch d.json.PeekKind() {
		case '{':
			switch err := d.object(); {
			case errors.Is(err, errBroken):
				return nil // it has been given
			case err != nil:
				return err
			}
		default:
			at := d.line()
			_, err := d.json.ReadToken()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err == nil {
				err = &FieldError{"", "is no object, and so no resource"}
			}
			if err = d.broken(at, err); errors.Is(err, errBroken) {
				return nil
			}
			return err
		}
	}
}

// errBroken ends a document whose fault has been given as an entry.
var errBroken = errors.New("broken")

type document struct {
	*reader
	source *counted
	json   *jsontext.Decoder
}

// broken gives the fault behind which a document cannot be read.
func (d *document) broken(line int64, err error) error {
	if errors.Is(err, ErrTooLarge) || d.source.failed != nil {
		return fmt.Errorf("read the resource that begins on line %d: %w", line, errors.Join(d.source.failed, plainEnd(err)))
	}
	if given := d.give(Entry{Line: line, Err: fieldError(plainEnd(err))}); given != nil {
		return given
	}
	return errBroken
}

// plainEnd says of a document that ends too early no more than that.
func plainEnd(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &FieldError{"", "ends in the middle: the file is cut off"}
	}
	return err
}

// line is that on which the value begins that was peeked at: behind blanks and a
// comma.
func (d *document) line() int64 {
	ahead := d.json.UnreadBuffer()
	return d.source.lineAt(d.json.InputOffset() + int64(len(ahead)-len(bytes.TrimLeft(ahead, " \t\r\n,"))))
}

// object reads a resource or a Bundle. Which of them it is may stand at its end:
// entries of one with an array of them are read as they come, other members are
// kept until all are known.
func (d *document) object() error {
	begin := d.line()
	var members bytes.Buffer
	entries := false
	if _, err := d.json.ReadToken(); err != nil {
		return d.broken(begin, err)
	}
	for d.json.PeekKind() == '"' {
		name, err := d.json.ReadToken()
		if err != nil {
			return d.broken(begin, err)
		}
		member := name.String()
		if member == "entry" && d.json.PeekKind() == '[' {
			entries = true
			if err := d.entries(); err != nil {
				return err
			}
			continue
		}
		value, err := d.json.ReadValue()
		if err != nil {
			return d.broken(begin, err)
		}
		if members.Len()+len(value) > maxResource {
			return fmt.Errorf("read the resource that begins on line %d: %w", begin, ErrTooLarge)
		}
		quoted, _ := jsontext.AppendQuote(nil, member) // it was valid a moment ago
		if members.Len() > 0 {
			members.WriteByte(',')
		}
		members.Write(quoted)
		members.WriteByte(':')
		members.Write(value)
		d.source.passed(d.json.InputOffset())
	}
	if _, err := d.json.ReadToken(); err != nil {
		return d.broken(begin, err)
	}
	text := fmt.Appendf(nil, "{%s}", members.Bytes())
	h, err := headOf(text)
	switch {
	case err != nil:
		return d.give(Entry{ID: h.ID, Line: begin, Err: err})
	case h.ResourceType == bundleType:
		return d.bundle(text)
	case entries:
		return d.give(Entry{ID: h.ID, Line: begin, Err: &FieldError{"entry", "stands in a " + h.ResourceType + ", and belongs into a " + bundleType}})
	}
	return d.resource(text, h, "", begin)
}

// bundle counts what a Bundle says beside its entries.
func (d *document) bundle(text []byte) error {
	var b struct {
		ResourceType string         `json:"resourceType"`
		Type         string         `json:"type"`
		Rest         jsontext.Value `json:",embed"`
	}
	if err := json.Unmarshal(text, &b); err != nil {
		return fmt.Errorf("read %s: %w", bundleType, fieldError(err))
	}
	d.losses.rest(bundleType, b.Rest)
	return nil
}

// entry is one of a Bundle.
type entry struct {
	FullURL  string         `json:"fullUrl,omitempty"`
	Resource jsontext.Value `json:"resource,omitempty"`
	Request  *request       `json:"request,omitempty"`
	Search   *search        `json:"search,omitempty"`
	Rest     jsontext.Value `json:",embed"`
}

type request struct {
	Method string         `json:"method"`
	URL    string         `json:"url"`
	Rest   jsontext.Value `json:",embed"`
}

type search struct {
	Mode string         `json:"mode,omitempty"`
	Rest jsontext.Value `json:",embed"`
}

// entries reads the entries of a Bundle.
func (d *document) entries() error {
	if _, err := d.json.ReadToken(); err != nil {
		return d.broken(d.line(), err)
	}
	for d.json.PeekKind() != ']' {
		begin := d.line()
		value, err := d.json.ReadValue()
		if err != nil {
			return d.broken(begin, err)
		}
		if err := d.entry(value, begin); err != nil {
			return err
		}
		d.source.passed(d.json.InputOffset())
	}
	if _, err := d.json.ReadToken(); err != nil {
		return d.broken(d.line(), err)
	}
	return nil
}

func (d *document) entry(value []byte, line int64) error {
	var e entry
	if err := json.Unmarshal(value, &e); err != nil {
		return d.give(Entry{Line: line, Err: fieldError(err)})
	}
	d.losses.rest(bundleType+".entry", e.Rest)
	if e.Search != nil {
		d.losses.rest(bundleType+".entry.search", e.Search.Rest)
	}
	if e.Request != nil {
		d.losses.rest(bundleType+".entry.request", e.Request.Rest)
		if e.Request.Method != "PUT" && e.Request.Method != "POST" { //nolint:usestdlibvars // nothing is called
			return d.give(Entry{ID: uuidOf(e.FullURL), Line: line, Err: &FieldError{
				"request.method", fmt.Sprintf("is %q of %q: only resources that are written can be taken", e.Request.Method, shortened(e.Request.URL)),
			}})
		}
	}
	if len(e.Resource) == 0 {
		return d.give(Entry{ID: uuidOf(e.FullURL), Line: line, Err: &FieldError{"resource", "is missing"}})
	}
	h, err := headOf(e.Resource)
	if err != nil {
		return d.give(Entry{ID: h.ID, Line: line, Err: err})
	}
	return d.resource(e.Resource, h, e.FullURL, line)
}

// uuidOf gives the UUID that a Bundle calls a resource by which has no ID yet.
func uuidOf(url string) string {
	uuid, _ := strings.CutPrefix(url, "urn:uuid:")
	if uuid == url {
		return ""
	}
	return uuid
}

// counted is a file that knows where its lines begin, and that ends where one
// resource is beyond all reason.
type counted struct {
	io.Reader
	line   int64   // at the last offset that was asked for
	breaks []int64 // offsets behind line breaks that come after it
	read   int64
	limit  int64 // of read
	failed error
}

func (c *counted) Read(p []byte) (int, error) {
	if c.read >= c.limit {
		c.failed = ErrTooLarge
		return 0, ErrTooLarge
	}
	n, err := c.Reader.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.breaks = append(c.breaks, c.read+int64(i)+1)
		}
	}
	c.read += int64(n)
	if err != nil && !errors.Is(err, io.EOF) {
		c.failed = err
	}
	return n, err
}

// passed says up to where the file has been taken.
func (c *counted) passed(offset int64) {
	c.lineAt(offset)
	c.limit = offset + maxResource
}

// lineAt gives the line of an offset; offsets only grow from call to call.
func (c *counted) lineAt(offset int64) int64 {
	n := 0
	for n < len(c.breaks) && c.breaks[n] <= offset {
		n++
	}
	c.line += int64(n)
	c.breaks = append(c.breaks[:0], c.breaks[n:]...)
	return c.line
}
