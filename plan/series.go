package plan

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Series is all that one command runs, in order: a point, or a point for each
// value of a sweep.
type Series struct {
	Points []Point `json:"points"`
}

// Point is a run of its own.
type Point struct {
	// Pilot runs before the plan, and finds what its rate is a share of. It is
	// nil where there is no share, and where the pilot before it has asked the
	// same.
	Pilot *Plan `json:"pilot,omitempty"`
	Plan  *Plan `json:"plan"`
}

// NewSeries designs a point for each request. The error of a point of a sweep
// names its value.
func NewSeries(requests []Request, f Facts) (*Series, error) {
	s := &Series{}
	var last Request // of a pilot
	for _, r := range requests {
		p, err := New(r, f)
		if err != nil {
			return nil, at(r, err)
		}
		point := Point{Plan: p}
		pilot := Pilot(r)
		if r.RateShare > 0 && !reflect.DeepEqual(pilot, last) {
			if point.Pilot, err = New(pilot, f); err != nil {
				return nil, at(r, fmt.Errorf("pilot: %w", err))
			}
			last = pilot
		}
		s.Points = append(s.Points, point)
		if first := s.Points[0].Plan; p.Item != first.Item {
			return nil, at(r, fmt.Errorf("costs are by the %s, and at %v by the %s: a table holds one of the two; measure these legs in runs of their own",
				cmp.Or(p.Item, p.unit()), first.Sweep, cmp.Or(first.Item, first.unit())))
		}
	}
	return s, nil
}

// at names the point that an error is of.
func at(r Request, err error) error {
	if r.Sweep == nil {
		return err
	}
	return fmt.Errorf("at %v: %w", r.Sweep, err)
}

// Pilots counts the pilots that run.
func (s *Series) Pilots() int {
	n := 0
	for _, p := range s.Points {
		if p.Pilot != nil {
			n++
		}
	}
	return n
}

// Text writes the series for a person: its first point in full, and how the
// others differ.
func (s *Series) Text(w io.Writer) error {
	first := s.Points[0].Plan
	if err := first.Text(w); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if first.Sweep != nil {
		s.sweepText(t, first)
	}
	for _, p := range s.Points {
		if p.Pilot != nil {
			fmt.Fprintf(t, "\npilot\t%s; %s, of which the slowest stack's throughput is 100 %% of the rate\n", p.Pilot.load(), p.Pilot.work())
			if n := s.Pilots(); n > 1 {
				fmt.Fprintf(t, "\tone at each value: %d\n", n)
			}
			break
		}
	}
	return t.Flush()
}

func (s *Series) sweepText(w io.Writer, first *Plan) {
	fmt.Fprintf(w, "\nsweep\t%s: %d values, each a run of its own; the plan above is that of %s\n", first.Sweep.Axis, len(s.Points), first.Sweep.Value)
	var total time.Duration
	for _, point := range s.Points {
		p := point.Plan
		total += p.underLoad()
		if point.Pilot != nil {
			total += point.Pilot.underLoad()
		}
		about := []string{p.load(), p.work()}
		if p.Workers != first.Workers && p.Workers > 0 {
			about = slices.Insert(about, 1, fmt.Sprintf("%d %s a server", p.Workers, plural(p.Workers, "processor", "processors")))
		}
		if differ := differing(first.Params, p.Params); len(differ) > 0 {
			about = slices.Insert(about, 0, pairs(differ))
		}
		fmt.Fprintf(w, "\t%s\t%s\n", p.Sweep.Value, strings.Join(about, "; "))
		for _, n := range p.Notes {
			if !slices.Contains(first.Notes, n) {
				fmt.Fprintf(w, "\t\tnote: %s\n", n)
			}
		}
	}
	if total > 0 {
		fmt.Fprintf(w, "\ttotal\t%s under load, warm-up and starts not counted\n", total)
	}
}

// differing are the params that are not as they were.
func differing(were, are map[string]string) map[string]string {
	out := maps.Clone(are)
	maps.DeleteFunc(out, func(name, value string) bool { return were[name] == value })
	return out
}

// underLoad is the time that trials take, where time ends them.
func (p *Plan) underLoad() time.Duration {
	return p.Slice*time.Duration(p.Trials()) + p.Phases*time.Duration(len(p.Blocks)*len(p.Scenarios))
}

// String is what Text writes.
func (s *Series) String() string {
	var b strings.Builder
	_ = s.Text(&b) // a Builder refuses nothing
	return b.String()
}
