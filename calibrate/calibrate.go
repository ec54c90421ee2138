// Package calibrate weighs known weights, as a scale is checked: each has a
// truth that follows from a formula, and a tolerance. They are weighed by the
// same processes, plan, runner and statistics as any comparison; only the
// servers know more than they say.
package calibrate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Weight is one known thing to weigh.
type Weight struct {
	Name    string
	About   string // what is done
	Formula string // what must come of it, and within what
	Long    bool   // weighed only where it is named
	weigh   func(context.Context, *Scale) ([]Reading, error)
}

// Reading is one truth and what was measured of it, in base units.
type Reading struct {
	What     string
	Unit     string // "s", "B" or "1"
	Truth    float64
	Measured float64
	// Low and High are the tolerance, both ends within it. Infinite on either
	// side, or on both: then the reading is shown, and nothing is asked of it.
	Low, High float64
	Note      string
}

// Verdict is what a reading comes to.
type Verdict string

// The verdicts.
const (
	Pass  Verdict = "pass"
	Fail  Verdict = "fail"
	Shown Verdict = "shown" // has no tolerance
)

// Verdict holds what was measured against the tolerance.
func (r Reading) Verdict() Verdict {
	switch {
	case math.IsInf(r.Low, -1) && math.IsInf(r.High, 1):
		return Shown
	case r.Measured >= r.Low && r.Measured <= r.High:
		return Pass
	}
	return Fail // NaN too
}

// near is a reading with a tolerance on both sides of the truth.
func near(what, unit string, truth, measured, tolerance float64) Reading {
	return Reading{What: what, Unit: unit, Truth: truth, Measured: measured, Low: truth - tolerance, High: truth + tolerance}
}

// within is a reading with bounds of its own.
func within(what, unit string, low, measured, high float64) Reading {
	return Reading{What: what, Unit: unit, Truth: math.NaN(), Measured: measured, Low: low, High: high}
}

// shown is a reading of which nothing is asked.
func shown(what, unit string, measured float64) Reading {
	return within(what, unit, math.Inf(-1), measured, math.Inf(1))
}

// Result is a weight and its readings.
type Result struct {
	Weight   *Weight
	Readings []Reading
}

// Failed counts readings outside their tolerance.
func (r Result) Failed() (n int) {
	for _, reading := range r.Readings {
		if reading.Verdict() == Fail {
			n++
		}
	}
	return n
}

// Choose gives the weights of these names, or all but the long ones where there
// are none.
func Choose(names []string) ([]*Weight, error) {
	var chosen []*Weight
	var known []string
	for i := range Weights {
		w := &Weights[i]
		known = append(known, w.Name)
		if slices.Contains(names, w.Name) || len(names) == 0 && !w.Long {
			chosen = append(chosen, w)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("unknown weight %q; there is %s", name, strings.Join(known, ", "))
		}
	}
	return chosen, nil
}

// Weigh weighs one.
func (w *Weight) Weigh(ctx context.Context, s *Scale) (Result, error) {
	readings, err := w.weigh(ctx, s)
	if err != nil {
		return Result{}, fmt.Errorf("weigh %s: %w", w.Name, err)
	}
	return Result{w, readings}, nil
}
