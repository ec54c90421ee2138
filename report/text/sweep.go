package text

import (
	"io"
	"strings"

	"github.com/tare-bench/tare/report"
)

// RenderSweep writes a sweep.
func (r Renderer) RenderSweep(w io.Writer, s *report.Sweep) error {
	p := &page{width: max(r.Width, narrowest), colour: r.Colour}
	p.wrap("", p.paint(bold, s.Workload)+", leg "+s.Leg+": "+s.Title())
	for _, sentence := range s.Path {
		p.wrap(gap, sentence)
	}
	p.wrap("", s.Design)
	p.gap()
	for _, sentence := range s.Summary {
		p.wrap("", sentence)
	}
	if len(s.Summary) > 0 {
		p.gap()
	}
	for _, t := range s.Tables() {
		p.table(t)
	}
	p.table(s.BoundsTable())
	p.wrap("", s.Reading)
	p.wrap("", s.Holds)
	p.gap()
	p.list("left out", leftOut(s.LeftOut()))
	p.list("warning", findings(s.Told(s.Warnings)))
	p.list("note", findings(s.Told(s.Notes)))
	_, err := io.WriteString(w, strings.TrimRight(p.b.String(), "\n")+"\n")
	return err
}
