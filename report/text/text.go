// Package text renders a report for a terminal or a pipe: the verdicts first, as
// sentences, then the figures, then what is wrong with them.
package text

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tare-bench/tare/report"
)

// Renderer is a report.Renderer. Tables wider than Width are broken into
// several; the caller says whether whoever reads it sees colour.
type Renderer struct {
	Width  int // columns; at least narrowest
	Colour bool
}

const (
	narrowest = 60
	gap       = "  "
	glue      = "\u00a0" // keeps a number and its sign on one line
)

// Render writes d.
func (r Renderer) Render(w io.Writer, d *report.Document) error {
	p := &page{width: max(r.Width, narrowest), colour: r.Colour}
	p.head(d)
	for _, s := range d.Summary {
		p.wrap("", s)
	}
	p.gap()
	p.table(d.Main())
	for _, t := range d.Against() {
		p.table(t)
	}
	p.table(d.BoundsTable())
	p.table(d.Tiers())
	p.table(d.More())
	for _, t := range d.PhaseTables() {
		p.table(t)
	}
	p.wrap("", d.Reading())
	p.wrap("", d.Conditions.Holds)
	p.gap()
	p.list("left out", leftOut(d.LeftOut))
	p.list("warning", findings(d.Warnings))
	p.list("note", findings(d.Notes))
	_, err := io.WriteString(w, strings.TrimRight(p.b.String(), "\n")+"\n")
	return err
}

// page gathers lines.
type page struct {
	b      strings.Builder
	width  int
	colour bool
}

func (p *page) head(d *report.Document) {
	p.wrap("", p.paint(bold, d.Workload)+", leg "+d.Leg+": "+d.Conditions.Load)
	for _, s := range d.Path {
		p.wrap(gap, s)
	}
	p.wrap("", d.Conditions.Design)
	p.gap()
}

func (p *page) gap() {
	if p.b.Len() > 0 {
		p.b.WriteByte('\n')
	}
}

// Codes of ECMA-48 (SGR).
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (p *page) paint(code, s string) string {
	if !p.colour || code == "" || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// wrap writes text in lines that fit, each after the indent.
func (p *page) wrap(indent, text string) { p.hang(indent, indent, text) }

// hang is wrap with another indent for the first line.
func (p *page) hang(first, indent, text string) {
	line, used := first, columns(first)
	empty := true
	for _, word := range strings.Split(strings.ReplaceAll(text, " %", glue+"%"), " ") {
		word = strings.ReplaceAll(word, glue, " ")
		n := columns(word)
		if !empty && used+1+n > p.width {
			p.b.WriteString(line + "\n")
			line, used, empty = indent, columns(indent), true
		}
		if !empty {
			line, used = line+" ", used+1
		}
		line, used, empty = line+word, used+n, false
	}
	p.b.WriteString(line + "\n")
}

// list writes items under a label each.
func (p *page) list(label string, items [][2]string) {
	for _, item := range items {
		shown := label
		if label == "warning" {
			shown = p.paint(yellow, label)
		}
		p.hang(shown+": ", gap, item[0])
		if item[1] != "" {
			p.hang(gap+"→ ", gap+gap, item[1])
		}
	}
}

// table writes t, the columns that do not fit in further tables below.
func (p *page) table(t report.Table) {
	if len(t.Rows) == 0 || len(t.Head) < 2 {
		return
	}
	if t.Title != "" {
		p.wrap("", p.paint(bold, t.Title))
	}
	widths := make([]int, len(t.Head))
	for i, h := range t.Head {
		widths[i] = columns(h)
		for _, row := range rows(t) {
			widths[i] = max(widths[i], columns(row[i]))
		}
	}
	for from := 1; from < len(t.Head); {
		to, used := from, widths[0]
		for to < len(t.Head) && (to == from || used+len(gap)+widths[to] <= p.width) {
			used += len(gap) + widths[to]
			to++
		}
		for i, row := range rows(t) {
			units := i == 1 && t.Units != nil
			if units && strings.Join(row[from:to], "") == "" {
				continue
			}
			if i == 0 {
				p.row(row, widths, from, to, t.Words, bold)
			} else {
				p.row(row, widths, from, to, t.Words, "")
			}
		}
		p.gap()
		from = to
	}
	for _, n := range t.Notes {
		p.hang("– ", gap, n)
	}
	if len(t.Notes) > 0 {
		p.gap()
	}
}

// row writes the first cell and those of a range: figures to the right, so that
// digits stand in line, words to the left.
func (p *page) row(cells []string, widths []int, from, to, words int, code string) {
	line := p.paint(code, cells[0]) + strings.Repeat(" ", widths[0]-columns(cells[0]))
	for i := from; i < to; i++ {
		pad := strings.Repeat(" ", widths[i]-columns(cells[i]))
		cell := p.paint(code, cells[i])
		switch {
		case strings.HasSuffix(cells[i], ", better"):
			cell = p.paint(green, cells[i])
		case strings.HasSuffix(cells[i], ", worse"):
			cell = p.paint(red, cells[i])
		}
		if words > 0 && i >= words {
			line += gap + cell + pad
		} else {
			line += gap + pad + cell
		}
	}
	p.b.WriteString(strings.TrimRight(line, " ") + "\n")
}

// rows are the lines of a table, its head first.
func rows(t report.Table) [][]string {
	all := [][]string{t.Head}
	if t.Units != nil {
		all = append(all, t.Units)
	}
	return append(all, t.Rows...)
}

// columns is how wide s stands in a terminal: colours take none.
func columns(s string) int {
	for {
		from := strings.Index(s, "\x1b[")
		if from < 0 {
			return utf8.RuneCountInString(s)
		}
		to := strings.IndexByte(s[from:], 'm')
		if to < 0 {
			return utf8.RuneCountInString(s)
		}
		s = s[:from] + s[from+to+1:]
	}
}

func findings(all []report.Finding) [][2]string {
	var out [][2]string
	for _, f := range all {
		text := f.Text
		if f.Stack != "" {
			text = f.Stack + " " + text
		}
		out = append(out, [2]string{text, f.Remedy})
	}
	return out
}

func leftOut(all []report.LeftOut) [][2]string {
	var out [][2]string
	for _, o := range all {
		out = append(out, [2]string{o.Stack + ": " + o.Reason, ""})
	}
	return out
}
