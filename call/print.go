package call

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/jhump/protoreflect/v2/protoresolve"
	"google.golang.org/protobuf/proto"

	"github.com/tare-bench/tare/call/schema"
	"github.com/tare-bench/tare/call/wire"
	"github.com/tare-bench/tare/protocol"
)

// Printer is a Watcher that prints: messages and bodies to Out as they come,
// what is beside them to Err.
type Printer struct {
	Out, Err io.Writer
	Types    protoresolve.TypeResolver // of what stands in google.protobuf.Any
	Verbose  bool                      // prints headers and trailers of both sides to Err
	Include  bool                      // prints those of the answer to Out
}

// Request prints the header that was sent.
func (p *Printer) Request(fields []Field) {
	if !p.Verbose {
		return
	}
	for _, f := range fields {
		fmt.Fprintf(p.Err, "> %s: %s\n", strings.ToLower(f.Name), f.Value)
	}
}

// Answer prints the header that was received.
func (p *Printer) Answer(proto, status string, h http.Header) {
	if p.Verbose {
		fmt.Fprintf(p.Err, "< %s %s\n", proto, status)
		writeFields(p.Err, "< ", h)
	}
	if p.Include {
		fmt.Fprintf(p.Out, "%s %s\n", proto, status)
		writeFields(p.Out, "", h)
		fmt.Fprintln(p.Out)
	}
}

// Trailer prints what came after the last message.
func (p *Printer) Trailer(h http.Header) {
	if p.Verbose {
		writeFields(p.Err, "< ", h)
	}
	if p.Include {
		fmt.Fprintln(p.Out)
		writeFields(p.Out, "", h)
	}
}

func writeFields(w io.Writer, before string, h http.Header) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			fmt.Fprintf(w, "%s%s: %s\n", before, strings.ToLower(name), value)
		}
	}
}

// Message prints a message as JSON.
func (p *Printer) Message(m proto.Message) error {
	return wire.Show(p.Out, p.Err, m, p.Types)
}

// Body prints what a server answers to a request of HTTP: JSON set out, and all
// else as it is.
func (p *Printer) Body(r io.Reader, h http.Header) error {
	switch media := mediaOf(h); {
	case strings.HasSuffix(media, "ndjson"):
		return p.lines(r)
	case media == jsonMedia, strings.HasSuffix(media, "+json"):
		all, err := io.ReadAll(io.LimitReader(r, protocol.DefaultMaxMessage))
		if err != nil {
			return err
		}
		if len(all) < protocol.DefaultMaxMessage {
			return p.json(all)
		}
		r = io.MultiReader(bytes.NewReader(all), r) // too much to be set out
	}
	_, err := io.Copy(p.Out, r)
	return err
}

// lines prints one JSON value a line as it comes.
func (p *Printer) lines(r io.Reader) error {
	for buffered := bufio.NewReader(r); ; {
		line, err := buffered.ReadBytes('\n')
		if line := bytes.TrimSpace(line); len(line) > 0 {
			if err := p.json(line); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (p *Printer) json(text []byte) error {
	if indented, err := schema.Indent(text); err == nil {
		text = indented
	}
	_, err := p.Out.Write(append(bytes.TrimRight(text, "\n"), '\n'))
	return err
}

// Print writes a table of what a call took.
func (t Timing) Print(w io.Writer) {
	for _, row := range []struct {
		name string
		took time.Duration
	}{
		{"dial", t.Dial}, {"TLS", t.TLS}, {"first byte", t.FirstByte}, {"total", t.Total},
	} {
		if row.took > 0 {
			fmt.Fprintf(w, "%-11s %v\n", row.name, row.took.Round(time.Microsecond))
		}
	}
	fmt.Fprintf(w, "%-11s %d B\n%-11s %d B\n", "sent", t.Sent, "received", t.Received)
}
