package markdown

import (
	"io"

	"github.com/tare-bench/tare/report"
)

// RenderCodecs writes a run of codecs.
func (Renderer) RenderCodecs(w io.Writer, c *report.Codecs) error {
	p := &page{}
	p.line("### %s, codecs by themselves", escape(c.Workload))
	p.line("")
	for _, s := range c.Summary {
		p.line("- **%s**", escape(s))
	}
	p.findings("⚠", c.Warnings)
	p.line("")
	for _, t := range c.Tables() {
		p.titled(t)
	}
	p.line("<details><summary>How to read it, conditions and notes</summary>")
	p.line("")
	p.line("%s", escape(c.Reading()))
	p.line("")
	p.line("%s. %s", escape(sentenceCase(c.Design)), escape(c.Holds))
	p.line("")
	for _, o := range c.LeftOut {
		p.line("- left out: %s: %s", escape(o.Stack), escape(o.Reason))
	}
	p.findings("note:", c.Notes)
	if len(c.Command) > 0 {
		p.line("")
		p.code("sh", report.Shell(c.Command))
	}
	p.line("")
	p.line("</details>")
	_, err := io.WriteString(w, p.b.String())
	return err
}
