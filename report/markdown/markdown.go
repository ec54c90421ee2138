// Package markdown renders a report for a pull request or a wiki: the verdicts
// first, the tables, and the rest folded away. It is GitHub's Markdown.
package markdown

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tare-bench/tare/report"
)

// Renderer is a report.Renderer.
type Renderer struct{}

// Render writes d.
func (Renderer) Render(w io.Writer, d *report.Document) error {
	p := &page{}
	p.line("### %s: %s", escape(d.Workload), escape(strings.Join(stacks(d), ", ")))
	p.line("")
	for _, s := range d.Summary {
		p.line("- **%s**", escape(s))
	}
	p.findings("⚠", d.Warnings)
	p.line("")
	p.table(d.Main())
	for _, t := range d.Against() {
		p.line("**%s**", escape(t.Title))
		p.line("")
		p.table(t)
	}
	if t := d.BoundsTable(); len(t.Rows) > 0 {
		p.line("**%s**", escape(t.Title))
		p.line("")
		p.table(t)
	}
	p.line("<details><summary>Conditions, further figures and notes</summary>")
	p.line("")
	p.line("%s. %s.", escape(sentenceCase(d.Conditions.Load)), escape(sentenceCase(d.Conditions.Design)))
	for _, s := range d.Path {
		p.line("- %s", escape(s))
	}
	p.line("")
	if t := d.Tiers(); len(t.Rows) > 0 {
		p.line("**%s**", escape(t.Title))
		p.line("")
		p.table(t)
	}
	p.table(d.More())
	for _, t := range d.PhaseTables() {
		p.line("**%s**", escape(t.Title))
		p.line("")
		p.table(t)
	}
	p.line("%s", escape(d.Reading()))
	p.line("")
	p.line("%s", escape(d.Conditions.Holds))
	p.line("")
	for _, o := range d.LeftOut {
		p.line("- left out: %s: %s", escape(o.Stack), escape(o.Reason))
	}
	p.findings("note:", d.Notes)
	if c := d.Conditions.Command; len(c) > 0 {
		p.line("")
		p.code("sh", report.Shell(c))
	}
	p.line("")
	p.line("</details>")
	_, err := io.WriteString(w, p.b.String())
	return err
}

// page gathers lines.
type page struct{ b strings.Builder }

func (p *page) line(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

// code writes a block of code, fenced by more backticks than it holds.
func (p *page) code(language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	p.line("%s%s", fence, language)
	p.line("%s", text)
	p.line("%s", fence)
}

func (p *page) findings(mark string, all []report.Finding) {
	for _, f := range all {
		text := f.Text
		if f.Stack != "" {
			text = f.Stack + " " + text
		}
		if f.Remedy != "" {
			text += " → " + f.Remedy
		}
		p.line("- %s %s", mark, escape(text))
	}
}

func (p *page) table(t report.Table) {
	if len(t.Rows) == 0 || len(t.Head) < 2 {
		return
	}
	head, rule := slices.Clone(t.Head), "|:---|"
	for i := range head {
		switch {
		case i == 0:
		case t.Words > 0 && i >= t.Words:
			rule += ":---|"
		default:
			rule += "---:|"
		}
		if t.Units != nil && t.Units[i] != "" {
			head[i] += ", " + t.Units[i]
		}
	}
	p.row(head)
	p.line("%s", rule)
	for _, r := range t.Rows {
		p.row(r)
	}
	p.line("")
	for _, n := range t.Notes {
		p.line("– %s", escape(n))
		p.line("")
	}
}

func (p *page) row(cells []string) {
	var b strings.Builder
	for _, c := range cells {
		b.WriteString("| " + escape(c) + " ")
	}
	p.line("%s|", b.String())
}

// special are the characters that Markdown or HTML would read as its own; names
// and error texts come from anywhere.
var special = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"[", `\[`, "]", `\]`, "\n", " ", "@", "@\u2060", // a joiner keeps @name from being a mention
)

func escape(s string) string { return special.Replace(s) }

func stacks(d *report.Document) []string {
	var out []string
	for _, s := range d.Scenarios {
		out = append(out, s.Stack)
	}
	return out
}

func sentenceCase(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
