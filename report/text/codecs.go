package text

import (
	"io"
	"strings"

	"github.com/tare-bench/tare/report"
)

// RenderCodecs writes a run of codecs.
func (r Renderer) RenderCodecs(w io.Writer, c *report.Codecs) error {
	p := &page{width: max(r.Width, narrowest), colour: r.Colour}
	p.wrap("", p.paint(bold, c.Workload)+", codecs by themselves")
	p.wrap("", c.Design)
	p.gap()
	for _, s := range c.Summary {
		p.wrap("", s)
	}
	p.gap()
	for _, t := range c.Tables() {
		p.table(t)
	}
	p.wrap("", c.Reading())
	p.wrap("", c.Holds)
	p.gap()
	p.list("left out", leftOut(c.LeftOut))
	p.list("warning", findings(c.Warnings))
	p.list("note", findings(c.Notes))
	_, err := io.WriteString(w, strings.TrimRight(p.b.String(), "\n")+"\n")
	return err
}
