package environment

import (
	"math"
	"testing"
)

const statText = `cpu  1000 200 300 5000 100 50 150 200 40 0
cpu0 500 100 150 2500 50 25 75 100 20 0
cpu1 500 100 150 2500 50 25 75 100 20 0
intr 46626294 0 1
ctxt 119043342
`

func TestProcessorsAreReadInSeconds(t *testing.T) {
	got, err := parseProcessors(statText)
	want := Reading{Total: 70, Tasks: 15, SoftIRQ: 2, Steal: 2}
	if err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"", "cpu", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 3 4 5 six 7 8"} {
		if got, err := parseProcessors(bad); err == nil {
			t.Errorf("%q gives %+v", bad, got)
		}
	}
	if got := coresIn(statText); got != "2" {
		t.Errorf("%s cores", got)
	}
	if got := coresIn("intr 1\n\n"); got != "" {
		t.Errorf("%s cores of none", got)
	}
}

func TestSharesBetweenReadings(t *testing.T) {
	before := Reading{Total: 100, Tasks: 40, SoftIRQ: 1, Steal: 2, Own: 3}
	for _, c := range []struct {
		name  string
		after Reading
		want  Shares
		ok    bool
	}{
		{"half of it own", Reading{200, 120, 6, 5, 53}, Shares{Busy: 0.85, Own: 0.5, Others: 0.3, SoftIRQ: 0.05, Steal: 0.03}, true},
		{"charged with interrupts too", Reading{200, 90, 11, 2, 58}, Shares{Busy: 0.6, Own: 0.55, SoftIRQ: 0.1}, true},
		{"no time", before, Shares{}, false},
		{"the clock of a machine that was moved", Reading{50, 20, 0, 0, 3}, Shares{}, false},
	} {
		got, ok := Between(before, c.after)
		pairs := [][2]float64{
			{got.Busy, c.want.Busy}, {got.Own, c.want.Own}, {got.Others, c.want.Others},
			{got.SoftIRQ, c.want.SoftIRQ}, {got.Steal, c.want.Steal},
		}
		for _, p := range pairs {
			if math.Abs(p[0]-p[1]) > 1e-12 || ok != c.ok {
				t.Errorf("%s: got %+v, %t; want %+v", c.name, got, ok, c.want)
				break
			}
		}
	}
}

// TestOwnWorkIsOwn lets this process work and asks who did.
func TestOwnWorkIsOwn(t *testing.T) {
	before, err := Processors()
	if err != nil {
		t.Skip(err)
	}
	x := 1.0
	after := before
	for after.Own < before.Own+0.2 {
		for range 1_000_000 {
			x = math.Sqrt(x + 1)
		}
		if after, err = Processors(); err != nil {
			t.Fatal(err)
		}
	}
	s, ok := Between(before, after)
	if !ok || s.Own <= 0 || x < 1 { // over so short a time the kernel's ticks say little more
		t.Errorf("shares %+v, %t", s, ok)
	}
}

func TestOptionsOfAKernel(t *testing.T) {
	const config = "CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_AB=m\n"
	for name, want := range map[string]string{"CONFIG_A": "y", "CONFIG_B": "n", "CONFIG_AB": "m", "CONFIG_C": "n"} {
		if got := optionIn(config, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestFactsHoldNothingEmpty(t *testing.T) {
	facts := Facts()
	for name, value := range facts {
		if value == "" {
			t.Errorf("%s is empty", name)
		}
	}
	if facts["cores"] == "" {
		t.Error("no cores")
	}
}
