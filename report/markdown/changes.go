package markdown

import (
	"io"
	"strings"

	"github.com/tare-bench/tare/report"
)

// RenderChanges writes a comparison of two runs.
func (Renderer) RenderChanges(w io.Writer, c *report.Changes) error {
	p := &page{}
	p.line("### %s, new against old: %s", escape(c.Workload), escape(strings.Join(c.Stacks, ", ")))
	p.line("")
	for _, s := range c.Summary {
		p.line("- **%s**", escape(s))
	}
	p.findings("⚠", c.Findings())
	p.line("")
	for _, t := range c.Tables() {
		p.titled(t)
	}
	p.line("%s", escape(c.Reading))
	p.line("")
	p.line("<details><summary>What differs between the runs</summary>")
	p.line("")
	p.table(c.Apart())
	p.line("%s.", escape(sentenceCase(c.Load)))
	p.line("")
	p.line("</details>")
	_, err := io.WriteString(w, p.b.String())
	return err
}

func (p *page) titled(t report.Table) {
	p.line("**%s**", escape(t.Title))
	p.line("")
	p.table(t)
}
