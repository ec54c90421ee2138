package markdown

import (
	"io"
	"strings"

	"github.com/tare-bench/tare/report"
)

// RenderSweep writes a sweep.
func (Renderer) RenderSweep(w io.Writer, s *report.Sweep) error {
	p := &page{}
	p.line("### %s: %s", escape(s.Workload), escape(strings.Join(s.Stacks, ", ")))
	p.line("")
	p.line("%s.", escape(sentenceCase(s.Title())))
	p.line("")
	for _, sentence := range s.Summary {
		p.line("- **%s**", escape(sentence))
	}
	p.findings("⚠", s.Told(s.Warnings))
	p.line("")
	for _, t := range s.Tables() {
		p.titled(t)
	}
	if t := s.BoundsTable(); len(t.Rows) > 0 {
		p.titled(t)
	}
	p.line("<details><summary>Conditions and notes</summary>")
	p.line("")
	p.line("%s.", escape(sentenceCase(s.Design)))
	for _, sentence := range s.Path {
		p.line("- %s", escape(sentence))
	}
	p.line("")
	p.line("%s", escape(s.Reading))
	p.line("")
	p.line("%s", escape(s.Holds))
	p.line("")
	for _, o := range s.LeftOut() {
		p.line("- left out: %s: %s", escape(o.Stack), escape(o.Reason))
	}
	p.findings("note:", s.Told(s.Notes))
	if c := s.Points[0].Document.Conditions.Command; len(c) > 0 {
		p.line("")
		p.code("sh", report.Shell(c))
	}
	p.line("")
	p.line("</details>")
	_, err := io.WriteString(w, p.b.String())
	return err
}
