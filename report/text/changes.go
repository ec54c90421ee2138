package text

import (
	"io"
	"strings"

	"github.com/tare-bench/tare/report"
)

// RenderChanges writes a comparison of two runs.
func (r Renderer) RenderChanges(w io.Writer, c *report.Changes) error {
	p := &page{width: max(r.Width, narrowest), colour: r.Colour}
	p.wrap("", p.paint(bold, c.Workload)+", leg "+c.Leg+": "+c.Load)
	p.gap()
	for _, s := range c.Summary {
		p.wrap("", s)
	}
	p.gap()
	for _, t := range c.Tables() {
		p.table(t)
	}
	p.wrap("", c.Reading)
	p.gap()
	p.table(c.Apart())
	p.list("warning", findings(c.Findings()))
	_, err := io.WriteString(w, strings.TrimRight(p.b.String(), "\n")+"\n")
	return err
}
