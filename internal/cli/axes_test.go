package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tare-bench/tare/plan"
	"github.com/tare-bench/tare/record"
)

func TestValuesOfASweep(t *testing.T) {
	unordered := []string{"large, small", "9,mixed,1", "50%,20", "1,NaN"}
	for text, want := range map[string][]string{
		"1,NaN":          {"1", "NaN"},
		"16,1,4":         {"1", "4", "16"},
		" 2 , 10":        {"2", "10"},
		"max,75%,5%,50%": {"5%", "50%", "75%", "max"},
		"max,900,1000":   {"900", "1000", "max"},
		"large, small":   {"large", "small"},
		"9,mixed,1":      {"9", "mixed", "1"}, // words have no order
		"50%,20":         {"50%", "20"},       // nor have shares and rates
	} {
		got, ordered, err := splitNumbers(text)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%q: %v %s", text, err, diff)
		}
		if ordered == slices.Contains(unordered, text) {
			t.Errorf("%q: ordered is %v", text, ordered)
		}
	}
	if _, ordered, err := splitLinks("lan,wan"); ordered || err != nil {
		t.Errorf("links are ordered: %v, %v", ordered, err)
	}
}

func TestAValueIsAskedForOnce(t *testing.T) {
	for sweep, twice := range map[string]bool{
		"in-flight=1,01": true, "rate=100,1e2": true, "rate=50%,50.0%": true, "link=wan,40ms,100mbit": true, "param.order=a,a": true,
		"rate=50,50%": false, "param.order=a,A": false, "in-flight=1,10": false,
	} {
		_, err := swept(plan.Request{}, []string{sweep})
		if got := err != nil && strings.Contains(err.Error(), "twice"); got != twice || err != nil && !twice {
			t.Errorf("%s: %v", sweep, err)
		}
	}
}

func TestASweepSetsOneThing(t *testing.T) {
	base := plan.Request{Workload: "orders", Seed: 7, Params: map[string]string{"users": "3"}, Arrivals: plan.Constant}
	for _, c := range []struct {
		sweep string
		is    func(r plan.Request, point int) bool
	}{
		{"in-flight=1,4", func(r plan.Request, i int) bool { return r.InFlight == []int{1, 4}[i] }},
		{"rate=100,2000", func(r plan.Request, i int) bool {
			return r.Rate == []float64{100, 2000}[i] && r.Arrivals == plan.Constant
		}},
		{"rate=400%,max", func(r plan.Request, i int) bool {
			return r.Rate == 0 && r.RateShare == []float64{4, 0}[i] && r.Arrivals == []string{plan.Constant, ""}[i]
		}},
		{"store=memory,sqlite:a.db?commit=each", func(r plan.Request, i int) bool {
			return r.Store == []string{"memory", "sqlite:a.db?commit=each"}[i] && !r.Sweep.Ordered
		}},
		{"workers=2,1", func(r plan.Request, i int) bool { return r.Workers == i+1 && r.Sweep.Ordered }},
		{"leg=payment,order", func(r plan.Request, i int) bool {
			return r.Leg == []string{"payment", "order"}[i] && !r.Sweep.Ordered
		}},
		{"link=wan,10mbit,2ms", func(r plan.Request, i int) bool {
			return r.Link == []string{"100mbit,40ms", "10mbit,2ms"}[i]
		}},
		{"param.lines=1,100", func(r plan.Request, i int) bool {
			return r.Params["lines"] == []string{"1", "100"}[i] && r.Params["users"] == "3"
		}},
	} {
		all, err := swept(base, []string{c.sweep})
		if err != nil || len(all) != 2 {
			t.Fatalf("%s: %v, %v", c.sweep, all, err)
		}
		for i, r := range all {
			if !c.is(r, i) || r.Seed != 7 || r.Workload != "orders" || r.Sweep.Index != i || r.Sweep.Of != 2 {
				t.Errorf("%s, point %d: %+v", c.sweep, i, r)
			}
		}
	}
	if len(base.Params) != 1 {
		t.Errorf("the points share their params: %v", base.Params)
	}
}

func TestAFlagAndASweepOfTheSameThingAreRefused(t *testing.T) {
	for sweep, r := range map[string]plan.Request{
		"in-flight=1,2":   {InFlight: 3},
		"workers=1,2":     {Workers: 3},
		"leg=a,b":         {Leg: "c"},
		"rate=1,2":        {Rate: 3},
		"rate=10%,20%":    {RateShare: 0.5},
		"link=lan,wan":    {Link: "1ms"},
		"param.lines=1,2": {Params: map[string]string{"lines": "3"}},
	} {
		if _, err := swept(r, []string{sweep}); err == nil || !strings.Contains(err.Error(), "another flag sets it too") {
			t.Errorf("%s: %v", sweep, err)
		}
		if _, err := swept(plan.Request{}, []string{sweep}); err != nil {
			t.Errorf("%s alone: %v", sweep, err)
		}
	}
}

func TestTwoAxesAreCrossed(t *testing.T) {
	all, err := swept(plan.Request{Seed: 7}, []string{"leg=write,import", "param.rows=1,2,3"})
	if err != nil || len(all) != 6 {
		t.Fatalf("%d points: %v", len(all), err)
	}
	for i, r := range all {
		leg, rows := []string{"write", "import"}[i/3], []string{"1", "2", "3"}[i%3]
		want := record.Sweep{
			Axis: "leg × param.rows", Value: leg + " × " + rows, Index: i, Of: 6,
			Parts: []record.Part{{Axis: "leg", Value: leg}, {Axis: "param.rows", Value: rows}},
		}
		if diff := cmp.Diff(want, *r.Sweep); diff != "" || r.Leg != leg || r.Params["rows"] != rows {
			t.Errorf("point %d asks for leg %s, rows %s: %s", i, r.Leg, r.Params["rows"], diff)
		}
		if got := r.Sweep.String(); got != "leg="+leg+", param.rows="+rows {
			t.Errorf("point %d is called %q", i, got)
		}
	}
	for want, words := range map[string][]string{
		"another flag sets it too":     {"workers=1,2", "workers=3,4"},
		"takes 2 axes at most":         {"workers=1,2", "in-flight=3,4", "rate=1,2"},
		"--sweep leg=one: takes two":   {"workers=1,2", "leg=one"},
		"--sweep workers=0: takes who": {"workers=0,1", "leg=a,b"},
	} {
		if _, err := swept(plan.Request{}, words); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", words, err)
		}
	}
}

func TestFoldersOfPoints(t *testing.T) {
	for value, want := range map[string]string{"16": "16", "50%": "50%", "../x y": ".._x_y", "10mbit,2ms": "10mbit,2ms", strings.Repeat("é", 90): strings.Repeat("_", 60)} {
		if got := asName(value); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func FuzzSweep(f *testing.F) {
	for _, s := range []string{"in-flight=1,4", "rate=10%,max", "link=lan,10mbit,0ms,1gbit", "param.lines=1,x", "param.=1,2", "rate=NaN,1e400", "=,", "in-flight=1,,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, err := swept(plan.Request{}, []string{text})
		if err != nil {
			return
		}
		seen := make(map[string]bool)
		for i, r := range all {
			if r.Sweep.Index != i || r.Sweep.Of != len(all) || seen[r.Sweep.Value] || r.InFlight < 0 || r.Rate < 0 || r.RateShare < 0 {
				t.Errorf("%q: point %d is %+v of %+v", text, i, r, r.Sweep)
			}
			seen[r.Sweep.Value] = true
		}
	})
}
