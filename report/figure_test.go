package report

import (
	"math"
	"testing"
)

func TestFigure(t *testing.T) {
	for _, c := range []struct {
		v          float64
		unit, want string
	}{
		{0.00512, "s", "5.12 ms"}, {-0.00002, "s", "-20.0 µs"}, {0, "s", "0 ns"}, {0.9201, "s", "920 ms"},
		{123456, "B", "123,456 B"}, {0.0345, "1", "0.0345"}, {16, "1", "16"},
		{math.NaN(), "s", "–"}, {math.Inf(1), "s", ""},
	} {
		if got := Figure(c.v, c.unit); got != c.want {
			t.Errorf("Figure(%v, %q) = %q; want %q", c.v, c.unit, got, c.want)
		}
	}
}
