// Package json renders a report as JSON: report.Document as it is, for programs.
package json

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/tare-bench/tare/report"
)

// Renderer is a report.Renderer.
type Renderer struct{}

// Render writes d, indented, with a newline after it.
func (Renderer) Render(w io.Writer, d *report.Document) error { return write(w, d) }

// RenderChanges writes a comparison of two runs likewise.
func (Renderer) RenderChanges(w io.Writer, c *report.Changes) error { return write(w, c) }

// RenderSweep writes a sweep likewise, with the whole document of each point.
func (Renderer) RenderSweep(w io.Writer, s *report.Sweep) error { return write(w, s) }

func write(w io.Writer, d any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false) // arrows and comparisons stay readable
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return fmt.Errorf("render JSON: %w", err)
	}
	return nil
}

// RenderCodecs writes a run of codecs likewise.
func (Renderer) RenderCodecs(w io.Writer, c *report.Codecs) error { return write(w, c) }
